"""Scripts of `sed`, read to see whether they only print, and which files their commands name.

A grammar of what all implementations read alike: a command that is not known is a reason to refuse,
and so is a text that two of them read differently.

Source: sed(1); the scanner of GNU sed (`match_slash` knows no brackets, BSD's does); busybox on labels.
"""

import string
from collections.abc import Iterable

import attrs

from permitry.actions.programs.arguments import Parts, is_spread
from permitry.actions.programs.catalogue import RefusedError
from permitry.core.action import Access, Word

__all__ = ["check_sed", "closes_brackets", "files_of_sed"]

_DIGITS = frozenset(string.digits)
_LABEL = frozenset(string.ascii_letters + string.digits + "_")
_PLAIN = frozenset("=dDgGhHnNpPxzF")
_NUMBERED = frozenset("qQl")
_LABELLED = frozenset("btT:")
_FILES = {"r": Access.READ, "R": Access.READ, "w": Access.WRITE, "W": Access.WRITE}
_DELIMITERS = frozenset("/|#,:@!%+~=_")
_FLAGS = frozenset("gpiImM") | _DIGITS


def closes_brackets(pattern: str) -> bool:
    """Return whether every `[` of a regular expression is closed in it, whoever reads it."""
    at = 0
    while at < len(pattern):
        if pattern[at] == "\\":
            at += 2
        elif pattern[at] == "[":
            at = _behind_bracket(pattern, at + 1)
            if at < 0:
                return False
        else:
            at += 1
    return True


def _behind_bracket(pattern: str, at: int) -> int:
    """Return the place behind the bracket expression that opened before `at`, or -1."""
    at += pattern.startswith("^", at)
    at += pattern.startswith("]", at)
    while at < len(pattern):
        if pattern[at] == "]":
            return at + 1
        if pattern.startswith("\\]", at):
            return -1
        if pattern[at] == "[" and pattern[at + 1 : at + 2] in (":", ".", "="):
            end = pattern.find(pattern[at + 1] + "]", at + 2)
            if end < 0:
                return -1
            at = end + 2
        else:
            at += 2 if pattern[at] == "\\" else 1
    return -1


@attrs.define
class _Sed:
    text: str
    at: int = 0
    files: list[tuple[Access, Word]] = attrs.field(factory=list)

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def skip(self, characters: Iterable[str]) -> str:
        begin = self.at
        while (char := self.peek()) and char in characters:
            self.at += 1
        return self.text[begin : self.at]

    def script(self) -> None:
        while True:
            between = self.skip(" \t\n;")
            if not self.peek():
                return
            if self.peek() == "#" and (self.at == len(between) or "\n" in between):
                self.line()
                continue
            self.addresses()
            self.command()

    def line(self) -> None:
        """Step over the rest of the line."""
        end = self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 else end

    def addresses(self) -> None:
        if self.address(""):
            self.skip(" \t")
            if self.peek() == ",":
                self.at += 1
                self.skip(" \t")
                if not self.address("+~"):
                    raise RefusedError("an address of `sed`")
        self.skip(" \t!")

    def address(self, signs: str) -> bool:
        char = self.peek()
        if char and char in signs:
            self.at += 1
            return bool(self.skip(_DIGITS))
        if char == "$":
            self.at += 1
            return True
        if self.skip(_DIGITS):
            if self.peek() == "~":
                self.at += 1
                self.skip(_DIGITS)
            return True
        if char == "\\":
            self.at += 1
        elif char != "/":
            return False
        self.delimited(self.delimiter(), is_pattern=True)
        self.skip("IM")
        return True

    def delimiter(self) -> str:
        char = self.peek()
        if char not in _DELIMITERS:
            raise RefusedError("a delimiter of `sed`")
        self.at += 1
        return char

    def delimited(self, delimiter: str, *, is_pattern: bool) -> None:
        begin = self.at
        while (char := self.peek()) != delimiter:
            if char in ("", "\n"):
                raise RefusedError("a text of `sed` without its end")
            self.at += 1
            if char == "\\":
                if self.peek() in ("", "\n"):
                    raise RefusedError("a text of `sed` over two lines")
                self.at += 1
        if is_pattern and not closes_brackets(self.text[begin : self.at]):
            raise RefusedError("a bracket of `sed` without its end")
        self.at += 1

    def command(self) -> None:
        char = self.peek()
        self.at += 1
        after: tuple[str, ...] = ("", "\n", ";", "}")
        if char in ("{", "}"):
            return
        if char in _PLAIN:
            pass
        elif char in _NUMBERED:
            self.skip(" ")
            self.skip(_DIGITS)
        elif char in _LABELLED:
            self.skip(" ")
            self.skip(_LABEL)
            after = ("", "\n", ";")
        elif char in ("s", "y"):
            self.substitution(flags=_FLAGS if char == "s" else frozenset())
            if char == "s" and self.peek() == "w":
                self.at += 1
                self.file(Access.WRITE)
        elif char in _FILES:
            self.file(_FILES[char])
        else:
            raise RefusedError(f"the command `{char}` of `sed`")
        if char not in _LABELLED:
            self.skip(" \t")
        if self.peek() not in after:
            raise RefusedError(f"`{self.peek()}` behind a command of `sed`")

    def file(self, access: Access) -> None:
        """Step over the name of a file: whatever stands there up to the end of the line."""
        self.skip(" \t")
        begin = self.at
        self.line()
        name = self.text[begin : self.at]
        if not name or not name.isprintable() or "\\" in name:
            raise RefusedError("a file name of `sed`")
        self.files.append((access, Word(name)))

    def substitution(self, *, flags: frozenset[str]) -> None:
        delimiter = self.delimiter()
        self.delimited(delimiter, is_pattern=True)
        self.delimited(delimiter, is_pattern=False)
        self.skip(flags)


def check_sed(parts: Parts) -> None:
    """Refuse the arguments of `sed` unless all scripts among them only print."""
    for access, file in files_of_sed(parts):
        raise RefusedError(f"`sed` {access.value}s `{file.text}`")


def files_of_sed(parts: Parts) -> list[tuple[Access, Word]]:
    """Return the files that the scripts among the arguments of `sed` read and write.

    Raises: `RefusedError` for a script that may do more than read and write files, and print.
    """
    if parts.is_spread:
        raise RefusedError("`sed` with a pattern for a value")
    scripts = [value.text if value else "" for name, value in parts.found if name in ("-e", "--expression")]
    if not scripts and parts.operands:
        if is_spread(parts.operands[0]):
            raise RefusedError("a script of `sed` from a pattern")
        scripts = [parts.operands[0].text]
    return [file for script in scripts for file in _files(script)]


def _files(script: str) -> list[tuple[Access, Word]]:
    sed = _Sed(script)
    sed.script()
    return sed.files
