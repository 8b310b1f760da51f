"""A `Guard` in front of the tools of a framework; a framework is imported in its own file only."""
