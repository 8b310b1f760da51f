"""Files and folders of the user whose modes keep the user out, as a call has left them."""

import os
import stat

__all__ = ["READ_FILE", "READ_FOLDER", "widen"]

READ_FILE = stat.S_IRUSR
READ_FOLDER = stat.S_IRUSR | stat.S_IXUSR
_PATH = getattr(os, "O_PATH", None)


def widen(name: str, needed: int, *, folder: int) -> int | None:
    """Give the user rights to its own file or folder; return the mode it had, None where it stays.

    No link is followed. Raises: `OSError`.
    """
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
