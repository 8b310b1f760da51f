"""The words of a command, and the command as it is written: `X=1 sudo make`."""

import re

import attrs

__all__ = ["CommandLine", "Found", "Word"]

_EXPANSION = re.compile(r"[$`]")


@attrs.frozen
class Found:
    """Names of files that a command finds: those of `tops`, and what lies below them; if `is_top`, one top alone.

    `ends`: the last part of each fits one of these patterns, without regard to case. `has_links`: links may be among
    them. `may_be_option`: one may begin with a hyphen. `is_split`: the text of all names is split at blanks, and quotes
    and backslashes are taken off; `is_apart`: a null is between them. `in_index`: some may be in git's index alone.
    """

    tops: "tuple[Word, ...]"
    ends: tuple[str, ...] = ()
    has_links: bool = attrs.field(default=True, kw_only=True)
    may_be_option: bool = attrs.field(default=False, kw_only=True)
    is_split: bool = attrs.field(default=False, kw_only=True)
    is_apart: bool = attrs.field(default=False, kw_only=True)
    in_index: bool = attrs.field(default=False, kw_only=True)
    is_top: bool = attrs.field(default=False, kw_only=True)


@attrs.frozen
class Word:
    """One argument of a program as it is passed, but for expansions that depend on the machine.

    `is_glob`: an unquoted `*`, `?` or `[` is in it, so it may become other words. `is_home`: its leading tilde is
    unquoted, and becomes the home folder. `is_open`: an expansion is in it, so it may become any words at all, and
    `text` is only how it is written. `is_single`: its expansions are quoted, so it becomes one word. `is_value`: it is
    one such word, and the value of the option before it, so it cannot be an option itself.
    `found`: it becomes such names, each a word; of `xargs` itself, they are its input. `source`: it is a variable whose
    value is what this substitution becomes, or a word of that.
    """

    text: str
    is_glob: bool = False
    is_home: bool = False
    is_open: bool = False
    is_single: bool = attrs.field(default=False, kw_only=True)
    is_value: bool = attrs.field(default=False, kw_only=True, eq=False)
    found: Found | None = attrs.field(default=None, kw_only=True)
    source: str = attrs.field(default="", kw_only=True)

    @property
    def is_kept(self) -> bool:
        """Whether the shell leaves it as it is."""
        return not (self.is_open or self.is_glob or self.is_home)

    @property
    def may_be_option(self) -> bool:
        """Whether what the program receives can begin with a hyphen: a file name may be anything."""
        if self.text.startswith("-"):
            return not self.is_value
        if self.found is not None:
            return self.found.may_be_option
        # An expansion may give it any beginning.
        has_any_start = self.is_open and not (self.is_value or self.start)
        return has_any_start or (self.is_glob and self.text[:1] in "*?[")

    @property
    def start(self) -> str:
        """What one word with an expansion certainly begins with; empty if that is not known."""
        found = _EXPANSION.search(self.text) if self.is_single else None
        return "" if found is None or self.is_glob or self.is_home else self.text[: found.start()]


@attrs.frozen
class CommandLine:
    """A simple command: the assignments before it, and its words, wrappers included.

    `is_alone`: no other command of its text writes a file. `runs_by_name`: what it runs is a file or a package that is
    named, and nothing more is known of it.
    """

    assigned: tuple[Word, ...] = ()
    words: tuple[Word, ...] = ()
    is_alone: bool = False
    runs_by_name: bool = False
