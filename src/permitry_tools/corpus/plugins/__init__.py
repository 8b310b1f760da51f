"""The document tools, one file each, as `permitry.dispatch.discovery` loads them."""
