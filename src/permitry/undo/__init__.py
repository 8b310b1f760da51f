"""Keeps what calls change before they run, and brings it back."""
