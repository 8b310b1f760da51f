"""What the arguments of an undeclared tool seem to be: a draft of its declaration, for the author of rules.

Nothing is decided by it.
"""

import re
from collections.abc import Mapping

from permitry.core.call import ToolCall
from permitry.core.spec import ArgumentRole

__all__ = ["declaration", "folder_declaration", "likely_roles"]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_NAMES = (
    (re.compile(r"(shell_?)?(command|cmd|script)", re.IGNORECASE), ArgumentRole.COMMAND),
    (re.compile(r"(.*_)?(url|uri|href|link|endpoint)|.*(Url|Uri|URL)"), ArgumentRole.URL),
    (re.compile(r".*(path|file|folder|directory)(_?name)?|dir", re.IGNORECASE), ArgumentRole.WRITE_PATH),
)
_VALUES = (
    (re.compile(r"[a-z][a-z0-9+.-]*://.*", re.DOTALL), ArgumentRole.URL),
    (re.compile(r"(/|~/|\.\.?/)\S*"), ArgumentRole.WRITE_PATH),
)


def likely_roles(call: ToolCall) -> Mapping[str, ArgumentRole]:
    """Return the arguments that look like a command, an address or a path, by their names, else by their values."""
    texts = {name: value for name, value in call.arguments.items() if isinstance(value, str)}
    found = {name: _role(name, value) for name, value in texts.items()}
    return {name: role for name, role in found.items() if role is not None}


def declaration(call: ToolCall) -> tuple[str, ...]:
    """Return the lines of a table `[tool.NAME]` with the likely roles; empty if there are none."""
    roles = likely_roles(call)
    if not roles:
        return ()
    return (f"[tool.{_key(call.tool)}]", *(f"roles.{_key(name)} = {_value(role)}" for name, role in roles.items()))


def folder_declaration(call: ToolCall) -> tuple[str, ...]:
    """Return the lines to add where it is not known in which folder the tool of a server looks for relative paths."""
    return (f"[tool.{_key(call.tool)}]", 'folder = "."  # where its server looks for relative paths, such as "~/notes"')


def _role(name: str, value: str) -> ArgumentRole | None:
    by_name = (role for pattern, role in _NAMES if pattern.fullmatch(name))
    by_value = (role for pattern, role in _VALUES if pattern.fullmatch(value))
    return next(by_name, None) or next(by_value, None)


def _value(role: ArgumentRole) -> str:
    # Whether a path is read or written cannot be seen; a path that is written is judged more strictly.
    return f'"{role.value}"' + ("  # or read_path, delete_path" if role is ArgumentRole.WRITE_PATH else "")


def _key(name: str) -> str:
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    return name if _BARE.fullmatch(name) else f'"{quoted}"'
