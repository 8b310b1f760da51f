"""Now `permitry_hosts.adapters.claude_agent_sdk`."""

from permitry.extras import rename

rename(__name__, "permitry_hosts.adapters.claude_agent_sdk")
