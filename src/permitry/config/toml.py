"""TOML text to tables, within bounds.

`tomllib` keeps every beginning of a dotted key, so a long one would take all memory.
"""

import re
import tomllib
from typing import Any

__all__ = ["load_toml"]

_MOST_PARTS = 32
_QUOTED = re.compile(r'"[^"\n]*"|\'[^\'\n]*\'')
_BORDERS = re.compile(r"[=,{}\[\]#]")


def load_toml(text: str) -> dict[str, Any]:
    """Return the tables of TOML `text`.

    Raises: `tomllib.TOMLDecodeError`, also for a key of more than 32 parts; `RecursionError` and `ValueError` as
    `tomllib` does.
    """
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > _MOST_PARTS:
            pieces = _BORDERS.split(_QUOTED.sub("", line))
            if any(piece.count(".") > _MOST_PARTS for piece in pieces):
                message = f"A key has more than {_MOST_PARTS} parts (at line {number}, column 1)"
                raise tomllib.TOMLDecodeError(message)
    return tomllib.loads(text)
