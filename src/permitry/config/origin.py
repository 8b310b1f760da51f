"""A rule file to load, how far it is trusted, and who could have written it."""

import hashlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path

import attrs

from permitry.config.catalogue import PREFIX

__all__ = ["Origin", "is_own", "writable_by_others"]


@attrs.frozen
class Origin:
    """A rule file to load: a path or a shipped set's name, and how far it is trusted.

    The permissions and templates of an untrusted origin, and of what it extends, are dropped with a notice, which ends
    in `distrust`; nothing outside its `root` is read for it. Only an admin origin may use priorities below 100.
    `pinned` has the SHA-256 of each trusted file by real path; others make it untrusted. It extends files `within`
    these alone. With a `text`, that is the content, and `name` is only shown. Nothing that `is_observed` is obeyed.
    """

    name: str
    is_trusted: bool = True
    is_admin: bool = False
    root: Path | None = None
    pinned: Mapping[Path, str] | None = None
    distrust: str = "the project is not trusted; see `permitry trust`"
    text: str | None = None
    is_observed: bool = False
    within: tuple[Path, ...] | None = None

    @property
    def rank(self) -> int:
        """Whose file it is: 3 the admin's, 2 the user's or a shipped set, 1 a trusted project's, or 0."""
        if self.is_admin:
            return 3
        return int(self.is_trusted) + int(self.is_trusted and self.root is None)

    def admits(self, path: Path, content: bytes) -> bool:
        """Return whether a file of these bytes may be loaded with the trust of this origin."""
        if self.pinned is None or self.name.startswith(PREFIX):
            return True
        return self.pinned.get(path) == hashlib.sha256(content).hexdigest()

    def unpinned(self) -> "Origin":
        """Return the origin without pins and not trusted, for files that differ from their pins."""
        if self.pinned is None:
            return self
        distrust = "the project has changed since it was trusted; see `permitry trust`"
        return attrs.evolve(self, is_trusted=False, pinned=None, distrust=distrust)


def is_own(status: os.stat_result) -> bool:
    """Return whether a file or folder, not a link, belongs to this user and no other user may write to it."""
    return (
        # Windows does not say whose a file is.
        status.st_uid == getattr(os, "geteuid", lambda: None)()
        and not stat.S_ISLNK(status.st_mode)
        and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    )


def writable_by_others(path: Path) -> str | None:
    """Return why someone other than root could have written a file, or None; `/tmp` may be sticky."""
    for start in dict.fromkeys((path.absolute(), path.resolve())):
        for each in (start, *start.parents):
            try:
                status = each.stat()
            except OSError as error:
                return f"`{each}` cannot be looked at: {(error.strerror or 'unknown reason').lower()}"
            is_sticky = bool(status.st_mode & stat.S_ISVTX) and each not in (start, start.parent)
            if status.st_uid != 0 or (status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not is_sticky):
                return f"`{each}` is not owned by root, or others may write it"
    return None
