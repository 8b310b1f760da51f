"""Now `permitry_hosts.adapters.plain`."""

from permitry.extras import rename

rename(__name__, "permitry_hosts.adapters.plain")
