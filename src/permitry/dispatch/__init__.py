"""The registry of tools, and the one door through which they run."""
