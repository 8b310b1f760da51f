"""The page to try rules: their problems, a call, what is decided of it, what a change permits."""

from collections.abc import Iterable, Iterator, Sequence

import attrs

from permitry.core.context import MODES
from permitry.core.decision import Decision
from permitry.core.explanation import Line
from permitry.core.texts import one_line
from permitry.errors import Problem, count
from permitry_ops.diff.report import Change, Report
from permitry_ops.inbox.access import Login
from permitry_ops.inbox.call_text import sentence
from permitry_ops.inbox.pages import Child, Html, Links, card_table, element, frame, token_field
from permitry_ops.inbox.trial import UNNAMED, Asked, Outcome, Start

__all__ = ["TRY_LINKS", "Tried", "try_page"]

TRY_LINKS: Links = (("Rules", "/"),)
_COLUMNS = ("Rule", "What", "Call", "Before", "After")
_MOST_ROWS = 20
_SAID = {"allow": "Allowed", "confirm": "Asked about", "block": "Blocked"}
_ABOUT = "Nothing here is run, written or sent, and no link on the disk is followed. Rules are tried as they are typed."
_ENDED = "This took too long, and was ended."


@attrs.frozen
class Tried:
    """What was asked, and what is known of it: no outcome or report where that took too long.

    `has_looked` is whether a report was asked for.
    """

    start: Start
    asked: Asked
    outcome: Outcome | None
    report: Report | None = None
    has_looked: bool = False

    @property
    def is_changed(self) -> bool:
        """Whether the rules are others than those of the start."""
        return self.asked.rules != self.start.text


def try_page(tried: Tried, login: Login) -> str:
    """Return the page."""
    rules = element("div", *_rules(tried), class_="rules")
    call = element("div", *_call(tried.asked), *_decision(tried))
    form = element("form", token_field(login), rules, call, method="post", action="/", id="try")
    known = element("div", *_change(tried), id="change")
    change = element("section", element("h2", "What your change permits"), known)
    about = element("p", _ABOUT, class_="about")
    script = element("script", src="/static/try.js", defer=True)
    return frame("Try rules", about, form, change, script, login=login, links=TRY_LINKS, here="/")


def _rules(tried: Tried) -> Iterator[Html]:
    name = "" if tried.start.name == UNNAMED else f" of {one_line(tried.start.name)}"
    yield element("label", f"Rules{name}", for_="rules")
    yield element(
        "textarea", f"\n{tried.asked.rules}", id="rules", name="rules", rows="24", wrap="off", spellcheck="false",
        autocomplete="off", autocapitalize="off", aria_describedby="problems",
    )  # fmt: skip
    if tried.start.others:
        yield element("p", f"Besides, as they are: {', '.join(tried.start.others)}", class_="about")
    yield element("div", *_problems(tried), id="problems")


def _problems(tried: Tried) -> Iterator[Html]:
    if tried.outcome is None:
        yield element("p", _ENDED, class_="problem")
        return
    problems = tried.outcome.problems
    if problems:
        said = f"{count(len(problems), 'problem')}: rules with problems are not loaded."
        yield element("p", said, class_="problem")
        yield element("ol", *(_problem(each, tried.start) for each in problems))
    else:
        yield element("p", "The rules have no errors.")
        yield element("div", *(element("p", one_line(each)) for each in tried.outcome.notices))


def _problem(problem: Problem, start: Start) -> Html:
    # What is too wide is moved by hand: the caret must stay under its letter.
    text = element("pre", str(problem), tabindex="0")
    if problem.path != start.name or not problem.line:
        return element("li", text)
    line = problem.line
    return element("li", _to_line(line, f"Line {line}", problem.column, problem.span), text)


def _to_line(line: int, text: str, column: int = 1, span: int = 0) -> Html:
    places = {"data_line": line, "data_column": column, "data_span": span}
    return element("a", text, href="#rules", **{name: str(value) for name, value in places.items()})


def _call(asked: Asked) -> Iterator[Html]:
    yield element(
        "fieldset", element("legend", "A call"),
        _choice("command", "a shell command", is_chosen=not asked.is_tool),
        _choice("tool", "a tool with its arguments", is_chosen=asked.is_tool),
        element("div", *_area("command", "Command", asked.command, "3"), class_="as-command"),
        element(
            "div", *_field("tool", "Tool", asked.tool, "write_file"),
            *_area("arguments", "Arguments, as JSON", asked.arguments, "4"), class_="as-tool",
        ),
        *_field("mode", "Mode", asked.mode, "default", list="modes"),
        element("datalist", *(element("option", value=each) for each in MODES), id="modes"),
        *_field("workspace", "Workspace", asked.workspace, "/srv/project"),
        element("button", "Try", class_="plain"),
    )  # fmt: skip


def _choice(value: str, text: str, *, is_chosen: bool) -> Html:
    name = f"as-{value}"
    radio = element("input", type="radio", name="what", value=value, id=name, checked=is_chosen)
    return element("span", radio, element("label", text, for_=name), class_="choice")


def _area(name: str, label: str, value: str, rows: str) -> tuple[Html, Html]:
    area = element("textarea", f"\n{value}", id=name, name=name, rows=rows, spellcheck="false", autocapitalize="off")
    return element("label", label, for_=name), area


def _field(name: str, label: str, value: str, example: str, **more: str) -> tuple[Html, Html]:
    field = element("input", id=name, name=name, value=value, placeholder=example, autocomplete="off", **more)
    return element("label", label, for_=name), field


def _decision(tried: Tried) -> Iterator[Html]:
    yield element("div", *_verdict(tried), id="verdict", role="status")
    lines = () if tried.outcome is None else tried.outcome.lines
    why = [element("h2", "Why"), element("pre", *map(_line, lines), class_="explained")] if lines else []
    yield element("div", *why, id="why")


def _verdict(tried: Tried) -> Iterator[Html]:
    outcome = tried.outcome
    if outcome is None:
        yield element("p", f"{_ENDED} Nothing is known of the call.", class_="problem")
    elif outcome.problems:
        yield element("p", "Nothing is decided while the rules have problems.", class_="problem")
    elif outcome.decision is None:
        said = f"This is not a valid call, and would be blocked: {outcome.invalid}."
        yield element("p", said, class_="problem")
    else:
        yield element("p", *_by(outcome.decision, tried.start), class_="outcome")
        yield element("p", sentence(outcome.decision.reason), class_="why")
        if outcome.before is not None and _key(outcome.before) != _key(outcome.decision):
            yield element("p", "Before your change: ", *_by(outcome.before, None))


def _key(decision: Decision) -> tuple[object, ...]:
    return decision.verdict, decision.rule_id


def _by(decision: Decision, start: Start | None) -> Iterator[Child]:
    """Yield a verdict, and which rule decided where; a place in the text of a start leads there."""
    verdict = decision.verdict.value
    yield element("strong", _SAID[verdict], class_=verdict)
    if decision.rule_id is None:
        yield ", as no rule matches"
        return
    yield " by "
    yield element("code", decision.rule_id)
    if decision.source:
        yield from (" (", _place(decision.source, start), ")")


def _place(source: str, start: Start | None) -> Child:
    file, _, line = source.rpartition(":")
    is_here = start is not None and file == start.name and line.isdecimal()
    return _to_line(int(line), source) if is_here else one_line(source)


def _line(line: Line) -> Html:
    verdict = "" if line.verdict is None else line.verdict.value
    return element("span", line.before, element("span", verdict, class_=verdict), f"{line.after}\n")


def _change(tried: Tried) -> Iterator[Html]:
    if tried.report is None or not tried.is_changed:
        yield element("p", _why_unknown(tried))
    else:
        yield from _report(tried.report)


def _why_unknown(tried: Tried) -> str:
    if not tried.is_changed:
        return "Change the rules to see what that permits more, and less."
    if tried.outcome is not None and tried.outcome.problems:
        return "Rules with problems are not compared."
    if not tried.has_looked:
        return "Looking for calls that are decided otherwise …"
    return "Not proven: it took too long, or the rules at the start have problems themselves."


def _report(report: Report) -> Iterator[Html]:
    yield element("p", f"{report.head}.", class_="outcome")
    yield from _table(report.wider)
    if report.narrower:
        yield element("h3", f"Less is allowed: {count(len(report.narrower), 'way')}")
        yield from _table(report.narrower)
    if report.unproven:
        yield element("h3", "Not proven")
        unproven = (f"{each.title}: {', '.join(each.why)}" for each in report.unproven)
        yield element("ul", *_items(unproven))
    if report.assumptions:
        assumed = element("ul", *_items(report.assumptions))
        yield element("details", element("summary", "This relies on"), assumed)
    asked = count(report.asked, "call")
    yield element("p", f"{asked} asked of both rule sets, {report.seconds:.2f} s.", class_="about")


def _items(texts: Iterable[str]) -> list[Html]:
    return [element("li", one_line(each)) for each in texts]


def _table(changes: Sequence[Change]) -> Iterator[Html]:
    if changes:
        yield card_table(_COLUMNS, map(_row, changes[:_MOST_ROWS]))
    if len(changes) > _MOST_ROWS:
        yield element("p", f"and {len(changes) - _MOST_ROWS} more")


def _row(change: Change) -> Sequence[Child]:
    what = change.title.removeprefix(f"{change.rule_id} ")
    call = element("code", one_line(change.command))
    return (one_line(change.rule_id), one_line(what), call, *map(one_line, change.sides))
