"""Widenings that are wanted: a file names them by their digests."""

import tomllib
from collections.abc import Sequence
from pathlib import Path

import attrs

from permitry.errors import PermitryError

__all__ = ["Accepted", "read_accepted"]


@attrs.frozen
class Accepted:
    """A widening that is wanted."""

    digest: str
    by: str
    why: str


def read_accepted(path: Path) -> Sequence[Accepted]:
    """Return the widenings that a file accepts, each an `[[accept]]` with `digest`, `by` and `why`.

    Raises: `PermitryError` that names the place.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PermitryError(f"`{path}` cannot be read: {error}") from error
    entries = data.get("accept", [])
    if set(data) - {"accept"} or not isinstance(entries, list):
        raise PermitryError(f"`{path}`: it has nothing but tables `[[accept]]`")
    return [_read_entry(entry, number, path) for number, entry in enumerate(entries, 1)]


def _read_entry(entry: object, number: int, path: Path) -> Accepted:
    keys = {"digest", "by", "why"}
    if (
        isinstance(entry, dict)
        and set(entry) == keys
        and all(isinstance(entry[key], str) and entry[key] for key in keys)
    ):
        return Accepted(**entry)
    raise PermitryError(f"`{path}`, `[[accept]]` {number}: it has `digest`, `by` and `why`, each a text")
