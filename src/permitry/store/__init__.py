"""Where what must not be lost is kept: in one file of SQLite."""
