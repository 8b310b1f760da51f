"""`permitry setup`: rules, trust, hooks and a trial of them, shown as a plan, done at one word, and undone at one."""

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import attrs

from permitry.cli.inputs import tell
from permitry.cli.main import ExitCode
from permitry.cli.render import print_table
from permitry.config.folders import PROJECT_FILE, user_state
from permitry.config.layers import find_project
from permitry.config.starter import kinds_of
from permitry.config.trust import TrustStore
from permitry.core.texts import one_line
from permitry.errors import PermitryError
from permitry_hosts.cli import hook_settings
from permitry_hosts.cli.hook import examine_hooks, options_of, total_seconds
from permitry_hosts.cli.init import found_in, text_for, write_rules
from permitry_hosts.hooks.hosts import HOSTS, find_hosts, host_named
from permitry_hosts.hooks.install import installed
from permitry_hosts.setup.journal import Journal, Setup, Touched

__all__ = ["configure"]

_RULES, _TRUST = "rules", "trust"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry setup`."""
    add = parser.add_argument
    add("folder", nargs="?", type=Path, default=Path(), metavar="DIR", help="the project; default: .")
    which = f"the coding agent, one of {', '.join(HOSTS)}; may be given again; default: all that have a folder"
    add("--host", action="append", choices=HOSTS, metavar="HOST", help=which)
    only = "let the hook restrict alone; the default is `--grant`: what the rules permit runs unasked"
    add("--no-grant", action="store_true", help=only)
    add("--yes", action="store_true", help="do it without asking")
    add("--undo", action="store_true", help="put back each file as it was before the last setup of this project")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> ExitCode:
    """Show the plan, do it at one word, and try out the hooks; or undo it."""
    if not options.folder.is_dir():
        raise PermitryError(f"`{options.folder}` is not a directory; name the folder of a project")
    folder = _project_of(options.folder)
    return _undo(folder, options) if options.undo else _set_up(folder, options)


@attrs.frozen
class _Step:
    """One thing that is done, or why it is not: then `file` is None. `part` is what it is called in the journal."""

    part: str
    text: str
    file: Path | None = None
    do: Callable[[], object] | None = None
    notices: Sequence[str] = ()


def _project_of(folder: Path) -> Path:
    """Return the folder of the project that a folder is in: a nearer rule file would hide that one's."""
    found = find_project(folder)
    return Path(os.path.realpath(folder if found is None else found.parent.parent))


def _set_up(folder: Path, options: argparse.Namespace) -> ExitCode:
    steps = list(_plan(folder, options))
    _show_plan(folder, steps)
    todo = [step for step in steps if step.file is not None]
    if todo:
        if not _is_confirmed(options, "do this?"):
            return ExitCode.NEEDS_CONFIRMATION
        _carry_out(folder, todo)
    for step in todo:
        tell(step.notices)
    code = ExitCode(examine_hooks(argparse.Namespace(host=None, json=False)))
    hosts = ", ".join(step.part for step in todo if step.part in HOSTS)
    if hosts:
        tell([f"start {hosts} again: a session that runs has not read its new settings"])
    if todo:
        tell([f"to put all of it back: permitry setup --undo {one_line(str(folder))}"])
    return code


def _plan(folder: Path, options: argparse.Namespace) -> Iterator[_Step]:
    """Yield what is to be done, in order.

    Raises: `PermitryError` where no hook can be installed.
    """
    hosts = options.host or find_hosts(Path.home())
    if not hosts:
        raise PermitryError(f"no coding agent has a folder in `{Path.home()}`; name it with --host: {', '.join(HOSTS)}")
    hooks = [_plan_hook(host, options) for host in dict.fromkeys(hosts)]
    yield from _plan_project(folder)
    yield from hooks


def _plan_project(folder: Path) -> Iterator[_Step]:
    file = folder / PROJECT_FILE
    if any(os.path.realpath(each).startswith(f"{folder}/") for each in (Path.home() / "x", user_state())):
        yield _Step(_RULES, "none: your own files are in this folder; run this again in the folder of a project")
    elif file.parent.is_symlink():
        yield _Step(_RULES, f"none: `{PROJECT_FILE}` is through a link; remove that first")
    elif os.path.lexists(file):
        is_trusted = TrustStore().is_trusted(file)
        yield _Step(_RULES, f"`{PROJECT_FILE}` stays as it is")
        read = "not trusted, as it was there before: read it, then `permitry trust` lets its permissions count"
        yield _Step(_TRUST, "given already" if is_trusted else read)
    elif not kinds_of(folder) and not (folder / ".git").exists():
        yield _Step(_RULES, "none: no project is found here; run this again in the folder of one")
    else:
        yield from _plan_rules(folder, file)


def _plan_rules(folder: Path, file: Path) -> Iterator[_Step]:
    text = text_for(folder, is_for_host=True)
    listed = [line.strip().strip('",') for line in text.splitlines() if line.startswith('  "')]
    what = f"kinds of project found: {found_in(folder)}; permitted are {', '.join(listed)}"
    yield _Step(_RULES, what, file, partial(write_rules, folder, text))
    store = TrustStore()
    # INVARIANT: law 6. What an agent puts there meanwhile, the user has not seen.
    trust = partial(store.trust, folder, only=text.encode())
    yield _Step(_TRUST, "the rules count, as long as no byte of them changes", store.path, trust)


def _plan_hook(host: str, options: argparse.Namespace) -> _Step:
    path = Path.home() / host_named(host).settings.user
    try:
        words = ["install", host, *_words(host, path, is_granting=not options.no_grant)]
        hook = options_of(*words)
        change = hook_settings.plan_change(hook, total_seconds(hook))
    except PermitryError as error:
        if options.host or len(find_hosts(Path.home())) == 1:
            raise
        return _Step(host, f"left out: {error}")
    if change.before == change.after:
        return _Step(host, "its hook is installed already")
    asked = "runs unasked what they permit" if hook.grant else "asks as before"
    if hook.grant and not host_named(host).takes_permissions:
        asked = "asks as before, as it takes no permission from a hook"
    text = f"a hook, in all projects: {host} runs nothing that the rules block, and {asked}"
    return _Step(host, text, path, partial(hook_settings.carry_out, change, hook), hook_settings.notices(hook, path))


def _words(host: str, path: Path, *, is_granting: bool) -> list[str]:
    """Return the options of the hook: those that it has where it is installed already, and `--grant` if it grants."""
    command = installed(host_named(host), path) or ["hook", host]
    words = command[command.index("hook") + 2 :]
    return words if "--grant" in words or not is_granting else ["--grant", *words]


def _carry_out(folder: Path, steps: Sequence[_Step]) -> None:
    """Do all steps; what each file was before is on the disk first."""
    journal = Journal(user_state() / "setup.json")
    setup = Setup.before(folder, [Touched.of(step.file, step.part) for step in steps if step.file is not None])
    journal.add(setup)
    try:
        for step in steps:
            if step.do is not None:
                step.do()
    finally:
        journal.replace(setup, attrs.evolve(setup, files=tuple(each.since() for each in setup.files)))


def _show_plan(folder: Path, steps: Sequence[_Step]) -> None:
    rows = [(step.part, one_line(step.text), "" if step.file is None else _short(step.file)) for step in steps]
    columns = ("step", "what happens", "file that is written")
    title = f"permitry setup: {one_line(str(folder))}"
    print_table(sys.stdout, columns, [*rows, ("doctor", "the hooks are tried out; no call is run", "")], title)


def _short(path: Path) -> str:
    home = str(Path.home())
    text = str(path)
    return one_line(f"~{text.removeprefix(home)}" if text.startswith(f"{home}/") else text)


def _is_confirmed(options: argparse.Namespace, question: str) -> bool:
    """Return whether the user agrees; without a terminal there is none to ask."""
    if options.yes:
        return True
    if sys.stdin is None or not sys.stdin.isatty():
        tell(["nothing was changed: there is no terminal to ask on; with --yes it is done"])
        return False
    print(f"{question} [y]es/[n]o: ", end="", flush=True)
    line = sys.stdin.readline()
    if line.strip().lower() in ("y", "yes") and line.endswith("\n"):
        return True
    tell(["nothing was changed"])
    return False


# Undoing ----------------------------------------------------------------------------------------------------------


def _undo(folder: Path, options: argparse.Namespace) -> ExitCode:
    journal = Journal(user_state() / "setup.json")
    setup = journal.last(folder)
    if setup is None:
        known = ", ".join(sorted({f"`{each.folder}`" for each in journal.setups()})) or "none"
        raise PermitryError(f"there was no setup of `{folder}`; setups that can be undone: {known}")
    _show_files(setup)
    if not _is_confirmed(options, "put these back?"):
        return ExitCode.NEEDS_CONFIRMATION
    put_back = setup.undo(partial(_is_gone, setup))
    journal.replace(setup, None)
    tell([f"put back: {', '.join(map(_short, put_back)) or 'nothing was left to put back'}"])
    hosts = ", ".join(each.part for each in setup.files if each.part in HOSTS)
    if hosts:
        tell([f"start {hosts} again: a session that runs still asks the hook"])
    if journal.last(folder) is not None:
        tell(["an earlier setup of this project is left; the same command undoes it"])
    return ExitCode.OK


def _show_files(setup: Setup) -> None:
    rows = [(_short(each.path), _becomes(each)) for each in setup.files]
    title = f"permitry setup --undo: {one_line(str(setup.folder))}"
    print_table(sys.stdout, ("file", "what happens"), rows, title)


def _becomes(file: Touched) -> str:
    if file.is_as_before:
        return "already as before"
    return "removed, as there was none" if file.before is None else "as it was before"


def _is_gone(setup: Setup, file: Touched) -> bool:
    """Return whether a file that was changed since has nothing of the setup any more.

    Raises: `PermitryError` for a file that cannot be read.
    """
    if file.part in HOSTS:
        return installed(host_named(file.part), file.path) is None
    return file.part == _TRUST and all(pin.root != setup.folder for pin in TrustStore().entries())
