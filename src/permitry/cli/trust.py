"""`permitry trust`: which projects may permit, and which plugin folders may be loaded, pinned to their bytes."""

import argparse
from pathlib import Path

import attrs

from permitry.cli.inputs import print_result
from permitry.cli.main import ExitCode
from permitry.config.layers import PROJECT_FILE, find_project
from permitry.config.pin import Pin, PluginPin, Project, ProjectFile, real_path
from permitry.config.trust import TrustStore
from permitry.core.texts import one_line
from permitry.dispatch.plugin_folder import PluginFolder
from permitry.errors import PermitryError, count

__all__ = ["configure"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry trust`."""
    parser.add_argument(
        "folder", nargs="?", type=Path, metavar="DIR",
        help=f"the folder that holds {PROJECT_FILE}, or a folder of plugins; "
        "default: the nearest project, from the current folder upward",
    )  # fmt: skip
    doing = parser.add_mutually_exclusive_group()
    doing.add_argument("--list", action="store_true", help="list what is trusted, and what has changed since")
    doing.add_argument("--revoke", action="store_true", help="trust the folder no more")
    parser.add_argument("--json", action="store_true", help="print one JSON object a project, and nothing else")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> ExitCode:
    """Trust a project, trust it no more, or list what is trusted."""
    store = TrustStore()
    if options.list:
        return _list(store, options)
    return _revoke(store, options) if options.revoke else _trust(store, options)


def _trust(store: TrustStore, options: argparse.Namespace) -> ExitCode:
    folder: Path = _nearest() if options.folder is None else options.folder
    if _holds_plugins(folder):
        plugins = store.trust_plugins(folder)
        print_result(options, _plugins_as_json(plugins), _plugins_as_text(plugins))
        return ExitCode.OK
    project = store.trust(folder)
    print_result(options, _as_json(project), _as_text(project))
    return ExitCode.OK


def _holds_plugins(folder: Path) -> bool:
    return not (folder / PROJECT_FILE).exists() and any(folder.glob("*.py"))


def _nearest() -> Path:
    found = find_project(Path())
    if found is None:
        raise PermitryError(f"there is no `{PROJECT_FILE}` here or above; name the folder of a project")
    return found.parent.parent


def _revoke(store: TrustStore, options: argparse.Namespace) -> ExitCode:
    known = [pin.root for pin in store.entries()]
    # The project's files may be gone, so what is searched upward is a folder that was trusted.
    here = Path.cwd()
    near = [folder for folder in (here, *here.parents) if folder in known] if options.folder is None else []
    root = near[0] if near else real_path(options.folder or here)
    if not store.revoke(root):
        raise PermitryError(f"`{root}` is not trusted; `permitry trust --list` shows what is")
    print_result(options, {"project": str(root), "trusted": False}, _line("revoked", root))
    return ExitCode.OK


def _list(store: TrustStore, options: argparse.Namespace) -> ExitCode:
    if options.folder is not None:
        raise PermitryError("`--list` lists all projects; leave the folder out")
    for pin in store.entries():
        trusted = pin.holds()
        kind = "plugins" if isinstance(pin, PluginPin) else "project"
        row = {kind: str(pin.root), "digest": pin.digest, "trusted": trusted}
        print_result(options, row, _line("trusted" if trusted else "changed", pin.root, pin))
    return ExitCode.OK


def _as_json(project: Project) -> dict[str, object]:
    files = [{"file": each.name, "sha256": each.digest, **_counts(each)} for each in project.files]
    return {"project": str(project.root), "digest": project.pin.digest, "trusted": True, "files": files}


def _counts(file: ProjectFile) -> dict[str, object]:
    return attrs.asdict(file, filter=lambda field, _: field.name not in ("name", "digest"))


def _plugins_as_json(plugins: PluginFolder) -> dict[str, object]:
    files = [{"file": name, "sha256": digest} for name, digest in plugins.digests.items()]
    pin = PluginPin(plugins.path, plugins.digests)
    return {"plugins": str(plugins.path), "digest": pin.digest, "trusted": True, "files": files}


def _plugins_as_text(plugins: PluginFolder) -> str:
    head = _line("trusted", plugins.path, PluginPin(plugins.path, plugins.digests))
    return "\n".join([head, *(f"  {one_line(name)}" for name in plugins.files)])


def _as_text(project: Project) -> str:
    shown = [file for file in project.files if not _only_restricts(file)]
    lines = [_line("trusted", project.root, project.pin), *map(_file_line, shown)]
    if left := len(project.files) - len(shown):
        lines.append(f"  {count(left, 'shipped set')} without permissions")
    return "\n".join(lines)


def _only_restricts(file: ProjectFile) -> bool:
    grants = file.permissions or file.templates or file.tools or file.lists or file.programs or file.unmatched
    return file.digest is None and not grants


def _line(state: str, root: Path, pin: Pin | None = None) -> str:
    line = f"{state} {one_line(str(root))}"
    return line if pin is None else f"{line}\n  digest {pin.digest}"


def _file_line(file: ProjectFile) -> str:
    counts = [count(getattr(file, f"{noun}s"), noun) for noun in ("permission", "template", "tool", "restriction")]
    if file.lists:
        counts.append(count(file.lists, "list"))
    if file.programs:
        counts.append(count(file.programs, "record of a program", "records of programs"))
    if file.unmatched is not None:
        counts.append(f"what no rule matches: {file.unmatched}")
    return f"  {one_line(file.name)}: {', '.join(counts)}"
