"""What is at a path: a file, a folder, a link or nothing, with all that is to come back."""

import base64
import enum
import os
import stat
from collections.abc import Mapping
from typing import Any

import attrs

__all__ = ["READ_FILE", "READ_FOLDER", "Kind", "Node", "attributes_of", "kind_of", "set_attributes", "widen"]

READ_FILE = stat.S_IRUSR
READ_FOLDER = stat.S_IRUSR | stat.S_IXUSR
_PATH = getattr(os, "O_PATH", None)
_RESTORABLE = ("user.", "system.posix_acl_")
_UNIT = 512
"""So many bytes are a block of `st_blocks`, whatever those of the file system are."""
_OF_THE_SYSTEM = ("security.selinux",)


class Kind(enum.Enum):
    """What is at a path."""

    ABSENT = "absent"
    FILE = "file"
    FOLDER = "folder"
    LINK = "link"


@attrs.frozen
class Node:
    """What is at `path`. `digest` is the SHA-256 of a file, `text` the text of a link.

    `same` is the first path of the same file. `mtime` is in nanoseconds; that of a folder says nothing. `attributes`
    are in base64. `data` and `offset` say where the content is in the vault.
    """

    path: str
    kind: Kind
    mode: int = 0
    owner: int = 0
    group: int = 0
    mtime: int = attrs.field(default=0, eq=False)
    size: int = 0
    digest: str = ""
    text: str = ""
    same: str = ""
    attributes: Mapping[str, str] = attrs.field(factory=dict)
    is_sparse: bool = attrs.field(default=False, eq=False)
    data: str = attrs.field(default="", eq=False)
    offset: int = attrs.field(default=0, eq=False)

    @property
    def state(self) -> tuple[object, ...]:
        """What counts for whether it has changed."""
        return self, 0 if self.kind is Kind.FOLDER else self.mtime

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON, without what has no value."""
        given = attrs.asdict(self, filter=lambda field, value: field.name != "kind" and value not in (0, "", {}))
        return {**given, "kind": self.kind.value}

    @classmethod
    def of(cls, path: str, status: os.stat_result, **rest: Any) -> "Node":  # noqa: ANN401 -- the other fields
        """Return the node of a status."""
        kind = kind_of(status.st_mode)
        return cls(
            path,
            Kind.ABSENT if kind is None else kind,
            stat.S_IMODE(status.st_mode),
            status.st_uid,
            status.st_gid,
            status.st_mtime_ns,
            status.st_size if kind is Kind.FILE else 0,
            is_sparse=kind is Kind.FILE and status.st_blocks * _UNIT < status.st_size,
            **rest,
        )

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> "Node":
        """Return what `to_dict` gave."""
        return cls(**{**given, "kind": Kind(given["kind"])})


def kind_of(mode: int) -> Kind | None:
    """Return what has this mode; None for a socket, a pipe or a device."""
    known = ((stat.S_ISREG, Kind.FILE), (stat.S_ISDIR, Kind.FOLDER), (stat.S_ISLNK, Kind.LINK))
    return next((kind for is_such, kind in known if is_such(mode)), None)


def attributes_of(file: int) -> dict[str, str]:
    """Return the extended attributes of an open file. Raises: `PermissionError` for unknown ones."""
    if not hasattr(os, "listxattr"):
        return {}
    try:
        names = [name for name in os.listxattr(file) if not name.startswith(_OF_THE_SYSTEM)]
    except OSError:
        # The file system has none.
        return {}
    foreign = next((name for name in names if not name.startswith(_RESTORABLE)), None)
    if foreign is not None:
        raise PermissionError(f"it has the attribute `{foreign}`")
    return {name: base64.b64encode(os.getxattr(file, name)).decode() for name in names}


def set_attributes(file: int, wanted: Mapping[str, str]) -> None:
    """Give an open file or folder these extended attributes, and no others."""
    has = attributes_of(file)
    for name in has.keys() - wanted.keys():
        os.removexattr(file, name)
    for name in wanted:
        if has.get(name) != wanted[name]:
            os.setxattr(file, name, base64.b64decode(wanted[name]))


def widen(name: str, needed: int, *, folder: int) -> int | None:
    """Give the user rights to its own file or folder, not a link; return the mode it had, or None."""
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    mode = stat.S_IMODE(status.st_mode)
    if os.geteuid() == 0 or status.st_uid != os.geteuid() or mode & needed == needed:
        return None
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        return None
    if _PATH is None:
        os.chmod(name, mode | needed, dir_fd=folder, follow_symlinks=False)
        return mode
    # Linux changes the mode of a name only if it may follow a link there.
    file = os.open(name, _PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        if os.path.samestat(os.fstat(file), status):
            os.chmod(f"/proc/self/fd/{file}", mode | needed)  # noqa: PTH101 -- of a name that is open
    finally:
        os.close(file)
    return mode
