"""A change of settings that a session is about to take over: what would end its guard is refused.

A host that takes one change over reads all files again, also one whose change was refused before. So all of them are
looked at, and what was refused is noted.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from permitry.errors import PermitryError
from permitry_hosts.hooks.host import Event, Host
from permitry_hosts.hooks.install import installed, others
from permitry_hosts.hooks.managed import find_managed
from permitry_hosts.hooks.switches import check_switches, parse_settings, read_settings

__all__ = ["find_refusal"]

_REFUSED = "permitry refuses this change of settings for the running session: {why}"
_GONE = "no file of settings has its hook any more"
_PROGRAMS = "`{path}` names programs that start by themselves; they start with the next session"


def find_refusal(host: Host, event: Event, notes: Path) -> str | None:
    """Return why a change must not count in the session; None where the hook goes on as before.

    `notes` is the file of the session that refusals are noted in.

    Raises: `OSError`.
    """
    users, project = Path.home() / host.settings.user, Path(event.workspace, host.settings.project)
    projects = [path for path in (project, *map(project.parent.joinpath, host.settings.elsewhere)) if path != users]
    changed = [] if event.changed is None else [Path(event.changed)]
    managed = [path for path in (find_managed(host),) if path is not None]
    try:
        for path in (users, *projects, *changed):
            check_switches(host, path)
        if all(installed(host, path) is None for path in (users, *projects, *changed, *managed)):
            return _REFUSED.format(why=_GONE)
        for path in _find_refused(host, projects, changed, notes):
            return _REFUSED.format(why=_PROGRAMS.format(path=path))
    except PermitryError as error:
        return _REFUSED.format(why=error)
    return None


def _find_refused(host: Host, projects: list[Path], changed: list[Path], notes: Path) -> Iterator[Path]:
    """Yield files of a project by which programs would start that the session did not begin with."""
    known = set(read_settings(notes).split())
    for path in projects:
        text = read_settings(path)
        if not _has_programs(host, path, text):
            continue
        digest = hashlib.sha256(f"{path}\0{text}".encode()).hexdigest()
        if path in changed or digest in known:
            with notes.open("a", encoding="utf-8") as stream:
                stream.write(f"{digest}\n")
            yield path


def _has_programs(host: Host, path: Path, text: str) -> bool:
    """Return whether settings name programs that the host starts by itself, other than ours."""
    data = parse_settings(path, text)
    if not isinstance(data, dict):
        return False
    named = {key: data[key] for key in host.settings.programs if data.get(key)}
    return bool(others(host, named.pop("hooks", {})) or named)
