"""The policy: a frozen set of rules and the one order in which they speak.

::

    phase 0  overrides     priority   0- 99  first match             -> ALLOW
    phase 1  restrictions  priority 100-199  all matches collected   -> any block: BLOCK, else any confirm: CONFIRM
    phase 2  permissions   priority 200-399  first match             -> ALLOW
    nothing matched                                                  -> CONFIRM

A permission that speaks about actions may cover only some of a call's: several together permit it when they cover all.
"""

import functools
import hashlib
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Protocol

import attrs

from permitry.core._entry import CONFIRM_MESSAGE, Entry, compiled
from permitry.core.action import Action, ActionReader, Actions, Run, Touch, Unknown
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import ActionTrace, Decision, Explanation, Phase, RuleFailure, Verdict
from permitry.core.rule import AnyRule, Question, Unsure
from permitry.core.spec import ToolSpec

__all__ = ["AuthorizationPolicy", "Flow", "Marks"]


class Flow(Protocol):
    """What a call leaves behind when it runs: a label on the session, a call on a budget.

    `id` names the rule it comes from; `label` is None, and `counts` False, for a flow that does only the other.
    """

    @property
    def id(self) -> str:
        """The id of the rule."""
        ...

    @property
    def label(self) -> str | None:
        """The label the session gets."""
        ...

    @property
    def counts(self) -> bool:
        """Whether the call counts against the budget of the rule."""
        ...

    def matches(self, question: Question) -> bool | Unsure:
        """Return whether the call leaves something behind; doubt and failure count as yes."""
        ...


@attrs.frozen
class Marks:
    """What one call leaves behind: labels, the ids of the rules whose budget it counts against, and its targets."""

    labels: frozenset[str] = frozenset()
    rules: frozenset[str] = frozenset()
    targets: frozenset[str] = frozenset()


def _read_only(value: Mapping[str, ToolSpec]) -> Mapping[str, ToolSpec]:
    return MappingProxyType(dict(value))


def _tuple_of_rules(rules: Iterable[AnyRule]) -> tuple[AnyRule, ...]:
    return tuple(rules)


def _tuple_of_flows(flows: Iterable[Flow]) -> tuple[Flow, ...]:
    return tuple(flows)


@attrs.frozen
class AuthorizationPolicy:
    """A frozen set of rules and their two-phase evaluation. Pure, thread-safe, and never in doubt.

    `rules` may mix rules of the protocol `AuthorizationRule` with objects that have only `priority()` and
    `should_allow_without_confirmation(tool_name, context)`; the latter are permissions. Within one priority the
    given order is kept; it can change which rule is named, never the verdict. An empty policy confirms everything.

    `reader` tells what calls would do; without one, nothing that is decided by actions is allowed. `declared` says what
    tools are that no registry knows. `flows` say what calls leave behind.

    Raises: `RuleError` for a rule without a usable id, priority or effect, and for a duplicate id.

    Source: seed 003, "AuthorizationPolicy (Strategy Orchestrator)".
    """

    rules: tuple[AnyRule, ...] = attrs.field(default=(), converter=_tuple_of_rules)
    reader: ActionReader | None = attrs.field(default=None, kw_only=True, repr=False, eq=False)
    declared: Mapping[str, ToolSpec] = attrs.field(factory=dict, kw_only=True, converter=_read_only, hash=False)
    flows: tuple[Flow, ...] = attrs.field(default=(), kw_only=True, converter=_tuple_of_flows)
    version: str = attrs.field(init=False)
    _overrides: tuple[Entry, ...] = attrs.field(init=False, repr=False, eq=False)
    _restrictions: tuple[Entry, ...] = attrs.field(init=False, repr=False, eq=False)
    _permissions: tuple[Entry, ...] = attrs.field(init=False, repr=False, eq=False)
    _default: Decision = attrs.field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        version = _version(self)
        entries = sorted(compiled(self.rules, version), key=lambda entry: entry.priority)
        by_phase = {phase: tuple(e for e in entries if e.phase is phase) for phase in Phase}
        for name, value in (
            ("version", version),
            ("_overrides", by_phase[Phase.OVERRIDE]),
            ("_restrictions", by_phase[Phase.RESTRICTION]),
            ("_permissions", by_phase[Phase.PERMISSION]),
            ("_default", _no_rule_speaks(version)),
        ):
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[object, ...]:
        return functools.partial(
            AuthorizationPolicy, self.rules, reader=self.reader, declared=dict(self.declared), flows=self.flows
        ), ()

    def decide(self, call: ToolCall, context: AuthContext, spec: ToolSpec | None = None) -> Decision:
        """Return the decision for one call in one context. Never raises for a failing rule, never guesses ALLOW.

        `spec` is the tool's declaration, when somebody the operator trusts makes one. For a sub-agent the strictest
        of the decisions in its own context and in those above it counts.
        """
        if context.parent is None:
            return self._decided(self.question(call, context, spec))
        return self._strictest_of(call, context, spec)[1]

    def explain(self, call: ToolCall, context: AuthContext, spec: ToolSpec | None = None) -> Explanation:
        """Return the decision with every rule's part in it, and the decision each action would get alone."""
        question, decision = self._strictest_of(call, context, spec)
        entries = (*self._overrides, *self._restrictions, *self._permissions)
        rules = tuple(entry.trace(question, decision.rule_id) for entry in entries)
        return Explanation(decision, rules, tuple(self._each_action(question)), question.context.agent)

    def marks(self, call: ToolCall, context: AuthContext, spec: ToolSpec | None = None) -> Marks:
        """Return what the call leaves behind when it runs; what cannot be told counts as left."""
        # A budget of an agent above is spent by its sub-agents as well.
        questions = [self.question(call, each, spec) for each in context.lineage()] if self.flows else []
        left = [flow for flow in self.flows if any(_leaves(flow, question) for question in questions)]
        counted = frozenset(flow.id for flow in left if flow.counts)
        labels = frozenset(flow.label for flow in left if flow.label is not None)
        return Marks(labels, counted, questions[0].targets if counted else frozenset())

    def question(self, call: ToolCall, context: AuthContext, spec: ToolSpec | None = None) -> Question:
        """Return the question to the rules, with all that is known about the tool."""
        declared = self.declared.get(call.tool)
        if spec is None or declared is None:
            return Question(call, context, declared if spec is None else spec, self.reader, own=spec)
        return Question(call, context, _completed(spec, declared), self.reader, own=spec)

    def could_run(self, spec: ToolSpec, context: AuthContext) -> bool:
        """Return whether some call of the tool could be allowed or confirmed in `context`; in doubt, True.

        False only when every call of a kind that `spec` takes is blocked, whatever its arguments, so that the tool can
        be left out of what a model is shown. For a sub-agent a block in a context above its own is enough.
        """
        return any(self._could_pass(spec, kind, context) for kind in spec.kinds)

    def should_confirm(self, tool_name: str, context: AuthContext) -> bool:
        """Return whether the bare tool may not run unasked: True for CONFIRM and for BLOCK.

        Source: seed 003, "Critical Design Decision: Plan Mode Overrides".
        """
        return self.decide(ToolCall(tool_name), context).verdict is not Verdict.ALLOW

    def is_tool_blocked(self, tool_name: str, context: AuthContext) -> bool:
        """Return whether the bare tool is blocked: no answer can make it run."""
        return self.decide(ToolCall(tool_name), context).verdict is Verdict.BLOCK

    def _could_pass(self, spec: ToolSpec, kind: PayloadKind, context: AuthContext) -> bool:
        call = ToolCall(spec.name, kind=kind)
        return not any(self._blocks_all(self.question(call, each, spec)) for each in context.lineage())

    def _blocks_all(self, question: Question) -> bool:
        """Return whether every call is surely blocked that differs from the one asked about in its arguments only."""
        if any(entry.always(question) is not False for entry in self._overrides):
            return False
        blocks = (entry for entry in self._restrictions if entry.decision.verdict is Verdict.BLOCK)
        return any(entry.always(question) is True for entry in blocks)

    def _strictest_of(self, call: ToolCall, context: AuthContext, spec: ToolSpec | None) -> tuple[Question, Decision]:
        questions = [self.question(call, each, spec) for each in context.lineage()]
        decided = [(question, self._decided(question)) for question in questions]
        # max keeps the first of equals: the agent's own context.
        return max(decided, key=lambda pair: pair[1].verdict.strictness)

    def _decided(self, question: Question) -> Decision:
        failures: list[RuleFailure] = []
        chosen = (
            self._first(self._overrides, question, failures)
            or self._strictest(question, failures)
            or self._permitted(question, failures)
            or [self._default]
        )[0]
        return attrs.evolve(chosen, errors=tuple(failures)) if failures else chosen

    # A Decision is no yes or no, so the steps return it in a list: empty where none was made.

    @staticmethod
    def _first(entries: tuple[Entry, ...], question: Question, failures: list[RuleFailure]) -> list[Decision]:
        for entry in entries:
            decision = entry.decides(question, failures)
            if decision is not None:
                return [decision]
        return []

    def _strictest(self, question: Question, failures: list[RuleFailure]) -> list[Decision]:
        # Every restriction is asked, also after a match: a failure further on belongs in the record.
        asked = [(entry, entry.decides(question, failures)) for entry in self._restrictions]
        matched = [(decision, decision is entry.decision) for entry, decision in asked if decision is not None]
        # Of equals a rule that is sure goes first, then, as max keeps the first, the lowest priority number.
        return [max(matched, key=lambda pair: (pair[0].verdict.strictness, pair[1]))[0]] if matched else []

    def _permitted(self, question: Question, failures: list[RuleFailure]) -> list[Decision]:
        covered: frozenset[int] = frozenset()
        for entry in self._permissions:
            before = len(failures)
            decision = entry.decides(question, failures)
            if decision is not None:
                return [decision]
            if entry.covers is not None and len(failures) == before and _is_divisible(question):
                covered |= entry.covered(question, failures)
                # INVARIANT: law 3. A call is permitted by its parts only when not one of them is left.
                if covered.issuperset(range(len(question.actions.certain))):
                    return [entry.decision]
        return []

    def _each_action(self, question: Question) -> Iterable[ActionTrace]:
        if question.tool is None or not question.tool.roles:
            return
        actions = question.actions
        for is_certain, group in ((True, actions.certain), (False, (*actions.possible, *actions.guessed))):
            for action in group:
                alone = Actions((action,), roots=actions.roots, doubt=_doubt_of(action, actions))
                decision = self._decided(attrs.evolve(question, reader=_Reading(alone)))
                yield ActionTrace(action, decision, is_certain)


@attrs.frozen
class _Reading:
    """A reader that has read already."""

    actions: Actions

    def __call__(self, call: ToolCall, context: AuthContext, spec: ToolSpec | None) -> Actions:  # noqa: ARG002 -- the protocol's
        return self.actions


def _doubt_of(action: Action, actions: Actions) -> str | None:
    match action:
        case Run():
            return action.doubt
        case Touch() if action.access.value == "read":
            return None
        case Unknown():
            return action.reason
        case _:
            return actions.doubt or "it does more than read"


def _is_divisible(question: Question) -> bool:
    """Return whether several permissions could share the call: it has several actions, and all are known."""
    if question.tool is None or not question.tool.roles:
        return False
    return len(question.actions.certain) > 1 and question.actions.unknown is None


def _completed(spec: ToolSpec, declared: ToolSpec) -> ToolSpec:
    """Return a spec with what a rule file declares where the spec itself is silent."""
    traits = attrs.asdict(declared.traits) | {
        name: value for name, value in attrs.asdict(spec.traits).items() if value is not None
    }
    roles = declared.roles if spec.roles is None else spec.roles
    return attrs.evolve(spec, traits=type(spec.traits)(**traits), roles=roles)


def _leaves(flow: Flow, question: Question) -> bool:
    try:
        return flow.matches(question) is not False
    except Exception:  # noqa: BLE001 -- law 2: what cannot be evaluated counts as left
        return True


def _no_rule_speaks(version: str) -> Decision:
    return Decision(Verdict.CONFIRM, None, Phase.DEFAULT, "no rule speaks", CONFIRM_MESSAGE, policy_version=version)


def _version(policy: AuthorizationPolicy) -> str:
    """Return a short digest that is the same for the same rules, in any process."""
    parts = (*policy.rules, *policy.flows)
    texts = [repr(part) if attrs.has(type(part)) else type(part).__qualname__ for part in parts]
    texts += [f"{name} {policy.declared[name].digest}" for name in sorted(policy.declared)]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]
