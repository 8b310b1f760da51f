"""What expansions in a command become, for a human who is asked about it."""

import re

from permitry.core.action import Run
from permitry.core.rule import Request

__all__ = ["value_lines"]

_EXPANSION = re.compile(r"\$\(|`")


def value_lines(request: Request) -> tuple[str, ...]:
    """Return what expansions in a command become, as far as that is known, in phrases for a human."""
    is_shell = request.tool is not None and request.tool.is_shell
    if not is_shell or not _EXPANSION.search(request.call.canonical):
        # To read what a call would do takes longest.
        return ()
    lines: list[str] = []
    for action in request.actions.certain:
        if isinstance(action, Run):
            lines += (f"`{written}` is now `{value}`" for written, value in action.values)
    return tuple(dict.fromkeys(lines))
