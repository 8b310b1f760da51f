"""The hosts: each is one file here, found by its name, and one set of tools in `rules/`."""
