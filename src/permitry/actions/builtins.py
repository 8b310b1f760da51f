"""The builtins of the shell, by what they do to it. Source: bash(1), "SHELL BUILTIN COMMANDS"."""

from permitry.actions.programs.catalogue import record_of

__all__ = ["ASSIGNING", "DECLARING", "MOVES", "MOVING", "NAMING", "OTHERS", "READING", "SYNTACTIC", "has_meaning"]

DECLARING = frozenset(["declare", "export", "local", "readonly", "typeset"])
"""Their words are names of variables, each perhaps with its value."""
MOVING = frozenset(["cd", "popd", "pushd"])
MOVES = MOVING | {".", "builtin", "command", "eval", "source"}
READING = frozenset(["getopts", "mapfile", "read", "readarray"])
"""They give what they read to the variables that they name."""
NAMING = frozenset(["export", "read", "unset"])
"""Their words are the names of what they change."""
ASSIGNING = DECLARING | READING | NAMING | (MOVES - MOVING) | {"compgen", "enable", "fc", "let", "trap", "wait"}
"""With these, a variable may get another value, or its value may become several words."""
SYNTACTIC = frozenset(["alias", "emulate", "enable", "eval", "set", "setopt", "shopt", "unalias", "unsetopt"])
"""Behind these, bash and zsh may read text in another way."""
OTHERS = frozenset(
    {"caller", "compgen", "complete", "compopt", "coproc", "dirs", "disown", "fc", "fg", "bg", "jobs", "let"}
    | {"logout", "shift", "suspend", "times", "until", "wait"}
)
"""Those that are not in the catalogue of programs."""


def has_meaning(name: str) -> bool:
    """Return whether a name is that of a builtin, or of a program that is known."""
    return name in OTHERS or record_of(name).is_known
