"""The encoding in which the SDK reads what a program writes: UTF-8, in lines that are not too long.

The SDK takes lines of any length, and copies all of one at each part of it that comes: one of 60 MB holds up all
servers for a minute. What it can be given is an encoding.
"""

import codecs

__all__ = ["ENCODING"]

ENCODING = "permitry-lines"
_LONGEST = 16 * 1024 * 1024


class _Lines(codecs.getincrementaldecoder("utf-8")):  # type: ignore[misc]  # a class of the library
    """Decodes lines; what is too much of one is left out, so that it is not a message any more."""

    length = 0

    def decode(self, input: bytes, final: bool = False) -> str:  # noqa: A002, FBT001, FBT002 -- of the library
        kept = []
        for number, part in enumerate(input.split(b"\n")):
            self.length = len(part) if number else self.length + len(part)
            kept.append(part if self.length <= _LONGEST else b"")
        text: str = super().decode(b"\n".join(kept), final)
        return text


def _found(name: str) -> codecs.CodecInfo | None:
    if name.replace("_", "-") != ENCODING:
        return None
    return codecs.CodecInfo(codecs.utf_8_encode, codecs.utf_8_decode, name=ENCODING, incrementaldecoder=_Lines)


codecs.register(_found)
