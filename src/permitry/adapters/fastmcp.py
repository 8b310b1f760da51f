"""Now `permitry_hosts.adapters.fastmcp`."""

from permitry.extras import rename

rename(__name__, "permitry_hosts.adapters.fastmcp")
