"""`permitry run`: guard and run the tool calls of a session."""

import argparse
import contextlib
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import attrs

from permitry.audit.record import StoredRecorder, user_name
from permitry.channels.stored_channel import StoredChannel
from permitry.cli import prompt
from permitry.cli.always import Always
from permitry.cli.answers import AnswersChannel, read_answers
from permitry.cli.guard import SessionGuard
from permitry.cli.inputs import add_rules_option, number_lines, open_lines, origins_from, tell
from permitry.cli.logs import show_logs
from permitry.cli.main import ExitCode
from permitry.cli.renewal import Renewal, RenewingChannel
from permitry.cli.stores import STORE, record_from, store_from
from permitry.cli.story import LiveView
from permitry.cli.telemetry import add_otel_option, watched
from permitry.config.catalogue import PREFIX
from permitry.config.diagnostics import nearest
from permitry.config.folders import user_config, user_state
from permitry.config.layers import default_store
from permitry.config.load import RuleSet
from permitry.config.reload import PolicyReloader
from permitry.core.template import Template
from permitry.errors import AuditError, PermitryError, StoreError
from permitry.guard.ledgers import counters_at, grants_at, ledger_at
from permitry.guard.session import Session
from permitry.guard.session_record import begin_session
from permitry.handler import ToolHandler
from permitry.store.chained_store import Store
from permitry.store.records import is_address, record_name, recorder_at, store_at
from permitry.undo.vault import Vault
from permitry_ops.cli.toolset import Toolset, add_toolset_options, check_mode
from permitry_tools.turn_diff import TurnDiffTracker

if TYPE_CHECKING:
    from permitry.channels.webhook import WebhookChannel

__all__ = ["configure"]

_APART = 0.2
"""Changed rules count at the next decision, which waits until they are unchanged for so many seconds."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry run`."""
    add = parser.add_argument
    session = "model messages, one JSON object a line; - (the default) for standard input"
    add("session", nargs="?", default="-", metavar="SESSION.jsonl", help=session)
    add_rules_option(parser, observes=True)
    add("--workspace", default=".", metavar="DIR", help="the folder the tools work in; default: this one")
    add_toolset_options(parser)
    add("--text-calls", action="store_true", help="also take the calls that a message holds as text")
    answers = "answers to confirmation requests, one JSON object a line, each bound to a call"
    add("--answers", metavar="FILE", help=answers)
    unattended = "not at this terminal: block what needs confirmation, queue it, or wait for `permitry approve`"
    add("--unattended", choices=("block", "queue", "wait"), help=unattended)
    add("--webhook", metavar="URL", help="ask by posting to this address; its secret is in PERMITRY_WEBHOOK_SECRET")
    add("--store", metavar="STORE", help=f"where records, questions and grants are: {STORE}")
    add(
        "--principal",
        metavar="NAME",
        help="for whom the agent works, for grants and shared budgets (default: the user)",
    )
    add("--organisation", metavar="NAME", default="", help="whose shared budgets count (default: those of the store)")
    add("--mode", default="default", help="plan, yolo, default (the default), or a word your rules know")
    add("--template", metavar="NAME", help="the active template")
    add("--agent", default="main", metavar="NAME", help="the agent's name, for `when.agent`; default: main")
    add("--record", metavar="FILE", help="a file to append the record to; default: it is in the store")
    add_otel_option(parser)
    add("--diff", action="store_true", help="after each message whose calls ran, print what changed in the workspace")
    add("--json", action="store_true", help="print JSON only: the results, then one object with the summary")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> ExitCode:
    """Guard a session from its first line to its last, then print what happened."""
    show_logs()
    options.principal = options.principal or user_name()
    reloader = PolicyReloader(lambda: origins_from(options, options.workspace), apart=_APART)
    webhook = _webhook(options)
    # The record is closed last: tools that are ended with the toolset are on it.
    with contextlib.ExitStack() as stack, Toolset.open(options, Path(options.workspace)) as toolset:
        guard, recorder = _guard(options, reloader.loaded.rules, toolset, stack)
        stack.enter_context(watched(guard.handler.guard, is_on=options.otel))
        if options.unattended == "wait":
            tell([f"calls that need an answer wait for `{_approve(options)}`"])
        if webhook is not None:
            waits = options.unattended == "wait"
            guard.handler.channel = attrs.evolve(webhook, then=guard.handler.channel if waits else None)
        if guard.handler.session.shared is not None:
            stack.callback(guard.handler.session.shared.close)
        renewal = Renewal(reloader, recorder, guard.handler.guard)
        guard.renew = renewal.renew
        if isinstance(guard.handler.channel, prompt.TerminalChannel):
            guard.handler.channel = RenewingChannel(guard.handler.channel, renewal)
        _stop_on_signals()
        try:
            with open_lines(options.session) as stream:
                for number, line in number_lines(stream):
                    toolset.poll()
                    guard.line(number, line)
        except KeyboardInterrupt:
            guard.interrupted = True
        except AuditError as error:
            guard.failure = str(error)
        guard.summarize()
    return guard.exit_code


def _guard(
    options: argparse.Namespace, rules: RuleSet, toolset: Toolset, stack: contextlib.ExitStack
) -> tuple[SessionGuard, StoredRecorder]:
    workspace, registry = Path(options.workspace), toolset.registry
    tell(rules.notices)
    tell(_warn_of_exposed(toolset, workspace.resolve()))
    answers = _answers(options.answers)
    terminal = None if answers or options.unattended or options.webhook else prompt.open_terminal()
    session = Session(
        agent=options.agent,
        workspace=str(workspace.resolve()),
        active_template=_template(rules, options.template),
        attended=bool(terminal or answers or options.webhook or options.unattended == "wait"),
    )
    session.switch_mode(check_mode(rules, options.mode))
    recorder, store = _open(options, workspace.resolve(), stack)
    tracker = TurnDiffTracker(workspace) if options.diff else None
    handler = ToolHandler(session, rules.policy(), registry=registry, recorder=recorder, tracker=tracker)
    handler.undo = Vault(user_state() / "undo")
    if store is not None:
        _use_store(handler, store, options)
    if sys.stderr.isatty() and not options.json:
        registry.on_event = LiveView(sys.stderr)
    toolset.judge = handler
    begin_session(handler.guard, recorder, principal=options.principal)
    if answers is not None:
        handler.channel = answers
    elif terminal is not None:
        handler.channel = prompt.TerminalChannel(
            terminal,
            handler.explain,
            prompt.edit_in_editor,
            registry.preview,
            Always(handler, _own_file(options.rules or ())),
        )
    guard = SessionGuard(
        handler,
        record_name(record_from(options)),
        rules.files,
        asks=_describe_human(options, is_terminal=terminal is not None),
        queues=options.unattended == "queue",
        is_quiet=options.json,
        prints=options.json or not sys.stdout.isatty(),
        reads_text=options.text_calls,
        is_over=lambda: toolset.is_over,
    )
    return guard, recorder


def _webhook(options: argparse.Namespace) -> "WebhookChannel | None":
    """Return the webhook to ask through; before any program is started, which would get its secret."""
    if options.webhook is None:
        return None
    from permitry.cli.webhooks import webhook_from  # a run without one loads no client for HTTP

    return webhook_from(options)


def _open(
    options: argparse.Namespace, workspace: Path, stack: contextlib.ExitStack
) -> tuple[StoredRecorder, Store | None]:
    """Return what keeps the record, and the store, which may be the same; None for one that is away, and not needed."""
    record, place = record_from(options), store_from(options)
    for option, path in (("store", place), ("record", record)):
        if not is_address(path) and _reaches(Path(path), workspace):
            message = f"the {option} `{path}` lies in the workspace, where tools could replace it"
            raise PermitryError(f"{message}; name another with --{option}")
    store = _store(options, place, is_needed=place == record)
    recorder = StoredRecorder(store) if store is not None and place == record else recorder_at(record)
    stack.callback(recorder.close)
    if store is not None:
        # Twice is harmless.
        stack.callback(store.close)
    return recorder, store


def _store(options: argparse.Namespace, place: str, *, is_needed: bool) -> Store | None:
    try:
        return store_at(place)
    except StoreError as error:
        if is_needed or options.store is not None or options.unattended == "wait":
            raise
        tell([f"no grant counts: {error}"])
        return None


def _use_store(handler: ToolHandler, store: Store, options: argparse.Namespace) -> None:
    """Let the grants and shared budgets of a store count, and ask there if the run waits for answers."""
    handler.grants = grants_at(store, principal=options.principal)
    handler.session.shared = counters_at(store, principal=options.principal, organisation=options.organisation)
    if options.unattended == "wait":
        handler.ledger = ledger = ledger_at(store)
        handler.channel = StoredChannel(ledger.store)


def _own_file(named: Sequence[str]) -> Path:
    """Return the rule file to which the user's own rules are added: the first that is named, or the user's."""
    own = (Path(name) for name in named if not name.startswith(PREFIX))
    return next(own, user_config() / "rules.toml")


def _describe_human(options: argparse.Namespace, *, is_terminal: bool) -> str:
    if options.answers:
        return f"answered from {options.answers}"
    if options.unattended == "queue":
        return "queued for later"
    if options.webhook is not None:
        return "asked through the webhook"
    if options.unattended == "wait":
        return f"answered with `{_approve(options)}`"
    return "asked at the terminal" if is_terminal else "not asked, as no one is there"


def _approve(options: argparse.Namespace) -> str:
    store = store_from(options)
    return "permitry approve" + ("" if store == str(default_store()) else f" --store {record_name(store)}")


def _stop_on_signals() -> None:
    for each in (signal.SIGTERM, signal.SIGHUP):
        # `nohup` and its like have a say; and only the main thread may listen.
        if signal.getsignal(each) is signal.SIG_DFL and threading.current_thread() is threading.main_thread():
            signal.signal(each, _stop)


def _stop(number: int, _: object) -> NoReturn:
    # Ended from outside as from the keyboard: the tool that runs is killed, and what happened is reported.
    raise KeyboardInterrupt(number)


def _warn_of_exposed(toolset: Toolset, workspace: Path) -> list[str]:
    """Return a warning for each file of the toolset that the tools themselves could change."""
    problem = "lies in the workspace: a tool could change it, and the next session would use it"
    return [f"`{path}` {problem}" for path in toolset.sources if _reaches(path, workspace)]


def _reaches(path: Path, workspace: Path) -> bool:
    written = Path.cwd() / path
    return any(each.resolve().is_relative_to(workspace) for each in (written, *written.parents)) or (
        path.is_file() and path.stat().st_nlink > 1
    )


def _answers(name: str | None) -> AnswersChannel | None:
    if name is None:
        return None
    try:
        return read_answers(name, Path(name).read_text(encoding="utf-8").split("\n"))
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise PermitryError(f"cannot read the answers `{name}`: {why}") from error


def _template(rules: RuleSet, name: str | None) -> Template | None:
    if name is None:
        return None
    if name not in rules.templates:
        hint = nearest(name, rules.templates, otherwise="no rule file defines it")
        raise PermitryError(f"unknown template `{name}`; {hint}")
    return rules.templates[name]
