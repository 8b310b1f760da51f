"""The change of one file as `git diff` prints it, made without git: for what is not kept, and where git is missing."""

import os
from collections.abc import Iterator

import attrs

from permitry_tools._tree import Contents, Entry
from permitry_tools.patch.preview import hunks_of

__all__ = ["PlainDiff", "quote"]

_MOST_LINES = 20_000
_NO_BLOB = "0" * 40
_BINARY_WITHIN = 8000
_ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}


@attrs.define
class PlainDiff:
    """Sections of a diff. Renames are a deletion and a new file, and no function is named behind `@@`.

    What is not kept or not text, and what comes once 20,000 lines have been compared, is shown as `differ`.
    """

    contents: Contents
    _left: int = attrs.field(default=_MOST_LINES, init=False)

    def section(self, path: str, before: Entry | None, after: Entry | None) -> str:
        """Return what has become of the file at `path`; what is not UTF-8 in it is escaped by surrogates."""
        if before is not None and after is not None and (before.mode == "120000") != (after.mode == "120000"):
            return self.section(path, before, None) + self.section(path, None, after)
        old, new = quote(f"a/{path}"), quote(f"b/{path}")
        return "".join((f"diff --git {old} {new}\n", *_modes(before, after), *self._body(path, before, after)))

    def _body(self, path: str, before: Entry | None, after: Entry | None) -> Iterator[str]:
        blobs = [_NO_BLOB if each is None else each.blob for each in (before, after)]
        known = [each for each in blobs if each is not None]
        old, new = _side("a", path, before), _side("b", path, after)
        if len(known) == len(blobs):
            if len(set(known)) == 1:
                return
            mode = f" {before.mode}" if before and after and before.mode == after.mode else ""
            yield f"index {known[0][:7]}..{known[1][:7]}{mode}\n"
        texts = [text for each in (before, after) if (text := self._text(each)) is not None]
        if len(texts) < len(blobs) or not self._has_room(texts):
            yield f"Binary files {quote(old)} and {quote(new)} differ\n"
        elif hunks := hunks_of(texts[0], texts[1]):
            yield f"--- {_label(old)}\n+++ {_label(new)}\n{hunks}"

    def _text(self, entry: Entry | None) -> str | None:
        """Return what a file holds; None where that is not kept, or not text."""
        if entry is None:
            return ""
        if entry.blob not in self.contents.objects:
            return None
        data = self.contents.data(entry.blob)
        return None if b"\0" in data[:_BINARY_WITHIN] else os.fsdecode(data)

    def _has_room(self, texts: list[str]) -> bool:
        self._left -= sum(text.count("\n") for text in texts)
        return self._left >= 0


def _modes(before: Entry | None, after: Entry | None) -> Iterator[str]:
    if before is None and after is not None:
        yield f"new file mode {after.mode}\n"
    elif before is not None and after is None:
        yield f"deleted file mode {before.mode}\n"
    elif before is not None and after is not None and before.mode != after.mode:
        yield f"old mode {before.mode}\nnew mode {after.mode}\n"


def _side(letter: str, path: str, entry: Entry | None) -> str:
    return "/dev/null" if entry is None else f"{letter}/{path}"


def _label(name: str) -> str:
    # A tab, so that a blank is not taken for the end of the name.
    return quote(name) + "\t" * (" " in name)


def quote(name: str) -> str:
    """Return a name as git shows it: in quotes and ASCII where anything in it is neither a letter nor a plain sign."""
    shown = "".join(_escape(byte) for byte in os.fsencode(name))
    return name if shown == name else f'"{shown}"'


def _escape(byte: int) -> str:
    if byte in _ESCAPES:
        return f"\\{_ESCAPES[byte]}"
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}"  # noqa: PLR2004 -- what ASCII can print
