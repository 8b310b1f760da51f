"""The document tools, one file each, as `load_plugins` takes them."""
