"""A command as it is written, of which the program that runs is a part: `X=1 sudo make`."""

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from permitry.core.action import Word

__all__ = ["CommandLine"]


@attrs.frozen
class CommandLine:
    """A simple command: the assignments before it, and its words, wrappers included.

    `runs_by_name`: what it runs is a file or a package that is named, and nothing more is known of it.
    """

    assigned: "tuple[Word, ...]" = ()
    words: "tuple[Word, ...]" = ()
    runs_by_name: bool = False
