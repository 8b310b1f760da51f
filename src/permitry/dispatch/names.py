"""The names of tools as providers take them."""

import hashlib
import re

__all__ = ["wire_name"]

_UNFIT = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST_NAME = 64


def wire_name(name: str) -> str:
    """Return the name as providers take one: letters, digits, `_` and `-`; `mcp:docs/search` is `mcp__docs__search`.

    One that is longer than 64 characters ends in eight digits of its SHA-256, so that long names stay different.
    """
    wire = _UNFIT.sub("_", name.replace(":", "__").replace("/", "__"))
    if len(wire) <= _LONGEST_NAME:
        return wire
    return f"{wire[: _LONGEST_NAME - 9]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"
