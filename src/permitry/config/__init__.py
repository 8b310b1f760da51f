"""Rule files: their schema, the strict loader, the shipped catalogue, and the layers rules come from."""
