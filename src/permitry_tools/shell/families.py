"""The families of shell tools, of which a session offers some."""

import difflib
from collections.abc import Iterable
from typing import Final

__all__ = ["DEFAULT", "FAMILIES", "check_families"]

FAMILIES: Final = ("run_shell", "run_shell_bg", "shell", "exec_command", "unified_exec")
"""`run_shell_bg` is about jobs, `shell` has all that takes commands as Codex does, `exec_command` goes with typing."""

DEFAULT: Final = ("run_shell", "run_shell_bg", "shell", "exec_command")
"""What is offered where nothing else is chosen."""


def check_families(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names, each once.

    Raises: `ValueError` for the first that is not a family, with the nearest one; `TypeError` for one string.
    """
    if isinstance(names, str):
        raise TypeError(f"a list of families is needed, not the one string {names!r}")
    chosen = tuple(dict.fromkeys(names))
    for name in chosen:
        if name not in FAMILIES:
            near = difflib.get_close_matches(str(name), FAMILIES, n=1)
            hint = f"did you mean `{near[0]}`?" if near else f"known: {', '.join(FAMILIES)}"
            raise ValueError(f"unknown family of shell tools `{name}`; {hint}")
    return chosen
