"""Now `permitry_hosts.adapters.langchain`."""

from permitry.extras import rename

rename(__name__, "permitry_hosts.adapters.langchain")
