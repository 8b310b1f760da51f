"""Default locations of files: the layers of rules (shipped, user, project, admin), and the store."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from permitry.config.catalogue import BASE
from permitry.config.folders import PROJECT_FILE, user_config, user_state
from permitry.config.origin import Origin

if TYPE_CHECKING:
    from permitry.config.trust import TrustStore

__all__ = ["ADMIN_FILE", "PROJECT_FILE", "default_store", "find_layers", "find_project"]

ADMIN_FILE = Path("/etc/permitry/rules.toml")


def find_layers(
    workspace: Path,
    *,
    shipped: Sequence[str] = (BASE,),
    user_file: Path | None = None,
    admin_file: Path = ADMIN_FILE,
    trust: "TrustStore | None" = None,
) -> list[Origin]:
    """Return the rule files in force for `workspace`, lowest layer first, if they exist.

    The shipped layer is `permitry:base`, or the sets named `shipped`; the user's file is in the configuration
    folder, the project's in `workspace` or above, trusted only as pinned in `trust`: otherwise only its restrictions
    apply. The admin's file must be root's alone.
    """
    user = user_file or user_config() / "rules.toml"
    project = find_project(workspace)
    layers = [Origin(name) for name in shipped]
    if _exists(user):
        layers.append(Origin(str(user)))
    if project is not None and project != user:
        from permitry.config.trust import TrustStore  # noqa: PLC0415 -- not needed without a project

        layers.append((trust or TrustStore()).origin(project))
    if _exists(admin_file):
        layers.append(Origin(str(admin_file), is_admin=True))
    return layers


def default_store() -> Path:
    """Return the default path of the store: `permitry.db` in the user's state folder."""
    return user_state() / "permitry.db"


def find_project(workspace: Path) -> Path | None:
    """Return the rule file of the nearest project, in `workspace` or above, readable or not; None if there is none."""
    start = workspace.resolve()
    return next((folder / PROJECT_FILE for folder in (start, *start.parents) if _exists(folder / PROJECT_FILE)), None)


def _exists(path: Path) -> bool:
    """Return whether a file exists, or may, so that loading reports it as unreadable."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True
