"""What the strict reader finds: simple commands, with what is around them."""

import attrs

from permitry.core.action import Word

__all__ = ["NOWHERE", "Command", "Redirection"]

NOWHERE = "/dev/null"
"""What is written there is not kept."""


@attrs.frozen
class Redirection:
    """One redirection: `operator` is `<`, `>` or `>>`; `target` a file, or None for another descriptor or text.

    `is_home`: the leading tilde of the target is unquoted, and becomes the home folder. `is_open`: an expansion is in
    the target, or in the text. `is_input`: the file is the standard input. `printer`: the commands of `< <(…)`.
    """

    operator: str
    target: str | None
    is_home: bool = False
    is_open: bool = False
    is_input: bool = attrs.field(default=False, eq=False)
    printer: str = attrs.field(default="", eq=False, kw_only=True)

    @property
    def writes(self) -> str | None:
        """The file that it writes; None if it writes none that is kept."""
        return None if self.operator == "<" or self.target == NOWHERE else self.target


@attrs.frozen
class Command:
    """One simple command: its assignments, its words, and its redirections, with those of the groups around it.

    `follows` is the connector before it: empty for the first, `&&`, `||`, `;` (a newline as well) or `|`; the first
    command of a group follows what the group follows. `within` are the constructs around it, outermost first: `(…)`,
    `{…}`, `for`, `$(…)` and so on, `!` before its pipeline, and `&` if it goes on while the next command runs.
    `unknown` are the names of variables that are assigned a value that is not known.
    `is_fed`: a construct around it follows a `|`, so that its input may be what another command prints.
    `only_assigns`: there is no program, and each word is an assignment.
    """

    words: tuple[Word, ...]
    assignments: tuple[tuple[str, str], ...] = ()
    redirections: tuple[Redirection, ...] = ()
    start: int = 0
    end: int = 0
    follows: str = ""
    within: tuple[str, ...] = ()
    only_assigns: bool = False
    unknown: frozenset[str] = frozenset()
    is_fed: bool = attrs.field(default=False, eq=False)

    @property
    def argv(self) -> tuple[str, ...]:
        """The arguments, program first."""
        return tuple(word.text for word in self.words)

    @property
    def is_piped(self) -> bool:
        """Whether its input may be what another command prints."""
        return self.follows == "|" or self.is_fed

    @property
    def writes_files(self) -> bool:
        """Whether its output goes to a file."""
        return any(each.writes is not None for each in self.redirections)

    @property
    def has_input(self) -> bool:
        """Whether its input is a file or a text."""
        return any(each.operator == "<" for each in self.redirections)
