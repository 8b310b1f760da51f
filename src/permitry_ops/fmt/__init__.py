"""How a rule file is laid out: its text changes, and never what it says."""
