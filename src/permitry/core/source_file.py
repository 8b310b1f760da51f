"""A rule file as it was read: what an auditor is shown of the rules behind a decision."""

import hashlib

import attrs

__all__ = ["SourceFile"]


@attrs.frozen
class SourceFile:
    """The name and the text of a rule file, and whose it is: `shipped`, `user`, `project` or `admin`.

    The permissions of one that is not trusted do not count, and nothing in one that `is_observed` is obeyed.
    """

    name: str
    text: str = attrs.field(repr=False)
    layer: str = "user"
    is_trusted: bool = True
    is_observed: bool = False

    @property
    def digest(self) -> str:
        """The SHA-256 of its bytes."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def to_dict(self) -> dict[str, object]:
        """Return the file as a record names it: without its text."""
        return {
            "name": self.name,
            "digest": self.digest,
            "layer": self.layer,
            "trusted": self.is_trusted,
            "observed": self.is_observed,
        }
