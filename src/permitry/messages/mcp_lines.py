"""The encoding in which the SDK reads what a program writes: UTF-8, in lines that are not too long.

The SDK takes lines of any length, and copies all of one at each part of it that comes: one of 60 MB holds up all
servers for a minute. What it can be given is an encoding.
"""

import codecs
import re

__all__ = ["ENCODING"]

ENCODING = "permitry-lines"
_LONGEST = 16 * 1024 * 1024
_NEAR = 200
_FIRST = re.compile(rb'\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d+|"[\w-]+")\s*,')
_LAST = re.compile(rb',\s*"id"\s*:\s*(\d+|"[\w-]+")\s*\}\s*$')
"""The id of an answer, where servers write it: at the beginning of its line, or at the end."""
_TOO_LONG = b'{"jsonrpc":"2.0","id":%b,"error":{"code":-32603,"message":"its answer is longer than 16 MiB"}}'


class _Lines(codecs.getincrementaldecoder("utf-8")):  # type: ignore[misc]  # a class of the library
    """Decodes lines; what is too much of one is left out, so that it is not a message any more.

    The request that it would have answered gets an error in its place.
    """

    length = 0
    head = b""
    tail = b""

    def decode(self, input: bytes, final: bool = False) -> str:  # noqa: A002, FBT001, FBT002 -- of the library
        first, *others = input.split(b"\n")
        kept = [self._part(first)]
        for part in others:
            kept.append(self._end())
            kept.append(self._part(part))
        text: str = super().decode(b"".join(kept), final)
        return text

    def _part(self, part: bytes) -> bytes:
        """Return what is decoded of the next part of a line."""
        self.length += len(part)
        self.head += part[: _NEAR - len(self.head)]
        self.tail = (self.tail + part[-_NEAR:])[-_NEAR:]
        return part if self.length <= _LONGEST else b""

    def _end(self) -> bytes:
        """Return the end of a line, and begin another one."""
        found = (_FIRST.match(self.head) or _LAST.search(self.tail)) if self.length > _LONGEST else None
        self.length, self.head, self.tail = 0, b"", b""
        return b"\n" if found is None else b"\n" + _TOO_LONG % found[1] + b"\n"


def _find(name: str) -> codecs.CodecInfo | None:
    if name.replace("_", "-") != ENCODING:
        return None
    return codecs.CodecInfo(codecs.utf_8_encode, codecs.utf_8_decode, name=ENCODING, incrementaldecoder=_Lines)


codecs.register(_find)
