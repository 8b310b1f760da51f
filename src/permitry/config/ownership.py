"""Who could have written a file."""

import os
import stat
from pathlib import Path

__all__ = ["is_own", "writable_by_others"]


def is_own(status: os.stat_result) -> bool:
    """Return whether a file or folder, not a link, belongs to this user and no other user may write to it."""
    return (
        status.st_uid == os.geteuid()
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
