"""Now `permitry_hosts.adapters.pydantic_ai`."""

from permitry.extras import rename

rename(__name__, "permitry_hosts.adapters.pydantic_ai")
