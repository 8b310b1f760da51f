"""The policy: a frozen set of rules and the one order in which they are asked.

::

    phase 0  overrides     priority   0- 99  first match             -> ALLOW
    phase 1  restrictions  priority 100-199  all matches collected   -> any sure block: BLOCK, else any other: CONFIRM
    phase 2  permissions   priority 200-399  first match             -> ALLOW, or CONFIRM by a rule that asks
    nothing matched                                                  -> CONFIRM, or BLOCK where `unmatched` says so

Where `unmatched` is BLOCK, a restriction asks only about what phase 2 would permit or ask about; the rest is blocked.
So does a rule of phase 2 that asks and is unsure whether it matches.

A permission about actions may cover only some of a call's: several together permit it when they cover all. A rule of
phase 2 that asks is about what those before it have left; of equal priorities the one that asks goes first.

The laws that comments name by number, here and elsewhere, are in `docs/explanation/two-phases.md`.
"""

import functools
import operator
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias, TypeVar

import attrs

from permitry.core._evaluate import Phases, ask_overrides, ask_permissions, ask_restrictions, list_restrictions
from permitry.core.call import ToolCall
from permitry.core.compile import compile_rules, permits_undoable
from permitry.core.compiled_rule import CompiledRule
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, DecisionCache, Phase, RuleFailure, Verdict
from permitry.core.explain import explain
from permitry.core.explanation import Explanation
from permitry.core.extend import add_lists, add_rules
from permitry.core.flow import Flow, check_relied_on, side_effects
from permitry.core.index import Index
from permitry.core.origin import Origin
from permitry.core.rule import ActionReader, AnyRule, Request
from permitry.core.shared import SideEffects
from permitry.core.source import Lists, RuleSource
from permitry.core.spec import Specs, ToolSpec
from permitry.core.version import digest_rules
from permitry.errors import RuleError

__all__ = ["AuthorizationPolicy"]


def evaluate(request: Request, rules: Phases) -> Decision:
    """Return the decision the rules come to; a rule that fails neither raises nor leads to ALLOW."""
    failures: list[RuleFailure] = []
    # Each returns the decision in a list, empty where none was made: a decision is neither true nor false.
    (decision,) = (
        ask_overrides(rules.overrides, request, failures)
        or ask_restrictions(rules, request, failures)
        or ask_permissions(rules, request, failures)
        or [rules.cache.default]
    )
    # INVARIANT: law 1. What its registry wants asked about is asked about, whatever permits it.
    own, is_override = request.own, decision.phase is Phase.OVERRIDE
    if own is not None and own.requires_approval and decision.verdict is Verdict.ALLOW and not is_override:
        decision = rules.cache.approval
    return rules.cache.with_failures(decision, failures) if failures else decision


Added = TypeVar("Added", bound=RuleSource | Lists)
_NOTHING_LEFT = SideEffects()
_Asked: TypeAlias = "tuple[AuthorizationPolicy, Request, Phases]"


def _read_only(value: Mapping[str, ToolSpec]) -> Mapping[str, ToolSpec]:
    return MappingProxyType(dict(value))


def _tuple_of_rules(rules: Iterable[AnyRule]) -> tuple[AnyRule, ...]:
    return tuple(rules)


def _tuple_of_flows(flows: Iterable[Flow]) -> tuple[Flow, ...]:
    return tuple(flows)


@attrs.frozen
class AuthorizationPolicy:
    """A frozen set of rules, asked phase by phase. Pure and thread-safe; no doubt leads to ALLOW.

    `rules` may hold permissions that are of no other protocol than `PermissionRule`. Of equal priorities
    the given order is kept, but rules that ask go first, and general restrictions before narrow ones.
    An empty policy confirms everything. `unmatched` is the verdict when no rule matched, CONFIRM or
    BLOCK; `unmatched_source` says where that is written, as `file:line`.

    `reader` tells what calls would do; without one, nothing that is decided by actions is allowed. Restrictions are
    asked by its `others` too; of decisions by it and its `doubtful` one the stricter counts. `declared` says what
    tools are that no registry knows. `flows` say what calls leave behind. `with_rules` adds rules and keeps these.
    `observed` is the policy as it would be with rules that are observed: it is asked by `would`, and decides nothing.
    `source_files` are the rule files behind it, for those who keep records.

    Raises: `RuleError` for a rule without a usable id, priority or effect, for a duplicate id, and for a rule that
    relies on a label or a budget that no flow keeps. `ValueError` for another `unmatched`.
    """

    rules: tuple[AnyRule, ...] = attrs.field(default=(), converter=_tuple_of_rules)
    reader: ActionReader | None = attrs.field(default=None, kw_only=True, repr=False, eq=False)
    declared: Mapping[str, ToolSpec] = attrs.field(factory=dict, kw_only=True, converter=_read_only, hash=False)
    flows: tuple[Flow, ...] = attrs.field(default=(), kw_only=True, converter=_tuple_of_flows)
    unmatched: Verdict = attrs.field(
        default=Verdict.CONFIRM, kw_only=True, validator=attrs.validators.in_((Verdict.CONFIRM, Verdict.BLOCK))
    )
    unmatched_source: str | None = attrs.field(default=None, kw_only=True, eq=False)
    observed: "AuthorizationPolicy | None" = attrs.field(default=None, kw_only=True, repr=False)
    source_files: tuple[object, ...] = attrs.field(default=(), kw_only=True, repr=False, eq=False)
    _cache: DecisionCache = attrs.field(init=False, repr=False)
    _phases: Phases = attrs.field(init=False, repr=False, eq=False)
    _index: Index = attrs.field(init=False, repr=False, eq=False)
    # By identity of a rule set, or of lists: the policy with them, kept as long as they are there.
    _extended: "dict[int, tuple[weakref.ref[RuleSource | Lists], AuthorizationPolicy]]" = attrs.field(
        factory=dict, init=False, repr=False, eq=False
    )

    def __attrs_post_init__(self) -> None:
        cache = DecisionCache(
            functools.partial(
                digest_rules, self.rules, self.flows, self.declared, self.unmatched, self.reader, observed=self.observed
            ),
            self.unmatched,
            self.unmatched_source,
        )
        phases = Phases.of(sorted(compile_rules(self.rules, cache), key=_place_of), cache)
        check_relied_on((each.rule for each in phases.every), self.flows)
        index = Index(phases, evaluate, reader=self.reader, declared=self.declared)
        for name, value in (("_cache", cache), ("_phases", phases), ("_index", index)):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        # As `file:line`; a policy has too many rules to be read as a text.
        sources = {str(getattr(rule, "source", "")).rpartition(":")[0] for rule in self.rules}
        return f"<{type(self).__name__}: rules={len(self.rules)}, files={len(sources - {''})}, version={self.version}>"

    def __reduce__(self) -> tuple[object, ...]:
        fields = {field.name: getattr(self, field.name) for field in attrs.fields(AuthorizationPolicy) if field.init}
        fields["declared"] = dict(self.declared)
        return functools.partial(AuthorizationPolicy, **fields), ()

    @property
    def version(self) -> str:
        """A short digest, the same for the same rules in any process; made when it is first asked for."""
        return self._cache.version

    @functools.cached_property
    def without_keeping(self) -> "AuthorizationPolicy":
        """This policy for a call that cannot be undone: without what permits only those that can be."""
        rules = tuple(rule for rule in self.rules if not permits_undoable(rule))
        return self if len(rules) == len(self.rules) else attrs.evolve(self, rules=rules)

    @functools.cached_property
    def shares_budgets(self) -> bool:
        """Whether a call can count for a budget that other sessions share."""
        return any(getattr(flow, "limit", None) is not None for flow in self.flows)

    @functools.cached_property
    def asks_origins(self) -> bool:
        """Whether a rule asks where a value comes from."""
        return any(each.rule.asks_origins for each in self._phases.every)

    def with_rules(self, *rules: AnyRule | RuleSource, flows: Iterable[Flow] = ()) -> "AuthorizationPolicy":
        """Return this policy with more rules; its reader, declarations and flows stay.

        Of a rule set all counts: rules that are not here yet, flows, tools that are not declared here, and the stricter
        `unmatched`. `flows` are those of single rules. Of rules that are equal in their order the new ones come last.

        Raises: `RuleError` as the class does, so for another rule of an id that is here already.
        """
        flows = tuple(flows)
        observed = self.observed and self.observed.with_rules(*rules, flows=flows)
        return attrs.evolve(self, **add_rules(self, rules, flows), observed=observed)

    def within(self, context: AuthContext) -> "AuthorizationPolicy":
        """Return the policy for the calls of one context alone, with its rules and lists.

        Raises: `RuleError` as `with_rules` and `with_lists`: a session with unusable rules runs nothing.
        """
        policy = self if context.rules is None else self._extend(context.rules, self._alone.with_rules)
        if context.lists is None:
            return policy
        return policy._extend(context.lists, policy._alone.with_lists)  # noqa: SLF001 -- a policy as this one

    def with_lists(self, lists: Mapping[str, Iterable[str | float]]) -> "AuthorizationPolicy":
        """Return this policy with more values in the named lists of its rules, which a host gives and are trusted.

        Raises: `TypeError` for other values than texts and numbers; `RuleError` for those that no rule can use.
        """
        observed = self.observed and self.observed.with_lists(lists)
        return attrs.evolve(self, **add_lists(self, lists), observed=observed)

    @functools.cached_property
    def _alone(self) -> "AuthorizationPolicy":
        """This policy without observed rules, with which those of a session may clash."""
        return self if self.observed is None else attrs.evolve(self, observed=None)

    def _extend(self, source: Added, make: "Callable[[Added], AuthorizationPolicy]") -> "AuthorizationPolicy":
        """Return the policy that is made with a source, and keep it as long as that is there."""
        kept = self._extended.get(id(source))
        if kept is not None and kept[0]() is source:
            return kept[1]
        # INVARIANT: what is remembered of decisions belongs to a policy, so no session sees those of other rules.
        made, every, key = make(source), self._extended, id(source)
        every[key] = weakref.ref(source, lambda _: every.pop(key, None)), made
        return made

    @functools.cached_property
    def _doubtful(self) -> "AuthorizationPolicy | None":
        """The policy that reads calls by what is not trusted as well, if there is any."""
        reader = getattr(self.reader, "doubtful", None)
        return None if reader is None else attrs.evolve(self, reader=reader)

    def _look_up(self, call: ToolCall, context: AuthContext, spec: ToolSpec | None) -> "Iterator[_Asked]":
        """Yield the policies of which each must permit a call, with what they are asked and which rules can match."""
        for each in context.lineage():
            policy: AuthorizationPolicy | None = self.within(each)
            while policy is not None:
                yield policy, *_index_of(policy).look_up(call, each, spec)
                policy = policy._doubtful  # noqa: SLF001 -- a policy as this one

    def decide(self, call: ToolCall, context: AuthContext, spec: ToolSpec | None = None) -> Decision:
        """Return the decision for one call in one context; a rule that fails never leads to ALLOW.

        `spec` is the tool's declaration, when a source that the operator trusts makes one. For a sub-agent
        the strictest of the decisions in its own context and in those above it counts.

        Raises: `RuleError` when the rules of the session cannot be added, see `with_rules`.
        """
        if context.parent is None and context.rules is None and context.lists is None and self._doubtful is None:
            return evaluate(*self._index.look_up(call, context, spec))
        decisions = [evaluate(request, phases) for _, request, phases in self._look_up(call, context, spec)]
        return _find_strictest(decisions)

    def decide_many(
        self, calls: Iterable[ToolCall], context: AuthContext, specs: Specs | None = None
    ) -> list[Decision]:
        """Return the decisions for calls in one context, in order; no call counts for the next."""
        if specs is None:
            return [self.decide(call, context) for call in calls]
        return [self.decide(call, context, specs.get(call.tool)) for call in calls]

    def explain(self, call: ToolCall, context: AuthContext, spec: ToolSpec | None = None) -> Explanation:
        """Return the decision with every rule's part in it, and what each action would get alone."""
        every = [(request, _phases_of(policy)) for policy, request, _ in self._look_up(call, context, spec)]
        decisions = [evaluate(request, phases) for request, phases in every]
        decision = _find_strictest(decisions)
        request, phases = every[[each.verdict for each in decisions].index(decision.verdict)]
        return attrs.evolve(explain(request, phases, decision, evaluate), would=self.would(call, context, spec))

    def would(self, call: ToolCall, context: AuthContext, spec: ToolSpec | None = None) -> Decision | None:
        """Return what would be decided if observed rules were obeyed; None where that is the same, by the same rule.

        None as well where they cannot be asked together with the rules of the session.
        """
        # INVARIANT: an observed rule is asked behind the decision, by a policy of which nothing else is asked.
        if self.observed is None:
            return None
        try:
            other = self.observed.decide(call, context, spec)
        except RuleError:
            return None
        own = self.decide(call, context, spec)
        if (own.verdict, own.rule_id) == (other.verdict, other.rule_id):
            return None
        return other

    def restrictions_on(
        self, call: ToolCall, context: AuthContext, spec: ToolSpec | None = None
    ) -> tuple[Decision, ...]:
        """Return what each restriction decides that applies, the strictest first; of those that may, the likeliest."""
        every = self._look_up(call, context, spec)
        found = (decision for _, request, phases in every for decision in list_restrictions(phases, request))
        return tuple({decision.rule_id: decision for decision in found}.values())

    def origins(self, call: ToolCall, context: AuthContext, spec: ToolSpec | None = None) -> tuple[Origin, ...]:
        """Return where the values came from that rules ask about; none where nothing was heard."""
        known = context.provenance
        if not (known.messages or known.results):
            return ()
        # An explanation looks at every rule, so that it is made only where there is something in it.
        asks = any(self.within(each).asks_origins for each in context.lineage())
        return self.explain(call, context, spec).origins if asks else ()

    def side_effects(self, call: ToolCall, context: AuthContext, spec: ToolSpec | None = None) -> SideEffects:
        """Return what the call leaves behind when it runs; what is not known counts as left."""
        if not self.flows and context.rules is None and context.parent is None:
            return _NOTHING_LEFT
        # A budget of an agent above is spent by its sub-agents as well.
        policies = map(self.within, context.lineage())
        flows = {id(flow): flow for policy in policies for flow in policy.flows}.values()
        return side_effects(flows, [self.request(call, each, spec) for each in context.lineage()])

    def request(self, call: ToolCall, context: AuthContext, spec: ToolSpec | None = None) -> Request:
        """Return what rules are asked about: the call, with all that is known about its tool."""
        return _index_of(self.within(context)).request(call, context, spec)

    question = request
    """The earlier name of `request`, which stays."""

    def could_run(self, spec: ToolSpec, context: AuthContext) -> bool:
        """Return whether some call of the tool could be allowed or confirmed; in doubt, True.

        False only when all calls are blocked, whatever their arguments: the tool need not be shown to a
        model. For a sub-agent a block in a context above its own is enough.
        """
        contexts = (context,) if context.parent is None else tuple(context.lineage())
        for kind in spec.kinds:
            for each in contexts:
                index = self._index if each.rules is None and each.lists is None else _index_of(self.within(each))
                if index.blocks_all(spec, kind, each):
                    break
            else:
                return True
        # What takes no call at all cannot run.
        return False

    def should_confirm(self, tool_name: str, context: AuthContext) -> bool:
        """Return whether the bare tool may not run unasked: True for CONFIRM and for BLOCK."""
        return self.decide(ToolCall(tool_name), context).verdict is not Verdict.ALLOW

    def is_tool_blocked(self, tool_name: str, context: AuthContext) -> bool:
        """Return whether the bare tool is blocked: no answer can make it run."""
        return self.decide(ToolCall(tool_name), context).verdict is Verdict.BLOCK


def _place_of(rule: CompiledRule) -> tuple[int, int, int]:
    """Return the place of a rule among those of its phase."""
    # Of equal priorities rules that ask go first, and general restrictions before narrow ones.
    narrow = rule.specificity if rule.phase is Phase.RESTRICTION else (rule.effect is Verdict.ALLOW, 0)
    return rule.priority, *narrow


_phases_of: Callable[[AuthorizationPolicy], Phases] = operator.attrgetter("_phases")
_index_of: Callable[[AuthorizationPolicy], Index] = operator.attrgetter("_index")


def _find_strictest(decisions: Sequence[Decision]) -> Decision:
    """Return the strictest decision; it wants changes kept for undo if that of any agent in the lineage does."""
    # max keeps the first of equals: that of the agent's own context.
    decision = max(decisions, key=lambda each: each.verdict.strictness)
    keeps = any(each.keeps for each in decisions)
    return attrs.evolve(decision, keeps=True) if keeps and not decision.keeps else decision
