"""Builtins that move the shell, or give variables a value. Source: bash(1), "SHELL BUILTIN COMMANDS"."""

__all__ = ["DECLARING", "MOVING", "READING"]

DECLARING = frozenset(["declare", "export", "local", "readonly", "typeset"])
"""Their words are names of variables, each perhaps with its value."""
MOVING = frozenset(["cd", "popd", "pushd"])
READING = frozenset(["getopts", "mapfile", "read", "readarray"])
"""They give what they read to the variables that they name."""
