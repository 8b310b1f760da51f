"""`permitry hook`: answer a coding agent that asks before it runs a tool, and put that into its settings."""

import argparse
import contextlib
import functools
import io
import os
import sys
from collections.abc import Callable
from pathlib import Path

import attrs

from permitry.cli.inputs import add_rules_option
from permitry.errors import CallError, PermitryError, safe_str
from permitry_hosts.hooks.answering import UNDECIDED, Options, answer
from permitry_hosts.hooks.deadline_process import DEADLINE, supervise
from permitry_hosts.hooks.host import Reply
from permitry_hosts.hooks.hosts import HOSTS, host_named
from permitry_hosts.hooks.policies import Policies
from permitry_hosts.hooks.request import LARGEST, HandedOverError, Request, limit
from permitry_hosts.hooks.stores import Stores

__all__ = ["configure", "examine_hooks", "options_of", "total_seconds"]

_WAIT = 60.0
_LONGEST_WAIT = 1800
_STORE = "a file `.db`, or the address of a PostgreSQL; default: permitry.db in your state folder"
_LONGEST_PATIENCE = 10.0


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry hook`."""
    commands = parser.add_subparsers(metavar="HOST", required=True)
    for name in HOSTS:
        parser = commands.add_parser(name, allow_abbrev=False, help=f"answer {name}")
        _add_options(parser)
        parser.add_argument("--start-resident", action="store_true", help="start the resident, for later calls")
        parser.set_defaults(execute=execute, host=name)
    parser = commands.add_parser("doctor", allow_abbrev=False, help="try out the hooks that are installed")
    parser.add_argument("host", choices=HOSTS, nargs="?", metavar="HOST", help="this one; otherwise all that are there")
    parser.add_argument("--json", action="store_true", help="print one JSON object for each finding")
    parser.set_defaults(execute=examine_hooks)
    parser = commands.add_parser("resident", allow_abbrev=False, help="answer the hooks of this user, until none come")
    parser.set_defaults(execute=_reside)
    for name, summary in (("install", "put the hook into the settings of a host"), ("uninstall", "take it out again")):
        parser = commands.add_parser(name, allow_abbrev=False, help=summary)
        parser.add_argument("host", choices=HOSTS, metavar="HOST", help=", ".join(HOSTS))
        where = parser.add_mutually_exclusive_group()
        where.add_argument("--project", action="store_true", help="in the settings of this folder, not of the user")
        where.add_argument("--managed", action="store_true", help="in those of the machine, as root: no project counts")
        parser.add_argument("--dry-run", action="store_true", help="show what would change, and change nothing")
        if name == "install":
            _add_options(parser)
        parser.set_defaults(execute=_change_settings, is_install=name == "install")


def _add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_rules_option(parser, observes=True)
    add("--grant", action="store_true", help="let permissions count: the host runs what the rules allow, unasked")
    ask = "what becomes of questions that the host cannot ask: refuse (the default), or wait[=SECONDS] for an answer"
    add("--ask", type=_seconds, default=0, metavar="refuse|wait", help=ask)
    add("--deadline", type=float, metavar="SECONDS", help="block what takes longer; default: 20")
    add("--store", metavar="STORE", help=f"what keeps record, questions and grants: {_STORE}")
    add("--record", metavar="FILE", help="another store, or a file, that the record is added to; default: the store")


def _seconds(text: str) -> float:
    """Return how long a hook waits for a human."""
    word, _, seconds = text.partition("=")
    if text == "refuse":
        return 0
    wait = float(seconds) if "=" in text else _WAIT
    if word != "wait" or not 0 < wait <= _LONGEST_WAIT:
        raise argparse.ArgumentTypeError(f"refuse, wait, or wait=SECONDS of at most {_LONGEST_WAIT}, not `{text}`")
    return wait


def execute(options: argparse.Namespace) -> int:
    """Read the payload from standard input, and print the reply."""
    own = _options(options)
    work = functools.partial(_answer, options.host, own)
    if options.start_resident:
        # Others may wait for it. Whatever becomes of it, this call is answered here.
        with contextlib.suppress(Exception):
            from permitry_hosts.hooks.resident import start  # seldom needed

            start()
    if sys.stdin is not None and sys.stdin.isatty():
        line = (
            f"permitry: {options.host} writes its payload here; to have it do so: permitry hook install {options.host}"
        )
        print(line, file=sys.stderr)
    reply = _too_long(options) or supervise(work, _fail(options), total_seconds(options))
    if reply.err:
        print(reply.err, file=sys.stderr)
    if reply.out:
        print(reply.out)
    return reply.code


def _fail(options: argparse.Namespace) -> Callable[[str], Reply]:
    """Return what makes the reply that blocks a call for some problem."""
    host = host_named(options.host)
    return lambda problem: host.fail(UNDECIDED.format(problem))


def _too_long(options: argparse.Namespace) -> Reply | None:
    """Return the reply where the host would not wait for the decision."""
    longest = host_named(options.host).settings.longest
    return (
        _fail(options)(f"a hook of this host may take {longest:g} seconds")
        if total_seconds(options) > longest
        else None
    )


def examine_hooks(options: argparse.Namespace) -> int:
    """Try out the hooks of a host, or of all that have one."""
    from permitry_hosts.cli.hook_doctor import examine  # slow to import, and seldom asked for

    return examine(options, _parse, total_seconds)


def _reside(_: argparse.Namespace) -> int:
    from permitry.config.rule_memory import RuleMemory  # a hook that answers needs neither
    from permitry_hosts.hooks.places import place
    from permitry_hosts.hooks.resident import Resident

    if not sys.flags.isolated:
        # What answers all later calls must not be what the environment of one of them says.
        raise PermitryError("the resident is started by the installed hook, as `python -I -m permitry hook resident`")
    stores = Stores(is_kept=True)
    Resident(place(), functools.partial(respond, Policies(RuleMemory()), stores), stores.close).run()
    return 0


def respond(policies: Policies, stores: Stores, request: Request) -> Reply:
    """Return the reply to a request, as the hook in process gives it.

    Raises: `HandedOverError` when another process waits for a human.
    """
    options = _parse(request.words)
    if isinstance(options, str):
        return Reply(err=options, code=2)
    fail, total = _fail(options), total_seconds(options)

    def wait() -> None:
        # INVARIANT: a store of SQLite that is open must not be carried into another process.
        stores.close()
        request.hand_over(total)

    own = attrs.evolve(
        _options(options), process=request.process, policies=policies, stores=stores, before_waiting=wait
    )
    try:
        limit(total)
        environ = {**os.environ, "PWD": str(Path.cwd())}
        return _too_long(options) or answer(options.host, request.payload, own, environ)
    except HandedOverError:
        raise
    except BaseException as error:  # noqa: BLE001 -- whatever happens, the call is blocked
        return fail(f"{type(error).__name__}: {safe_str(error)}")


def options_of(*words: str) -> argparse.Namespace:
    """Return what words after `permitry hook` mean."""
    parser = argparse.ArgumentParser(prog="permitry hook", allow_abbrev=False)
    configure(parser)
    return parser.parse_args(words)


@functools.lru_cache(maxsize=64)
def _parse(words: tuple[str, ...]) -> argparse.Namespace | str:
    """Return the options in the words of a client, or what is wrong with them."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            options = options_of(*words)
    except SystemExit:
        return said.getvalue().strip()
    return options if options.execute is execute else "the resident answers hosts, and nothing else"


def _options(options: argparse.Namespace) -> Options:
    """Return how a hook is to answer; a store that is locked is given up in time to say so."""
    deadline = DEADLINE if options.deadline is None else options.deadline
    return Options(
        options.rules, options.grant, options.record, options.ask, store=options.store,
        patience=min(_LONGEST_PATIENCE, deadline / 4), observed=options.observe,
    )  # fmt: skip


def total_seconds(options: argparse.Namespace) -> float:
    """Return how many seconds the hook may take, with what it waits for a human; 0 where it is taken out."""
    if not getattr(options, "is_install", True):
        return 0
    return float(options.ask + (DEADLINE if options.deadline is None else options.deadline))


def _change_settings(options: argparse.Namespace) -> int:
    from permitry_hosts.cli.hook_settings import change_settings  # a hook that answers does not need it

    return change_settings(options, total_seconds(options))


def _answer(name: str, options: Options) -> Reply:
    data = sys.stdin.buffer.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise CallError(f"the payload is larger than {LARGEST} bytes")
    return answer(name, data, options, {**os.environ, "PWD": str(Path.cwd())})
