"""`permitry grants`: approvals that are given beforehand: list them, show one, add one, revoke one."""

import argparse
import contextlib
import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from permitry.actions.programs.catalogue import record_of
from permitry.audit.record import user_name
from permitry.channels.clock import Moment
from permitry.channels.stored_question import StoredQuestion
from permitry.cli.always import Always
from permitry.cli.approve import check_asker, check_terminal, time_left
from permitry.cli.inputs import tell
from permitry.cli.main import ExitCode
from permitry.cli.stores import STORE, find_store, store_from
from permitry.config.load import load_rules
from permitry.core.decision import Phase
from permitry.core.texts import one_line, visible
from permitry.errors import PermitryError
from permitry.extras import load
from permitry.guard.grants import Grant
from permitry.guard.grants_in_force import rule_of, text_of
from permitry.guard.ledgers import RecordedGrants, grants_at, questions_at
from permitry.handler import ToolHandler
from permitry.store.records import store_at

if TYPE_CHECKING:
    from permitry.store.grants import StoredGrants
    from permitry.store.questions import StoredQuestions

__all__ = ["configure", "too_wide"]

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_WIDE = {"covers-interpreter", "no-anchor"}
_NARROW = {"args", "command", "digest", "host", "path", "text"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry grants`."""
    commands = parser.add_subparsers(metavar="list | show | add | revoke", required=True)
    for name, summary, execute in (
        ("list", "list the grants that count", _list),
        ("show", "print a grant as the rule that it means", _show),
        ("add", "grant calls, once you have seen the rule", _add),
        ("revoke", "let a grant count no more, in all processes at once", _revoke),
    ):
        command = commands.add_parser(name, allow_abbrev=False, help=summary, description=summary)
        command.add_argument("--store", metavar="STORE", help=f"the store: {STORE}")
        command.set_defaults(execute=execute)
        if name in ("show", "revoke"):
            command.add_argument("id", metavar="ID", help="the id of a grant")
        elif name == "list":
            command.add_argument("--all", action="store_true", help="also those that do not count any more")
            command.add_argument("--json", action="store_true", help="print one JSON object a grant, and nothing else")
        else:
            _add_options(command)


def _add_options(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("--question", metavar="ID", help="the very call of a question in the store")
    add("--like", metavar="ID", help="calls like that of an open question, by the narrowest pattern")
    add("--tool", action="append", default=[], metavar="NAME", help="calls of a tool; may be repeated")
    add("--command", action="append", default=[], metavar="PATTERN", help='commands, such as "git log *"')
    add("--path", action="append", default=[], metavar="GLOB", help='calls that only touch these, such as "src/**"')
    add("--when", action="append", default=[], metavar="TOML", help="any condition of a rule file: 'KEY = VALUE'")
    for name in ("agent", "principal"):
        add(f"--{name}", metavar="NAME", help=f"only for this {name}")
    sessions = command.add_mutually_exclusive_group()
    sessions.add_argument("--session", metavar="NAME", help="only for this session; with --question, that which asked")
    sessions.add_argument("--any-session", action="store_true", help="with --question, also for others, in any folder")
    add("--for", dest="seconds", type=_seconds, metavar="TIME", help="until so long from now: 90s, 10m, 8h, 7d")
    add("--request", action="store_true", help="with --question or --like: only until the user writes again")
    add("--uses", type=_count, metavar="N", help="for so many calls")
    add("--reason", default="", metavar="TEXT", help="why, for the record")
    add("--force", action="store_true", help="also where it permits any code, or nearly any call")


def _list(options: argparse.Namespace) -> ExitCode:
    store = _grants(options)
    rows = store.all() if options.all else store.in_force(Moment.now())
    for row in rows:
        print(json.dumps(row) if options.json else _line(Grant.of(row)))
    if not rows and not options.json:
        print("no grant counts")
    return ExitCode.OK


def _show(options: argparse.Namespace) -> ExitCode:
    grant = _find(_grants(options), options.id)
    print(f"{_line(grant)}\n\n{visible(text_of(grant)).rstrip()}")
    return ExitCode.OK


def _revoke(options: argparse.Namespace) -> ExitCode:
    name = _find(_grants(options), options.id).id
    with contextlib.closing(store_at(store_from(options))) as store:
        is_first = RecordedGrants(store).revoke(name, user_name())
    if not is_first:
        raise PermitryError(f"the grant `{one_line(options.id)}` was revoked before")
    print("revoked")
    return ExitCode.OK


def _add(options: argparse.Namespace) -> ExitCode:
    check_terminal()
    questions = questions_at(store_from(options))
    meant = _meant(options, questions)
    asked = _request_of(options, questions)
    grant = attrs.evolve(
        meant,
        agent=options.agent, session=options.session or meant.session or asked.get("session"),
        principal=options.principal,
        reason=options.reason, granted_by=user_name(), made_at=Moment.now().wall, uses_left=options.uses,
        deadline=None if options.seconds is None else Moment.now().after(options.seconds),
        request=asked.get("request"),
    )  # fmt: skip
    rule_of(grant)
    if not options.force and (why := too_wide(grant)):
        raise PermitryError(f"{why}; name less, or add it with --force")
    print(f"{_line(grant)}\n\n{visible(text_of(grant)).rstrip()}\n")
    if input("Grant this? [y/N] ").strip().lower() not in ("y", "yes"):
        print("nothing is granted")
        return ExitCode.FAILED
    with contextlib.closing(store_at(store_from(options))) as store:
        RecordedGrants(store).give(grant)
    print(f"granted: {grant.id}")
    return ExitCode.OK


def _meant(options: argparse.Namespace, questions: "StoredQuestions") -> Grant:
    keys = {"tools": options.tool, "when.command": options.command, "when.path": options.path}
    lines = [f"{key} = {json.dumps(values, ensure_ascii=False)}" for key, values in keys.items() if values]
    lines += [f"when.{each}" for each in options.when]
    if sum(map(bool, (options.question, options.like, lines))) != 1:
        raise PermitryError("name the calls: by --question, by --like, or by --tool, --command, --path and --when")
    if lines:
        return Grant("\n".join(lines))
    question = _question(questions, options.question or options.like)
    if options.question:
        # INVARIANT: law 5. In another folder the same words may be another call, and a digest names no folder.
        session = None if options.any_session else question.session
        return attrs.evolve(Grant.of_call(question.tool, question.digest, question.spec), session=session)
    alike = Grant(_alike(question))
    if question.decision.phase is Phase.RESTRICTION:
        rule = f"the rule `{question.decision.rule_id}` asks about this call"
        tell([f"{rule}, and will ask about others like it all the same; --question grants this one call"])
    return alike


def _request_of(options: argparse.Namespace, questions: "StoredQuestions") -> dict[str, str]:
    """Return the session and the user's request of a question; empty without `--request`."""
    if not options.request:
        return {}
    name = options.question or options.like
    if name and (question := _question(questions, name)).turn:
        return {"session": question.session, "request": question.turn}
    raise PermitryError("--request needs a question of a host that says when the user writes; give --for instead")


def _question(questions: "StoredQuestions", name: str) -> StoredQuestion:
    row = questions.find(name)
    if row is None:
        raise PermitryError(f"there is no question `{one_line(name)}` in this store")
    question = StoredQuestion.of(row)
    check_asker(question.above if question.deadline.boot == Moment.now().boot else ())
    return question


def _alike(question: StoredQuestion) -> str:
    if question.request is None:
        raise PermitryError(f"the question `{question.id}` is closed, and its call is not kept")
    offers = Always(ToolHandler(), Path()).offers(question.request.call, may_ignore=False)
    tables = [tomllib.loads(offer.rule)["rule"] for offer in offers if offer.rule is not None]
    alike = [table for (table, *more) in tables if not more and "digest" not in table["when"]]
    if not alike:
        raise PermitryError("nothing narrow permits calls like this one; name them yourself, or use --question")
    return "\n".join(_lines(alike[0]))


def _lines(table: dict[str, Any]) -> Iterator[str]:
    named = {"tools": table.get("tools"), **{f"when.{key}": value for key, value in table["when"].items()}}
    yield from (f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in named.items() if value)


def too_wide(grant: Grant) -> str | None:
    """Return why a grant permits more than a human would mean: any code, a bare shell, or nearly any call."""
    table = tomllib.loads(text_of(grant))["rule"][0]
    conditions = table.get("when", {})
    if "digest" in conditions:
        return None
    shells = [each for each in _texts(conditions.get("command", [])) if _is_shell(each)]
    if shells:
        return f"`{shells[0]}` is a shell, which runs any code"
    if not conditions.keys() & _NARROW and any(map(_is_any, _texts(table.get("tools", ["*"])))):
        return "it permits nearly any call"
    lint = load("permitry_ops.lint:lint")
    found = [each for each in lint(load_rules(text_of(grant))) if each.kind in _WIDE]
    return found[0].reason if found else None


def _texts(value: str | Sequence[str]) -> Sequence[str]:
    return [value] if isinstance(value, str) else list(value)


def _is_shell(pattern: str) -> bool:
    words = pattern.split()
    return len(words) == 1 and any(record_of(name).shell for name in re.findall(r"[\w-]+", words[0]))


def _is_any(tool: str) -> bool:
    return tool.startswith("@") or not tool.strip("*?")


def _line(grant: Grant) -> str:
    left = "no end" if grant.deadline is None else time_left(Moment.now().until(grant.deadline))
    uses = "" if grant.uses_left is None else f", {grant.uses_left} left"
    state = "revoked" if grant.revoked_at is not None else f"{left}{uses}"
    named = tuple((key, getattr(grant, key)) for key in ("agent", "session", "principal", "request"))
    subject = " ".join(f"{key}={value}" for key, value in named if value is not None) or "all"
    digest = "" if grant.digest is None else f" digest {grant.digest[:12]}"
    why = f"  {grant.reason}" if grant.reason else ""
    rule = "; ".join(grant.rule.splitlines())
    return one_line(f"{grant.id}  {state}  {subject}  {rule}{digest}{why}  by {grant.granted_by}")


def _find(store: "StoredGrants", name: str) -> Grant:
    for row in store.all():
        if row["id"] == name:
            return Grant.of(row)
    raise PermitryError(f"there is no grant `{one_line(name)}`")


def _grants(options: argparse.Namespace) -> "StoredGrants":
    return grants_at(find_store(options)).store


def _seconds(text: str) -> float:
    found = re.fullmatch(r"([1-9]\d{0,5})([smhd])", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"`{text}` is not a time; write a number and s, m, h or d, such as 8h")
    return float(int(found[1]) * _UNITS[found[2]])


def _count(text: str) -> int:
    if re.fullmatch(r"[1-9]\d{0,8}", text) is None:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number of calls, at least 1")
    return int(text)
