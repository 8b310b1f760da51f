"""Programs: which ways of calling them only read, and what their operands are; the data is in `programs.toml`."""
