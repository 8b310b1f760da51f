"""How far a long command is: a bar on standard error, on a terminal."""

import sys
from collections.abc import Iterator, Sequence
from typing import TypeVar

__all__ = ["track"]

_Each = TypeVar("_Each")


def track(items: Sequence[_Each], description: str) -> Iterator[_Each]:
    """Yield the items; on a terminal, a bar on standard error shows how many are done."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield from items
        return
    from rich.progress import Progress

    from permitry.cli.render import console_on

    with Progress(console=console_on(sys.stderr), transient=True, redirect_stdout=False) as progress:
        yield from progress.track(items, description=description)
