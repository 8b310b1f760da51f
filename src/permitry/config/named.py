"""Rule files by their names: whether there is such a file, whether it may be read, and how it is shown."""

import os
from pathlib import Path

from permitry.config.catalogue import PREFIX, list_shipped
from permitry.config.diagnostics import nearest
from permitry.config.origin import Origin

__all__ = ["explain_missing", "out_of_bounds", "shorten_name"]

_LARGEST_UNTRUSTED = 256 * 1024


def out_of_bounds(path: Path, origin: Origin) -> tuple[str, str] | None:
    """Return message and hint if this file must not be read for a project: outside its folder, or too large."""
    if (origin.is_trusted and origin.root is None) or origin.name.startswith(PREFIX):
        return None
    if origin.root is not None and not path.is_relative_to(origin.root.resolve()):
        return f"`{origin.name}` lies outside the project", "a project extends its own files and shipped sets"
    if path.stat().st_size > _LARGEST_UNTRUSTED:
        return f"`{origin.name}` is larger than {_LARGEST_UNTRUSTED} bytes", "the project is not trusted with more"
    return None


def explain_missing(name: str, path: Path, within: tuple[Path, ...] | None = None) -> tuple[str, str] | None:
    """Return message and hint if `path`, written `name` by the user, is not a regular file.

    Or if it is not `within` some folders or files, where these are given.
    """
    try:
        if name.startswith(PREFIX):
            return _find_set(name)
        text = str(path).replace("\0", "")
        real = Path(os.path.realpath(text))
        if within is not None and not any(map(real.is_relative_to, within)):
            return f"`{name}` lies outside the folder of the rules", "extend files in it, or sets"
        return _no_file(name, path)
    except OSError as error:
        return f"`{name}` cannot be looked at: {(error.strerror or 'unknown reason').lower()}", "check the path"


def _find_set(name: str) -> tuple[str, str] | None:
    if name in list_shipped():
        return None
    known = {each.removeprefix(PREFIX) for each in list_shipped()}
    return f"there is no shipped rule set `{name}`", nearest(name.removeprefix(PREFIX), known, prefix=PREFIX)


def _no_file(name: str, path: Path) -> tuple[str, str] | None:
    if path.is_file():
        return None
    if path.is_dir():
        return f"`{name}` is a folder", "name a rule file in it"
    if path.exists():
        return f"`{name}` is not a regular file", "name a rule file"
    shipped = PREFIX + name.removeprefix("permitry/").removesuffix(".toml")
    if shipped in list_shipped():
        return f"there is no file `{name}`", f"did you mean the shipped set `{shipped}`?"
    siblings = {entry.name for entry in path.parent.glob("*.toml")} - {path.name}
    return f"there is no file `{name}`", nearest(path.name, siblings, otherwise="check the path")


def shorten_name(target: Path, extending: str) -> str:
    """Return `target` as it is shown to users: a relative path if the file that extends it is named by one."""
    if Path(extending).is_absolute():
        return str(target)
    shown = os.path.relpath(target)
    # A directory may have the prefix of shipped sets as its name; a file in it is still not a shipped one.
    return f"./{shown}" if shown.startswith(PREFIX) else shown
