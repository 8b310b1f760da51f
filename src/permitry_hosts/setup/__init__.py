"""What `permitry setup` writes down so that it can be undone."""
