"""A rule file to load, and how far it is trusted."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

import attrs

from permitry.config.catalogue import PREFIX

__all__ = ["Origin"]


@attrs.frozen
class Origin:
    """A rule file to load: a path or a shipped set's name, and how far it is trusted.

    The permissions and templates of an untrusted origin, and of what it extends, are dropped with a notice, which ends
    in `distrust`; nothing outside its `root` is read for it. Only an admin origin may use priorities below 100.
    `pinned` has the SHA-256 of every file that is trusted, by real path; others make the origin untrusted. With a
    `text`, that is the content, and `name` is only shown.
    """

    name: str
    is_trusted: bool = True
    is_admin: bool = False
    root: Path | None = None
    pinned: Mapping[Path, str] | None = None
    distrust: str = "the project is not trusted; see `permitry trust`"
    text: str | None = None

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
