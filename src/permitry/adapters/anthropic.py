"""Now `permitry_hosts.adapters.anthropic`."""

from permitry.extras import rename

rename(__name__, "permitry_hosts.adapters.anthropic")
