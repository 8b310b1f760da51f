"""The registry of tools, which is the enforcement point: it runs only calls that were authorized."""
