"""Now `permitry_ops.otel`."""

from permitry.extras import rename

rename(__name__, "permitry_ops.otel")
