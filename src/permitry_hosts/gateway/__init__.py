"""An MCP server in front of others: what they offer is filtered by the rules, and each call is decided."""
