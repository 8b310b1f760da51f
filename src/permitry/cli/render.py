"""What humans see: decisions, explanations, requests and summaries, drawn with rich."""

import json
from collections.abc import Iterable
from typing import TextIO

import attrs
from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from permitry.confirm.request import ToolConfirmationRequest
from permitry.core.action import Run, Unknown, phrase
from permitry.core.decision import ActionTrace, Explanation, RuleOutcome, RuleTrace, Verdict
from permitry.core.json_values import mutable
from permitry.core.texts import one_line, shortened, visible

__all__ = ["SummaryRow", "console_on", "diff", "explanation", "one_line", "request", "shortened", "summary", "visible"]

_COLOURS = {"allow": "green", "confirm": "yellow", "block": "red"}
_DIFF_STYLES = (
    ("diff --git ", "bold"), ("--- ", "bold"), ("+++ ", "bold"), ("@@ ", "cyan"), ("-", "red"), ("+", "green"),
    ("...[", "yellow"),
)  # fmt: skip
_LONGEST = 500
_MOST_DIFF_LINES = 1000
_MOST_LINES = 100


@attrs.frozen
class SummaryRow:
    """One call in the summary of a run; `seconds` covers the decision, the human and the tool."""

    call_id: str | None
    tool: str
    verdict: str
    rule: str | None
    outcome: str
    seconds: float = 0.0


def console_on(stream: TextIO) -> Console:
    """Return a console on `stream`; colours only on a terminal, nothing read as markup."""
    return Console(file=stream, markup=False, highlight=False, emoji=False)


def summary(console: Console, rows: Iterable[SummaryRow]) -> None:
    """Print the table at the end of a run: verdicts, rules, outcomes, durations."""
    table = Table(title="permitry: what happened", title_justify="left")
    table.add_column("#", justify="right")
    for name in ("tool", "verdict", "rule", "outcome"):
        table.add_column(name, overflow="fold")
    table.add_column("ms", justify="right")
    for number, row in enumerate(rows, 1):
        verdict = Text(row.verdict, _COLOURS[row.verdict])
        rule, ms = row.rule or "-", f"{row.seconds * 1000:.1f}"
        table.add_row(str(number), Text(visible(row.tool)), verdict, Text(rule), Text(row.outcome), ms)
    console.print(table)


def request(console: Console, asked: ToolConfirmationRequest, *, in_full: bool = False) -> bool:
    """Print a confirmation request (the call, what it would change, why it is asked), and return whether all of it.

    Long arguments and diffs are shortened, visibly, unless `in_full`.
    """
    is_whole = True
    console.print()
    console.print(Text(f"? {visible(asked.tool)}", "bold yellow"), Text(f"  {one_line(asked.reason)}"), sep="")
    for name, value in asked.arguments.items():
        text = value if isinstance(value, str) else json.dumps(mutable(value))
        shown_text = _indented(text) if in_full else shortened(text, _LONGEST)
        is_whole = is_whole and (in_full or len(one_line(text)) <= _LONGEST)
        console.print(Text(f"  {one_line(name)}: {shown_text}"), soft_wrap=True)
    if asked.preview:
        lines = visible(asked.preview).splitlines()
        shown = lines if in_full else lines[:_MOST_LINES]
        if len(lines) > len(shown):
            shown = [*shown, f"... {len(lines) - len(shown)} more lines"]
            is_whole = False
        console.print(Syntax("\n".join(shown), "diff", theme="ansi_dark", background_color="default", word_wrap=True))
    return is_whole


def _indented(text: str) -> str:
    # A line of a value must not look like a line of ours.
    return visible(text).replace("\n", "\n      ")


def diff(console: Console, text: str) -> None:
    """Print a unified diff: whole where it is written to a file, on a terminal its first 1,000 lines in colour."""
    lines = visible(text).removesuffix("\n").split("\n")
    if not console.is_terminal:
        console.file.write("".join(f"{line}\n" for line in lines))
        return
    for line in lines[:_MOST_DIFF_LINES]:
        style = next((style for start, style in _DIFF_STYLES if line.startswith(start)), "")
        console.print(Text(line, style), soft_wrap=True)
    if len(lines) > _MOST_DIFF_LINES:
        console.print(Text(f"... {len(lines) - _MOST_DIFF_LINES} more lines", "yellow"))


def explanation(console: Console, tool: str, explained: Explanation) -> None:
    """Print a decision in full: the deciding rule, what the model is shown, all matches, all near misses."""
    decision = explained.decision
    verdict = decision.verdict.value
    rule = decision.rule_id or "no rule"
    console.print(Text(f"{verdict}", f"bold {_COLOURS[verdict]}"), Text(f"  {one_line(tool)}"), sep="", soft_wrap=True)
    where = f"{decision.phase.value}, {one_line(decision.source)}" if decision.source else decision.phase.value
    console.print(Text(f"  decided by  {rule}  ({where})"), soft_wrap=True)
    console.print(Text(f"  reason      {one_line(decision.reason)}"), soft_wrap=True)
    if decision.verdict is not Verdict.ALLOW:
        console.print(Text(f"  message     {one_line(decision.message or '')}"), soft_wrap=True)
    if explained.actions:
        console.print(Text("  actions"), soft_wrap=True)
    for each_action in explained.actions:
        console.print(_action_line(each_action), soft_wrap=True)
    for title, rules in (("matches", explained.matches), ("near misses", explained.near_misses)):
        if rules:
            console.print(Text(f"  {title}"), soft_wrap=True)
        for each in rules:
            console.print(Text(f"    {_trace(each)}"), soft_wrap=True)
    for error in decision.errors:
        console.print(Text(f"  error       {one_line(str(error))}", "red"), soft_wrap=True)


def _action_line(each: ActionTrace) -> Text:
    """Return one action with the decision it would get alone, indented by the constructs around it."""
    action, decision = each.action, each.decision
    around = f"{' '.join(action.within)}: " if isinstance(action, Run) and action.within else ""
    depth = 1 + (len(action.within) if isinstance(action, Run) else 0)
    shown = f"{around}{shortened(phrase(action), _LONGEST)}"
    if isinstance(action, Unknown):
        shown = f"not certain: {action.reason} (at character {action.offset + 1})"
    may = "" if each.is_certain else "may  "
    why = f"  ({one_line(action.doubt)})" if isinstance(action, Run) and action.doubt is not None else ""
    verdict = decision.verdict.value
    line = Text(f"  {'  ' * depth}")
    line.append(f"{verdict:<8}", _COLOURS[verdict])
    return line.append(f"{may}{shown}  [{decision.rule_id or 'no rule'}]{why}")


def _trace(rule: RuleTrace) -> str:
    head = f"{rule.priority:>3} {rule.effect.value:<8}{rule.rule_id}  ({one_line(rule.source or 'code')})"
    if rule.outcome is RuleOutcome.FAILED:
        return f"{head}  failed, so it counts as matched: {one_line(rule.error or '')}"
    if rule.outcome is RuleOutcome.UNSURE:
        return f"{head}  may match, so it asks: {one_line(rule.error or '')}"
    if rule.deciding:
        return f"{head}  decided"
    if rule.outcome is RuleOutcome.COVERED:
        return f"{head}  permits a part of the call; {one_line(rule.near_miss or 'the rest is not covered')}"
    if rule.near_miss is not None:
        return f"{head}  would have matched but for {one_line(rule.near_miss)}"
    return head
