"""Decisions explained in full: every rule's part, every action, and all of it as text."""

import enum
from collections.abc import Iterable, Iterator

import attrs

from permitry.core.action import Action, Run, Unknown, phrase
from permitry.core.decision import Decision, Phase, Verdict
from permitry.core.origin import Origin
from permitry.core.texts import one_line, shorten

__all__ = ["ActionTrace", "Explanation", "Line", "RuleOutcome", "RuleTrace", "action_lines", "lines_of"]

_LONGEST = 500
_MOST_UNSURE = 5


class RuleOutcome(enum.Enum):
    """What one rule answered about a request."""

    MATCHED = "matched"
    NOT_MATCHED = "not matched"
    UNSURE = "unsure"
    COVERED = "covered in part"
    FAILED = "failed"


_IN_DOUBT = {
    RuleOutcome.FAILED: "failed, so it counts as matched",
    RuleOutcome.UNSURE: "may match, so it asks",
}


@attrs.frozen
class RuleTrace:
    """One rule's part in an explanation; `near_miss` completes "would have matched, but …".

    `lists` are the names of those that it uses. `unless` says why the exceptions of a restriction that matched do not
    apply. `origins` say where the values came from that it asks that of.
    """

    rule_id: str
    phase: Phase
    priority: int
    effect: Verdict
    outcome: RuleOutcome
    source: str | None
    reason: str
    deciding: bool = False
    near_miss: str | None = None
    error: str | None = None
    lists: tuple[str, ...] = ()
    unless: str | None = None
    origins: tuple[Origin, ...] = ()


@attrs.frozen
class ActionTrace:
    """One action of a call, and the decision it would get alone; what is not certain can only restrict."""

    action: Action
    decision: Decision
    is_certain: bool = True


@attrs.frozen
class Explanation:
    """A decision explained in full: every rule looked at, in the order of evaluation, and every action.

    `agent` names the agent in whose context the decision fell: the caller, or one above it that may do less.
    `declaration` are lines for a rule file, where a permission needs to know what the arguments are; `others`
    are what other rules decide, where no more than that is known of them. `would` is what would be decided if observed
    rules were obeyed, where that is something else.
    """

    decision: Decision
    rules: tuple[RuleTrace, ...]
    actions: tuple[ActionTrace, ...] = ()
    agent: str = "main"
    declaration: tuple[str, ...] = ()
    others: tuple[Decision, ...] = ()
    would: Decision | None = None

    @property
    def matches(self) -> tuple[RuleTrace, ...]:
        """The rules that matched or cover a part; of those that do not permit, the doubtful as well."""
        return tuple(rule for rule in self.rules if _counts(rule))

    @property
    def near_misses(self) -> tuple[RuleTrace, ...]:
        """The rules that one fact kept from matching."""
        near = (rule for rule in self.rules if rule.outcome is RuleOutcome.NOT_MATCHED)
        return tuple(rule for rule in near if rule.near_miss is not None)

    @property
    def origins(self) -> tuple[Origin, ...]:
        """Where the values came from that rules ask about that matched or could have changed it."""
        near = {RuleOutcome.NOT_MATCHED, RuleOutcome.FAILED}
        asked = (
            rule for rule in self.rules if _counts(rule) or (rule.outcome in near and _matters(rule, self.decision))
        )
        return tuple(dict.fromkeys(origin for rule in asked for origin in rule.origins))

    def __str__(self) -> str:
        return "\n".join(map(str, lines_of(self)))


def _counts(rule: RuleTrace) -> bool:
    if rule.outcome in _IN_DOUBT:
        return rule.effect is not Verdict.ALLOW
    return rule.outcome in (RuleOutcome.MATCHED, RuleOutcome.COVERED)


@attrs.frozen
class Line:
    """One line: a verdict may be named in it, after `before`."""

    before: str = ""
    verdict: Verdict | None = None
    after: str = ""

    def __str__(self) -> str:
        return f"{self.before}{'' if self.verdict is None else self.verdict.value}{self.after}"


def lines_of(explained: Explanation, tool: str = "", *, is_verbose: bool = False) -> Iterator[Line]:
    """Yield an explanation as lines, without anything invisible; `tool` is the name of the tool that was called.

    With `is_verbose` each action that is only possible is among them, though it is not why.
    """
    decision = explained.decision
    yield Line("", decision.verdict, f"  {one_line(tool)}" if tool else "")
    where = f"{decision.phase.value}, {one_line(decision.source)}" if decision.source else decision.phase.value
    yield Line(f"  decided by  {decision.rule_id or 'no rule'}  ({where})")
    if decision.reason:
        yield Line(f"  reason      {one_line(decision.reason)}")
    if decision.verdict is not Verdict.ALLOW:
        yield Line(f"  message     {one_line(decision.message or '')}")
    elif decision.keeps:
        yield Line("  kept first  what it changes is copied before it runs; without that it is not permitted")
    if explained.would is not None:
        yield Line("  observed    would ", explained.would.verdict, f", by {_other_line(explained.would)}")
    yield from _put_under("asked by as well", map(_other_line, explained.others))
    actions = action_lines(explained, is_verbose=is_verbose)
    if actions:
        yield from (Line("  actions"), *actions)
    # A command whose program is not known may be what any rule is about.
    unsure = [each for each in explained.matches if each.outcome is RuleOutcome.UNSURE and not each.deciding]
    unshown = unsure[_MOST_UNSURE:]
    matches = [_describe(rule) for rule in explained.matches if rule not in unshown]
    if unshown:
        matches.append(f"... {len(unshown)} more rules may match")
    near = [_describe(rule) for rule in explained.near_misses if _matters(rule, decision)]
    values = [one_line(str(origin)) for origin in explained.origins]
    yield from _put_under("matches", matches)
    yield from _put_under("near misses", near)
    yield from _put_under("values", values)
    yield from _put_under("declare the tool, in a rule file", map(one_line, explained.declaration))
    yield from (Line(f"  error       {one_line(str(error))}") for error in decision.errors)


def _other_line(decision: Decision) -> str:
    place = f" ({one_line(decision.source)})" if decision.source else ""
    return f"{decision.rule_id or 'no rule'}{place}: {one_line(decision.reason)}"


def _put_under(title: str, texts: Iterable[str]) -> Iterator[Line]:
    """Yield lines below a title; nothing where there are none."""
    found = [Line(f"    {text}") for text in texts]
    if found:
        yield from (Line(f"  {title}"), *found)


def action_lines(explained: Explanation, *, is_verbose: bool = False) -> list[Line]:
    """Return a line for each action, with the decision it would get alone, indented by the constructs around it.

    Those that are only possible are left out where a certain one is why, unless `is_verbose`.
    """
    certain = [each for each in explained.actions if each.is_certain]
    is_why = explained.decision.rule_id in {each.decision.rule_id for each in certain}
    return list(map(_action_line, certain if is_why and not is_verbose else explained.actions))


def _action_line(each: ActionTrace) -> Line:
    action, decision = each.action, each.decision
    within = action.within if isinstance(action, Run) else ()
    around = f"{' '.join(within)}: " if within else ""
    shown = f"{around}{shorten(phrase(action), _LONGEST)}"
    if isinstance(action, Unknown):
        shown = f"not certain: {action.reason} (at character {action.offset + 1})"
    may = "" if each.is_certain else "may  "
    why = f"  ({action.doubt})" if isinstance(action, Run) and action.doubt is not None else ""
    gap = " " * (8 - len(decision.verdict.value))
    # A reason may name what a model wrote, such as an argument.
    after = one_line(f"{gap}{may}{shown}  [{decision.rule_id or 'no rule'}]{why}")
    return Line("  " * (2 + len(within)), decision.verdict, after)


def _matters(rule: RuleTrace, decision: Decision) -> bool:
    """Return whether a match would have led to another verdict, in the mode the session is in."""
    # Plan mode stops every call that writes, so that its near miss says nothing about this one.
    if rule.effect is Verdict.ALLOW:
        return decision.verdict is Verdict.CONFIRM and decision.phase is not Phase.RESTRICTION
    return rule.effect > decision.verdict and rule.rule_id != "plan-mode"


def _describe(rule: RuleTrace) -> str:
    where = ", ".join([one_line(rule.source or "code"), *(f"@{name}" for name in rule.lists)])
    head = f"{rule.priority:>3} {rule.effect.value:<8}{rule.rule_id}  ({where})"
    if rule.outcome in _IN_DOUBT:
        return f"{head}  {_IN_DOUBT[rule.outcome]}: {one_line(rule.error or '')}"
    if rule.deciding or rule.unless is not None:
        decided = "decided" if rule.deciding else "matched"
        return f"{head}  {decided}" + (f"; `unless` does not apply: {one_line(rule.unless)}" if rule.unless else "")
    if rule.outcome is RuleOutcome.COVERED:
        return f"{head}  permits a part of the call; {one_line(rule.near_miss or 'the rest is not covered')}"
    if rule.near_miss is not None:
        return f"{head}  would have matched, but {one_line(rule.near_miss)}"
    return head
