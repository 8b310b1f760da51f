"""From commands to effects: reads a text, asks what its programs do, and reads what these run."""
