"""The files that rules were read from: as they are put on record, and read again from there."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from permitry.config.catalogue import PREFIX
from permitry.config.origin import Origin
from permitry.core.source_file import SourceFile

__all__ = ["origins_from_record", "origins_of", "source_files"]

_SOMEWHERE = Path("/")
"""The root of a project whose files are not read from the disk."""


def origins_of(names: Iterable[str], origins: Iterable[Origin]) -> Iterator[tuple[str, Origin]]:
    """Yield each file, in the order of opening, with the origin by which it was reached."""
    starts = {origin.name: origin for origin in origins}
    reached = Origin("")
    for name in names:
        reached = starts.get(name, reached)
        yield name, reached


def source_files(texts: Mapping[str, str], origins: Iterable[Origin]) -> tuple[SourceFile, ...]:
    """Return files, their texts by name in the order of opening, with what their origins make of them."""
    return tuple(
        SourceFile(
            name,
            texts[name],
            "shipped" if name.startswith(PREFIX) else origin.layer,
            is_trusted=origin.is_trusted,
            is_observed=origin.is_observed,
        )
        for name, origin in origins_of(texts, origins)
    )


def origins_from_record(files: Iterable[SourceFile]) -> list[Origin]:
    """Return origins by which files are loaded as they were, without the disk."""
    every = list(files)
    kept = {each.name: each.text for each in every}
    # Also what is extended by another one, which opens it first, as it did then.
    return [
        Origin(
            each.name,
            is_trusted=each.is_trusted,
            is_admin=each.layer == "admin",
            root=_SOMEWHERE if each.layer == "project" else None,
            text=each.text,
            is_observed=each.is_observed,
            kept=kept,
        )
        for each in every
    ]
