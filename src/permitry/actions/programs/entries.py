"""What is known about one program, as it is used; `programs.toml` says what each field means."""

from collections.abc import Mapping

import attrs

from permitry.core.action import Word

__all__ = ["Entry", "Options", "RefusedError", "Shape", "Wrapper"]


class RefusedError(Exception):
    """Raised for a command that may do more than read, or whose operands are not certain; its message says why."""


@attrs.frozen
class Options:
    """Options of a program, by how they take values; the names include their hyphens."""

    plain: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    attached: frozenset[str] = frozenset()
    separate: frozenset[str] = frozenset()
    doubled: frozenset[str] = frozenset()
    tripled: frozenset[str] = frozenset()
    has_numbers: bool = False

    def with_more(self, more: "Options") -> "Options":
        """Return these options and `more`."""
        both = {kind: getattr(self, kind) | getattr(more, kind) for kind in attrs.fields_dict(Options)}
        return Options(**both)

    def takes(self, option: str) -> int | None:
        """Return how many of the next words an option, or a cluster of letters, takes; None if that is not known."""
        name, equals, _ = option.partition("=")
        if option.startswith("--"):
            count = self.count(name)
            return 0 if equals and count is not None else count
        if option in self.valued | self.separate:
            return 1
        for at, letter in enumerate(option[1:], start=2):
            count = 0 if letter.isdigit() and self.has_numbers else self.count(f"-{letter}")
            if count is None:
                return None
            if count or f"-{letter}" in self.attached:
                # The rest of the word is the value.
                return count if at == len(option) else 0
        return 0

    def count(self, name: str) -> int | None:
        """Return how many of the next words a single option takes; None if that is not known."""
        kinds = (self.plain | self.attached, self.valued | self.separate, self.doubled, self.tripled)
        return next((count for count, names in enumerate(kinds) if name in names), None)


@attrs.frozen
class Wrapper:
    """How a program runs its operands as a command.

    `leading` operands stand before the command, and `optional` ones may. `sets`: a word with an equals sign before the
    command sets a variable. `shows`: options with which it runs nothing.
    """

    leading: int = 0
    options: Options = Options()
    sets: bool = False
    optional: int = 0
    shows: frozenset[str] = frozenset()

    def is_assignment(self, word: Word) -> bool:
        """Return whether a word before the command sets a variable: no path, which `sudo` runs."""
        return self.sets and "=" in word.text and not word.text.startswith("/")

    def takes(self, option: str) -> int | None:
        """Return how many of the next words an option takes as its values; None if that is not known."""
        if option.startswith("--") and "=" in option:
            return 0
        return self.options.takes(option)


@attrs.frozen
class Shape:
    """What the operands and the values of options are; `programs.toml` says what each field means."""

    operands: tuple[str, ...]
    when: frozenset[str] = frozenset()
    instead: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    entries: frozenset[str] = frozenset()
    connects: frozenset[str] = frozenset()
    at: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()
    skip: frozenset[str] = frozenset()
    trees: frozenset[str] = frozenset()
    lists: frozenset[str] = frozenset()
    skips: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()
    keeps: frozenset[str] = frozenset()
    exact: frozenset[str] = frozenset()
    unsure: frozenset[str] = frozenset()
    unsure_text: frozenset[str] = frozenset()
    literal: frozenset[str] = frozenset()
    strips: frozenset[str] = frozenset()
    alters: frozenset[str] = frozenset()
    here: str = ""
    format: str = ""
    remote: bool = False


@attrs.frozen
class Entry:
    """What is known about a program or a sub-command; `programs.toml` says what each field means.

    `is_known`: it is known what a program does, and not only what it may run.
    """

    is_known: bool = False
    any_option: bool = False
    runs_nothing: bool = False
    options: Options = Options()
    commands: "Mapping[str, Entry]" = attrs.field(factory=dict)
    bare: bool = False
    needs: frozenset[str] = frozenset()
    most_operands: int | None = None
    operands_need: frozenset[str] = frozenset()
    operand_start: str = ""
    refused_start: str = ""
    refused_text: Mapping[str, str] = attrs.field(factory=dict)
    refused_values: Mapping[str, str] = attrs.field(factory=dict)
    plain: str = ""
    plain_values: frozenset[str] = frozenset()
    refused: Mapping[str, str] = attrs.field(factory=dict)
    options_first: bool = False
    whole_words: bool = False
    script: str = ""
    runs: Wrapper | None = None
    runs_behind: Mapping[str, Wrapper] = attrs.field(factory=dict)
    runner: str = ""
    runs_values: frozenset[str] = frozenset()
    runs_open: frozenset[str] = frozenset()
    runs_here: Mapping[str, str] = attrs.field(factory=dict)
    runs_after: tuple[str, ...] = ()
    open_words: str = ""
    interprets: bool = False
    guess: str = ""
    evaluates: bool = False
    passes_on: bool = False
    kinds: Mapping[str, frozenset[str]] = attrs.field(factory=dict)
    by_name: bool = False
    input: str = ""
    prints: str = ""
    language: str = ""
    makes: str = ""
    undoable: bool = False
    wraps: bool = False
    unsets: frozenset[str] = frozenset()
    shows: frozenset[str] = frozenset()
    shell: str = ""
    does: Mapping[str, str] = attrs.field(factory=dict)
    views: "Mapping[str, Entry]" = attrs.field(factory=dict)
    names_from: frozenset[str] = frozenset()
    names_behind: frozenset[str] = frozenset()
    code: frozenset[str] = frozenset()
    renames: frozenset[str] = frozenset()
    descends: bool = False
    follows: frozenset[str] = frozenset()
    moves: frozenset[str] = frozenset()
    only_lists: bool = False
    contents: frozenset[str] = frozenset()
    fills: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    filters: tuple[str, ...] = ()
    known: Options = Options()
    shapes: tuple[Shape, ...] = ()

    @property
    def reason(self) -> str:
        """Why no call of it only reads, in one phrase; empty where some do."""
        return " and ".join(self.does.values())
