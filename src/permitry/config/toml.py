"""TOML text to tables, within bounds.

`tomllib` stores every prefix of a dotted key, so a very long key would use up the memory.
"""

import re
import tomllib
from typing import Any

__all__ = ["load_toml"]

_MOST_PARTS = 32
# Texts and comments; one that is not closed extends to the end, so that no part of it is scanned twice.
_NO_KEY = re.compile(
    r'"""(?:[^\\]|\\.)*?(?:"""|\Z)' r"|'''.*?(?:'''|\Z)" r'|"(?:[^"\\\n]|\\[^\n])*"?' r"|'[^'\n]*'?|#[^\n]*", re.DOTALL
)
_BORDERS = re.compile(r"[=,{}\[\]]")


def load_toml(text: str) -> dict[str, Any]:
    """Return the tables of TOML `text`. Raises: as `tomllib.loads`, also for a key of 33 parts."""
    # A key is on one line, and few lines have that many dots, so most texts need no scan.
    if any(line.count(".") > _MOST_PARTS for line in text.split("\n")):
        _check_keys(text)
    return tomllib.loads(text)


def _check_keys(text: str) -> None:
    bare = _NO_KEY.sub(lambda found: "\n" * found[0].count("\n"), text)
    for number, line in enumerate(bare.split("\n"), 1):
        if any(piece.count(".") > _MOST_PARTS for piece in _BORDERS.split(line)):
            raise tomllib.TOMLDecodeError(f"A key has more than {_MOST_PARTS} parts (at line {number}, column 1)")
