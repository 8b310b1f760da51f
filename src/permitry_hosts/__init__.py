"""Where agents are: hooks of coding agents, adapters of frameworks, the MCP gateway, and importers of their rules.

It asks `permitry`, which decides, and which does not import it.
"""
