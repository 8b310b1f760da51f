"""Golden cases: decisions written down, and checked to the letter."""
