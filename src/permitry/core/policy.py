"""The policy: a frozen set of rules and the one order in which they speak.

::

    phase 0  overrides     priority   0- 99  first match             -> ALLOW
    phase 1  restrictions  priority 100-199  all matches collected   -> any block: BLOCK, else any confirm: CONFIRM
    phase 2  permissions   priority 200-399  first match             -> ALLOW
    nothing matched                                                  -> CONFIRM
"""

import hashlib
import itertools
import re
from collections.abc import Callable, Iterable
from typing import TypeGuard

import attrs

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import (
    Decision,
    Explanation,
    Phase,
    RuleFailure,
    RuleOutcome,
    RuleTrace,
    Verdict,
)
from permitry.core.rule import AuthorizationRule, PermissionRule, Question, phase_of
from permitry.core.spec import ToolSpec
from permitry.errors import RuleError, told

__all__ = ["AuthorizationPolicy"]

AnyRule = AuthorizationRule | PermissionRule

_CONFIRM_MESSAGE = "This call needs the user's confirmation before it runs."
_BLOCK_MESSAGE = (
    "This call is not permitted and did not run. Do not retry it; go on without it or ask the user how to proceed."
)
_DEFAULT_MESSAGES = {Verdict.ALLOW: None, Verdict.CONFIRM: _CONFIRM_MESSAGE, Verdict.BLOCK: _BLOCK_MESSAGE}


@attrs.frozen
class _Entry:
    """A rule as the policy keeps it: everything asked of it once, and its decision made beforehand."""

    rule_id: str
    priority: int
    phase: Phase
    decision: Decision
    test: Callable[[Question], bool] = attrs.field(repr=False)
    near_miss: Callable[[Question], str | None] = attrs.field(repr=False)

    def matches(self, question: Question, failures: list[RuleFailure]) -> bool:
        """Return whether the rule counts as matched; a failure is kept and counts against the call."""
        try:
            answer = self.test(question)
        except Exception as error:  # noqa: BLE001 -- a failing rule must never decide in the call's favour
            failures.append(RuleFailure(self.rule_id, f"{type(error).__name__}: {told(error)}"))
        else:
            if answer is True or answer is False:
                return answer
            failures.append(RuleFailure(self.rule_id, f"answered {told(answer, repr)}, not True or False"))
        # INVARIANT: law 2. A restriction that fails counts as matched, a permission as not matched.
        return self.phase is Phase.RESTRICTION


def _tuple_of_rules(rules: Iterable[AnyRule]) -> tuple[AnyRule, ...]:
    return tuple(rules)


@attrs.frozen
class AuthorizationPolicy:
    """A frozen set of rules and their two-phase evaluation. Pure, thread-safe, and never in doubt.

    `rules` may mix rules of the protocol `AuthorizationRule` with objects that have only `priority()` and
    `should_allow_without_confirmation(tool_name, context)`; the latter are permissions. Within one priority the
    given order is kept; it can change which rule is named, never the verdict. An empty policy confirms everything.

    Raises: `RuleError` for a rule without a usable id, priority or effect, and for a duplicate id.

    Source: seed 003, "AuthorizationPolicy (Strategy Orchestrator)".
    """

    rules: tuple[AnyRule, ...] = attrs.field(default=(), converter=_tuple_of_rules)
    version: str = attrs.field(init=False)
    _overrides: tuple[_Entry, ...] = attrs.field(init=False, repr=False, eq=False)
    _restrictions: tuple[_Entry, ...] = attrs.field(init=False, repr=False, eq=False)
    _permissions: tuple[_Entry, ...] = attrs.field(init=False, repr=False, eq=False)
    _default: Decision = attrs.field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        version = _version(self.rules)
        entries = sorted(_compiled(self.rules, version), key=lambda entry: entry.priority)
        by_phase = {phase: tuple(e for e in entries if e.phase is phase) for phase in Phase}
        for name, value in (
            ("version", version),
            ("_overrides", by_phase[Phase.OVERRIDE]),
            ("_restrictions", by_phase[Phase.RESTRICTION]),
            ("_permissions", by_phase[Phase.PERMISSION]),
            ("_default", _no_rule_speaks(version)),
        ):
            object.__setattr__(self, name, value)

    def decide(self, call: ToolCall, context: AuthContext, spec: ToolSpec | None = None) -> Decision:
        """Return the decision for one call in one context. Never raises for a failing rule, never guesses ALLOW.

        `spec` is the tool's declaration, when somebody the operator trusts makes one.
        """
        question = Question(call, context, spec)
        failures: list[RuleFailure] = []
        decision = (
            self._first(self._overrides, question, failures)
            or self._strictest(question, failures)
            or self._first(self._permissions, question, failures)
        )
        chosen = self._default if decision is None else decision.decision
        return attrs.evolve(chosen, errors=tuple(failures)) if failures else chosen

    def explain(self, call: ToolCall, context: AuthContext, spec: ToolSpec | None = None) -> Explanation:
        """Return the decision with every rule's part in it: matches, failures and near misses."""
        decision = self.decide(call, context, spec)
        question = Question(call, context, spec)
        entries = (*self._overrides, *self._restrictions, *self._permissions)
        return Explanation(decision, tuple(_trace(entry, question, decision) for entry in entries))

    def should_confirm(self, tool_name: str, context: AuthContext) -> bool:
        """Return whether the bare tool may not run unasked: True for CONFIRM and for BLOCK.

        Source: seed 003, "Critical Design Decision: Plan Mode Overrides".
        """
        return self.decide(ToolCall(tool_name), context).verdict is not Verdict.ALLOW

    def is_tool_blocked(self, tool_name: str, context: AuthContext) -> bool:
        """Return whether the bare tool is blocked: no answer can make it run."""
        return self.decide(ToolCall(tool_name), context).verdict is Verdict.BLOCK

    @staticmethod
    def _first(entries: tuple[_Entry, ...], question: Question, failures: list[RuleFailure]) -> "_Entry | None":
        return next((entry for entry in entries if entry.matches(question, failures)), None)

    def _strictest(self, question: Question, failures: list[RuleFailure]) -> "_Entry | None":
        # Every restriction is asked, also after a match: a failure further on belongs in the record.
        matched = [entry for entry in self._restrictions if entry.matches(question, failures)]
        # max keeps the first of equals, which is the one with the lowest priority number.
        return max(matched, key=lambda entry: entry.decision.verdict.strictness, default=None)


def _no_rule_speaks(version: str) -> Decision:
    return Decision(Verdict.CONFIRM, None, Phase.DEFAULT, "no rule speaks", _CONFIRM_MESSAGE, policy_version=version)


def _version(rules: Iterable[AnyRule]) -> str:
    """Return a short digest that is the same for the same rules, in any process."""
    texts = (repr(rule) if attrs.has(type(rule)) else type(rule).__qualname__ for rule in rules)
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def _compiled(rules: Iterable[AnyRule], version: str) -> Iterable[_Entry]:
    seen: set[str] = set()
    for rule in rules:
        entry = _entry(rule, version) if _is_full(rule) else _permission_entry(rule, version, seen)
        if entry.rule_id in seen:
            raise RuleError(f"two rules have the id `{entry.rule_id}`")
        seen.add(entry.rule_id)
        yield entry


def _is_full(rule: AnyRule) -> TypeGuard[AuthorizationRule]:
    # Asked of the object, not of its class: a wrapper forwards what it wraps, and a restriction stays one.
    return hasattr(rule, "matches") or hasattr(rule, "effect")


def _entry(rule: AuthorizationRule, version: str) -> _Entry:
    name = type(rule).__name__
    try:
        rule_id, effect, reason, message = rule.id, rule.effect, rule.reason, rule.message
        source, test, near_miss = rule.source, rule.matches, rule.near_miss
    except AttributeError as error:
        raise RuleError(f"`{name}` is no rule: {error}") from error
    if type(rule_id) is not str or not rule_id:
        raise RuleError(f"`{name}` has no id")
    if not isinstance(effect, Verdict):
        raise RuleError(f"rule `{rule_id}`: the effect must be a Verdict, not {effect!r}")
    priority = _checked_priority(rule, rule_id)
    phase = phase_of(priority)
    if phase is None or (effect is Verdict.ALLOW) is (phase is Phase.RESTRICTION):
        raise RuleError(
            f"rule `{rule_id}`: priority {priority} does not fit the effect {effect.value}; "
            "100 to 199 confirm or block, 0 to 99 and 200 to 399 allow"
        )
    told = _DEFAULT_MESSAGES[effect] if message is None else message
    decision = Decision(effect, rule_id, phase, reason, told, source=source, policy_version=version)
    return _Entry(rule_id, priority, phase, decision, test, near_miss)


def _permission_entry(rule: AnyRule, version: str, seen: set[str]) -> _Entry:
    name = type(rule).__name__
    if not isinstance(rule, PermissionRule):
        raise RuleError(f"`{name}` is no rule: it has neither an effect nor `should_allow_without_confirmation`")
    kebab = re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()
    numbered = (f"{kebab}-{number}" for number in itertools.count(2))
    rule_id = kebab if kebab not in seen else next(each for each in numbered if each not in seen)
    priority = _checked_priority(rule, rule_id)
    if phase_of(priority) is None:
        raise RuleError(f"rule `{rule_id}`: priority {priority} is outside 0 to 399")
    decision = Decision(Verdict.ALLOW, rule_id, Phase.PERMISSION, f"{name} permits it", policy_version=version)

    def test(question: Question) -> bool:
        return rule.should_allow_without_confirmation(question.call.tool, question.context)

    # INVARIANT: law 1. A two-method rule says only "allow", so whatever its priority it speaks after the restrictions.
    return _Entry(rule_id, priority, Phase.PERMISSION, decision, test, lambda _: None)


def _checked_priority(rule: AnyRule, rule_id: str) -> int:
    priority = rule.priority()
    if type(priority) is not int:
        raise RuleError(f"rule `{rule_id}`: the priority must be a whole number, not {priority!r}")
    return priority


def _trace(entry: _Entry, question: Question, decision: Decision) -> RuleTrace:
    failures: list[RuleFailure] = []
    matched = entry.matches(question, failures)
    outcome = RuleOutcome.MATCHED if matched else RuleOutcome.NOT_MATCHED
    return RuleTrace(
        rule_id=entry.rule_id,
        phase=entry.phase,
        priority=entry.priority,
        effect=entry.decision.verdict,
        outcome=RuleOutcome.FAILED if failures else outcome,
        source=entry.decision.source,
        reason=entry.decision.reason,
        deciding=entry.rule_id == decision.rule_id,
        near_miss=None if matched or failures else _near_miss(entry, question),
        error=failures[0].error if failures else None,
    )


def _near_miss(entry: _Entry, question: Question) -> str | None:
    try:
        return entry.near_miss(question)
    except Exception:  # noqa: BLE001 -- a near miss is a courtesy; it must not cost the explanation
        return None
