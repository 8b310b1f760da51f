"""Where files are when nobody names them: the layers of rules (shipped, user, project, admin), and the record."""

import os
import stat
from pathlib import Path

import platformdirs

from permitry.config.load import Origin
from permitry.errors import ConfigError, Problem

__all__ = ["ADMIN_FILE", "PROJECT_FILE", "default_record", "find_layers"]

PROJECT_FILE = Path(".permitry") / "rules.toml"
ADMIN_FILE = Path("/etc/permitry/rules.toml")


def find_layers(workspace: Path, *, user_file: Path | None = None, admin_file: Path = ADMIN_FILE) -> list[Origin]:
    """Return the rule files in force for `workspace`, lowest layer first; files that do not exist are left out.

    The shipped layer is `permitry:base`; the user's is `rules.toml` in the user's configuration folder; the
    project's is `.permitry/rules.toml`, found upward from `workspace`, and is not trusted: its restrictions count,
    its permissions do not; the admin's is `/etc/permitry/rules.toml`.

    Raises: `ConfigError` when the admin file could have been written by someone other than root.
    """
    user = user_file or platformdirs.user_config_path("permitry") / "rules.toml"
    project = _find_upward(workspace)
    layers = [Origin("permitry:base")]
    if user.is_file():
        layers.append(Origin(str(user)))
    if project is not None and project != user:
        layers.append(Origin(str(project), is_trusted=False))
    if os.path.lexists(admin_file):
        _check_admin(admin_file)
        layers.append(Origin(str(admin_file), is_admin=True))
    return layers


def default_record() -> Path:
    """Return where the record goes unless told otherwise: `audit.jsonl` in the user's state folder."""
    return platformdirs.user_state_path("permitry") / "audit.jsonl"


def _find_upward(workspace: Path) -> Path | None:
    start = workspace.resolve()
    return next(
        (folder / PROJECT_FILE for folder in (start, *start.parents) if (folder / PROJECT_FILE).is_file()), None
    )


def _check_admin(path: Path) -> None:
    for each in (path, path.parent):
        status = each.stat()
        if status.st_uid != 0 or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            message = f"`{each}` is not owned by root, or others may write it"
            raise ConfigError([Problem(str(path), 0, 0, 0, message, "chown root and chmod go-w")])
