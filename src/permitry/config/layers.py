"""Where files are when nobody names them: the layers of rules (shipped, user, project, admin), and the record."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from permitry.config.catalogue import BASE
from permitry.config.folders import PROJECT_FILE, user_config, user_state
from permitry.config.origin import Origin

if TYPE_CHECKING:
    from permitry.config.trust import TrustStore

__all__ = ["ADMIN_FILE", "PROJECT_FILE", "default_record", "find_layers", "find_project"]

ADMIN_FILE = Path("/etc/permitry/rules.toml")


def find_layers(
    workspace: Path, *, user_file: Path | None = None, admin_file: Path = ADMIN_FILE, trust: "TrustStore | None" = None
) -> list[Origin]:
    """Return the rule files in force for `workspace`, lowest layer first; files that do not exist are left out.

    The shipped layer is `permitry:base`; the user's is `rules.toml` in the user's configuration folder; the
    project's is `.permitry/rules.toml`, found upward from `workspace`, and is trusted only with the bytes that `trust`
    (by default the user's store) has pinned: else its restrictions count, its permissions do not; the admin's is
    `/etc/permitry/rules.toml`.

    Loading refuses an admin file that someone other than root could have written.
    """
    user = user_file or user_config() / "rules.toml"
    project = find_project(workspace)
    layers = [Origin(BASE)]
    if _stands(user):
        layers.append(Origin(str(user)))
    if project is not None and project != user:
        layers.append(_origin_of(project, trust))
    if _stands(admin_file):
        layers.append(Origin(str(admin_file), is_admin=True))
    return layers


def _origin_of(project: Path, trust: "TrustStore | None") -> Origin:
    from permitry.config.trust import TrustStore  # noqa: PLC0415 -- of no use without a project

    return (trust or TrustStore()).origin(project)


def default_record() -> Path:
    """Return where the record goes unless set otherwise: `audit.jsonl` in the user's state folder."""
    return user_state() / "audit.jsonl"


def find_project(workspace: Path) -> Path | None:
    """Return the nearest project's rule file in `workspace` or above it, readable or not; None when there is none."""
    start = workspace.resolve()
    return next((folder / PROJECT_FILE for folder in (start, *start.parents) if _stands(folder / PROJECT_FILE)), None)


def _stands(path: Path) -> bool:
    """Return whether a layer is there. One that cannot be reached is: loading reports it, nothing drops it silently."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True
