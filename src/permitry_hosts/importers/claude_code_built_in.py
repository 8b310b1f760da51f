"""What Claude Code has built in: the removal of critical paths, protected paths, and what it permits unasked."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from permitry.config.rule_text import Draft

__all__ = ["ASSIGNS", "WRITERS", "built_in", "folders_of"]

WRITERS = ("Edit", "MultiEdit", "NotebookEdit", "Write")
_PROTECTED = [".git", ".git/**", ".claude", ".claude/**", ".mcp.json", ".npmrc", "~/.bashrc", "~/.zshrc", "~/.profile"]
ASSIGNS = r"(?s)(?:.*[;&|(\n]\s*)?[A-Za-z_][A-Za-z0-9_]*=.*"
_ASSIGNS_SAFELY = r"(?s)(?:NODE_ENV=[A-Za-z0-9_]*\s+)[^=]*"
_CHANGE_FILES = ["mkdir *", "touch *", "rm *", "rmdir *", "mv *", "cp *", "sed *"]
_UNASKED = (
    "Agent", "AskUserQuestion", "CronCreate", "CronDelete", "CronList", "EnterPlanMode", "SendMessage", "Task",
    "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate", "TodoWrite", "ToolSearch",
)  # fmt: skip
"""Tools that need no permission and change the session alone; the calls of an agent are decided one by one.

Source: the tools reference of Claude Code.
"""

_BYPASS = {"mode": ["yolo", "bypassPermissions"]}


def folders_of(table: Mapping[str, Any]) -> list[str]:
    """Return the folders next to the workspace that permissions name; not those that may be patterns."""
    listed = table.get("additionalDirectories", [])
    folders = [folder for folder in listed if isinstance(folder, str)] if isinstance(listed, list) else []
    return [folder.rstrip("/") for folder in folders if re.fullmatch(r"(~?/)?[\w. -]+(/[\w. -]+)*/?", folder)]


def built_in(folders: Sequence[str]) -> list[Draft]:
    """Return the rules; `folders` belong to the workspace."""
    workspace = ["**", *(f"{folder}/**" for folder in folders if ".." not in folder)]
    here = {"path": workspace, "mode": "acceptEdits"}
    protected = ({"path": _PROTECTED, "access": "write"},)
    return [
        Draft("confirm", ("Bash",), {"command": ["rm *", "rmdir *"], "path": ["/", "~", "/*"]}),
        Draft("confirm", ("*",), {"path": _PROTECTED, "access": "write"}, (_BYPASS,)),
        # A permission for a command is none for it with variables that may change what it does.
        Draft(
            "confirm",
            ("Bash",),
            {"args": {"command": {"exists": True, "regex": ASSIGNS}}},
            (_BYPASS, {"args": {"command": {"regex": _ASSIGNS_SAFELY}}}),
        ),
        Draft("allow", _UNASKED),
        Draft("allow", WRITERS, here, protected),
        Draft("allow", ("Bash",), {"command": _CHANGE_FILES, **here}, protected),
    ]
