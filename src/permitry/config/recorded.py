"""Rule files that are on record: they are loaded as they were, without the disk."""

from collections.abc import Iterable
from pathlib import Path

from permitry.audit.rule_files import RuleFile
from permitry.config.origin import Origin

__all__ = ["origins_on_record"]

_SOMEWHERE = Path("/")
"""The root of a project whose files are not read from the disk."""


def origins_on_record(files: Iterable[RuleFile]) -> list[Origin]:
    """Return origins by which files are loaded as they were, in the order in which they were opened."""
    every = list(files)
    texts = {each.name: each.text for each in every}
    # Also of what another one extends, which opens it first, as it did then.
    return [
        Origin(
            each.name,
            is_trusted=each.is_trusted,
            is_admin=each.layer == "admin",
            root=_SOMEWHERE if each.layer == "project" else None,
            text=each.text,
            is_observed=each.is_observed,
            recorded=texts,
        )
        for each in every
    ]
