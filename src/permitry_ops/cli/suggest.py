"""`permitry suggest`: the fewest narrow permissions that would have removed most questions."""

import argparse
import difflib
import json
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs

from permitry.cli.inputs import add_rules_option, add_tools_option, rules_from, tell
from permitry.cli.main import ExitCode
from permitry.cli.records import RecordFilter, is_record, records_at
from permitry.cli.stores import default_to_read
from permitry.config.load import load_rules
from permitry.config.origin import Origin
from permitry.core.texts import one_line, shorten, visible
from permitry.errors import PermitryError
from permitry.files import replace_file
from permitry.rules.configured import ConfiguredRule
from permitry.store.records import is_address, record_name
from permitry_ops.cli.tool_list import circumstances_from
from permitry_ops.replay.answers import Answered, Asked, read_answers
from permitry_ops.replay.suggest import Suggested, Suggestion, suggest

__all__ = ["configure"]

_HEADER = "schema = 1\n"
_LONGEST = 80
_MOST = 10
_COUNTS = ("questions", "removed", "permitted", "restricted")
_MOST_SHOWN = 5


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry suggest`."""
    add = parser.add_argument
    records = "records of what was asked and answered; may be given again; default: permitry.db in your state folder"
    add("--from", dest="records", nargs="+", action="extend", metavar="RECORD", help=records)
    add_rules_option(parser)
    add_tools_option(parser)
    only = "only what was asked in this project; default: each project by itself, by its own layers"
    add("--project", type=Path, metavar="DIR", help=only)
    add("--workspace", type=Path, default=Path(), metavar="DIR", help="where agents worked, if a record does not say")
    add("--most", type=int, default=_MOST, metavar="N", help=f"at most so many permissions; default: {_MOST}")
    add("--force", action="store_true", help="also what runs any code, and every call of a tool")
    add("-o", "--output", type=Path, metavar="FILE", help="print what to add to this rule file, as a diff")
    add("--write", action="store_true", help="with -o: also add it")
    add("--json", action="store_true", help="print one JSON object, and nothing else")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> ExitCode:
    """Read records, and print what is suggested."""
    if options.write and options.output is None:
        raise PermitryError("`--write` needs `-o FILE`")
    old = _text_of(options.output)
    answered = _answers(options)
    projects = list(_by_project(options, answered, old))
    new = _with_suggestions(options, old, projects)
    _print(options, old, new, projects, answered)
    tell(_summary(projects, answered))
    if new == old:
        return ExitCode.FAILED
    _write(options, new)
    return ExitCode.OK


def _with_suggestions(options: argparse.Namespace, old: str, projects: Sequence["_Project"]) -> str:
    """Return the text of a rule file with all suggestions, which loads; the old one where there are none."""
    texts = list(_texts(projects))
    if options.output is not None and len(projects) > 1:
        names = ", ".join(f"`{one_line(each.folder)}`" for each in projects)
        raise PermitryError(f"one rule file is for one project; name it with --project: {names}")
    if not texts:
        return old
    rules = "\n".join(texts)
    start = old or _HEADER
    new = f"{start.rstrip()}\n\n{rules}"
    load_rules([Origin(str(options.output or "rules.toml"), text=new)])
    return new


def _print(options: argparse.Namespace, old: str, new: str, projects: Sequence["_Project"], answered: Answered) -> None:
    if options.json:
        print(json.dumps(_as_json(projects, answered)))
    elif options.output is None:
        print(new.removeprefix(_HEADER).lstrip("\n"), end="")
    else:
        name, texts = str(options.output), (old.splitlines(keepends=True), new.splitlines(keepends=True))
        lines = difflib.unified_diff(*texts, name, name)
        print(visible("".join(line if line.endswith("\n") else f"{line}\n" for line in lines)), end="")


def _write(options: argparse.Namespace, text: str) -> None:
    if options.write:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        replace_file(options.output, text.encode())
    elif options.output is not None:
        tell([f"`{options.output}` is as it was; with --write this is added to it"])


@attrs.frozen
class _Project:
    folder: str
    found: Suggested

    def row_of(self, each: Suggestion) -> dict[str, object]:
        """Return a suggestion as plain data."""
        return {
            "project": self.folder,
            "rule": each.text,
            "questions": len(each.calls),
            "calls": [{"first": asked.place, "call": _call(asked)} for asked in each.calls],
            "riskiest": None if each.risk is None else {"call": each.risk.call, "why": each.risk.why},
        }


def _answers(options: argparse.Namespace) -> Answered:
    workspace, answered = str(options.workspace.resolve()), Answered()
    circumstances = circumstances_from(options, workspace)
    for record in options.records or [default_to_read("--from")]:
        name = record_name(record)
        if not is_address(record) and Path(record).exists() and not is_record(record):
            raise PermitryError(f"`{name}` is not a record; see `permitry run --record`")
        read_answers(records_at(record, RecordFilter()), answered, name=name, circumstances=circumstances)
    return answered


def _by_project(options: argparse.Namespace, answered: Answered, old: str) -> Iterator[_Project]:
    """Yield what is suggested for each project: paths in rules start from its folder, and its own rules count."""
    taken = _ids(old)
    for folder, approved in sorted(_find_approved(options, answered).items()):
        policy = rules_from(options, folder).policy()
        known = taken | {rule.id for rule in policy.rules if isinstance(rule, ConfiguredRule)}
        # What was refused anywhere is permitted nowhere.
        found = suggest(
            attrs.evolve(answered, approved=approved), policy, most=options.most, force=options.force, taken=known
        )
        taken |= _ids("\n".join(each.text for each in found.suggestions))
        yield _Project(folder, found)


def _find_approved(options: argparse.Namespace, answered: Answered) -> dict[str, list[Asked]]:
    """Return the approved calls by project, or of one alone; without any, none of the one that is meant."""
    here = str(options.workspace.resolve())
    projects: dict[str, list[Asked]] = {}
    for each in answered.approved:
        projects.setdefault(each.context.workspace or here, []).append(each)
    if options.project is None:
        return projects or {here: []}
    only = str(options.project.resolve())
    return {only: projects.get(only, [])}


def _texts(projects: Sequence[_Project]) -> Iterator[str]:
    found = [each for each in projects if each.found.suggestions]
    for project in found:
        if len(projects) > 1:
            yield f"# In {one_line(project.folder)}\n"
        yield from map(_comment, project.found.suggestions)


def _text_of(path: Path | None) -> str:
    if path is None or not path.exists():
        return ""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PermitryError(f"cannot read `{path}`: {error}") from error


def _ids(text: str) -> set[str]:
    try:
        return {str(rule["id"]) for rule in tomllib.loads(text).get("rule", ()) if "id" in rule}
    except (tomllib.TOMLDecodeError, AttributeError, TypeError):
        # The file is loaded with what is added to it, and that says what is wrong with it.
        return set()


def _comment(each: Suggestion) -> str:
    lines = [
        f"removes {_questions(len(each.calls))}: {', '.join(_examples(each))}",
        f"riskiest other call: {_risk(each)}",
    ]
    return "".join(f"# {one_line(line)}\n" for line in lines) + each.text


def _questions(number: int, kind: str = "") -> str:
    return f"{number:,} {kind}question{'' if number == 1 else 's'}"


def _examples(each: Suggestion) -> Iterator[str]:
    counts = Counter(map(_call, each.calls))
    for text, number in counts.most_common(_MOST_SHOWN):
        yield f"`{text}`" + (f" ({number:,} times)" if number > 1 else "")
    if len(counts) > _MOST_SHOWN:
        yield f"and {len(counts) - _MOST_SHOWN:,} more calls"


def _call(asked: Asked) -> str:
    arguments = asked.call.to_dict()
    command = arguments.get("command")
    text = command if isinstance(command, str) else f"{asked.call.tool} {json.dumps(arguments, ensure_ascii=False)}"
    return shorten(one_line(text), _LONGEST)


def _risk(each: Suggestion) -> str:
    if each.risk is not None:
        return f"`{each.risk.call}` ({each.risk.why})"
    return "none, it permits this command only" if each.is_exact else "none is known"


def _summary(projects: Sequence[_Project], answered: Answered) -> Iterator[str]:
    for each in projects:
        if len(projects) > 1:
            yield f"in `{one_line(each.folder)}`:"
        found = each.found
        yield f"{found.removed:,} of {_questions(found.questions, 'approved ')} would not have been asked"
        if found.permitted:
            yield f"{_questions(found.permitted)}: the rules permit the call by now"
        if found.restricted:
            yield f"{_questions(found.restricted)}: a restriction asks, which no permission lifts"
    if answered.unread:
        yield f"{_questions(answered.unread)}: the call was edited, or recorded without secrets"


def _as_json(projects: Sequence[_Project], answered: Answered) -> dict[str, object]:
    totals = Counter[str]()
    for each in projects:
        totals.update({name: getattr(each.found, name) for name in _COUNTS})
    return {
        **totals,
        "unread": answered.unread,
        "suggestions": [row for each in projects for row in map(each.row_of, each.found.suggestions)],
    }
