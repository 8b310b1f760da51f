"""Commands of `permitry`: one file a command."""
