"""Now `permitry_hosts.adapters.openai_agents`."""

from permitry.extras import rename

rename(__name__, "permitry_hosts.adapters.openai_agents")
