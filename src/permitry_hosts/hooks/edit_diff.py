"""What an edit by a tool of a host would change, as a diff for the human who is asked."""

import contextlib
import difflib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from permitry.core.call import ToolCall
from permitry.files import open_regular

__all__ = ["diff_of"]

# As the tools of the hosts name them.
_PATHS = ("file_path", "path", "filePath", "filepath", "filename", "notebook_path")
_CONTENTS = ("content", "contents", "file_text")
_PAIRS = (("old_string", "new_string"), ("old_str", "new_str"), ("oldString", "newString"))
_ALL = ("replace_all", "replaceAll")
_PATCHES = ("patch", "input", "diff", "patchText")
_PATCH_BEGINS = ("*** Begin Patch", "--- ", "diff --git ", "------- SEARCH", "<<<<<<< SEARCH")
_LARGEST = 1024 * 1024
_MOST_LINES = 4_000


@attrs.frozen
class _Edit:
    old: str
    new: str
    is_everywhere: bool


def diff_of(call: ToolCall, folder: str) -> str | None:
    """Return what a call would change in a file, as a unified diff; None for one that is not an edit of one file.

    The file is read as it is now, up to 1 MiB, from the folder of the agent; a link is not followed. An edit whose text
    is not in it is shown by itself.
    """
    given = call.arguments
    patch, path, content = (_text(given, names) for names in (_PATCHES, _PATHS, _CONTENTS))
    if patch.lstrip().startswith(_PATCH_BEGINS):
        return patch
    if not path:
        return None
    if content:
        return _diff(path, _read(Path(folder, path)), content)
    edits = list(_edits(given))
    if not edits:
        return None
    before = _read(Path(folder, path))
    after = _apply(before, edits)
    if after == before:
        return "".join(_diff(path, edit.old, edit.new) for edit in edits)
    return _diff(path, before, after)


def _text(given: Mapping[str, Any], names: Sequence[str]) -> str:
    """Return the text that is given under the first of some names; empty where none is."""
    return next((text for text in map(given.get, names) if isinstance(text, str)), "")


def _edits(given: Mapping[str, Any]) -> Iterator[_Edit]:
    several = given.get("edits", (given,))
    if isinstance(several, list | tuple):
        for each in several:
            yield from _edits_in(each)


def _edits_in(each: object) -> Iterator[_Edit]:
    if not isinstance(each, Mapping):
        return
    for old_name, new_name in _PAIRS:
        match each.get(old_name), each.get(new_name):
            case str(old), str(new):
                yield _Edit(old, new, _is_everywhere(each))


def _is_everywhere(each: Mapping[str, Any]) -> bool:
    return True in map(each.get, _ALL)


def _read(path: Path) -> str:
    """Return the text of a file; empty where there is none, or it is too large."""
    with contextlib.suppress(OSError, ValueError), open_regular(path) as (stream, _):
        data = stream.read(_LARGEST + 1)
        if len(data) <= _LARGEST:
            return data.decode()
    return ""


def _apply(text: str, edits: Sequence[_Edit]) -> str:
    """Return a text with edits made one after the other; as it was where one does not fit."""
    after = text
    for edit in edits:
        if not edit.old or edit.old not in after:
            return text
        after = after.replace(edit.old, edit.new, -1 if edit.is_everywhere else 1)
    return after


def _diff(path: str, before: str, after: str) -> str:
    old, new = before.splitlines(), after.splitlines()
    if len(old) + len(new) > _MOST_LINES:
        return f"({len(old)} lines become {len(new)}; too many to compare)"
    lines = difflib.unified_diff(old, new, path, path, lineterm="")
    return "".join(f"{line}\n" for line in lines)
