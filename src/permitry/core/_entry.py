"""A rule as the policy keeps it: everything asked of it once, and its decisions made beforehand."""

import contextlib
import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from types import FunctionType
from typing import Any, NamedTuple, TypeGuard, cast

import attrs

from permitry.core._known import Unresolved
from permitry.core._version import CONFIRM_MESSAGE, Version
from permitry.core.decision import Decision, Phase, RuleFailure, Verdict
from permitry.core.explanation import RuleOutcome, RuleTrace
from permitry.core.facts import Fact
from permitry.core.lists import lists_in
from permitry.core.names import NamePattern
from permitry.core.origin import Origin
from permitry.core.pattern import Pattern
from permitry.core.rule import (
    AnyRule,
    AuthorizationRule,
    PermissionRule,
    Question,
    Selector,
    Unsure,
    phase_of,
)
from permitry.core.texts import one_line
from permitry.errors import RuleError, safe_str

_DOUBT_MESSAGE = (
    "This call needs the user's confirmation before it runs: what it would do cannot be read with certainty. "
    "Plain arguments are asked about less often than expansions, scripts and patterns."
)
_BLOCK_MESSAGE = (
    "This call is not permitted and did not run. Do not retry it; go on without it or ask the user how to proceed."
)
# A class says these in its own body: a subclass may have changed what they were true of.
_BY_OWN_WORD = ("selectors", "needs")
# Looked up once: a rule is looked at often while policies are made.
_ALLOW, _CONFIRM = Verdict.ALLOW, Verdict.CONFIRM
_EFFECTS = {
    Phase.OVERRIDE: (_ALLOW,),
    Phase.RESTRICTION: (_CONFIRM, Verdict.BLOCK),
    Phase.PERMISSION: (_ALLOW, _CONFIRM),
}


class Methods(NamedTuple):
    """What rules are asked, as functions of a rule and a question: one object for all rules of an ordinary class.

    `covers` is there for what can be a permission about actions: it returns the indices of those it
    permits. `selectors` and `needs` are there for a rule that says which tools and which facts it is about. `is_pure`
    and `is_sure_by_needs`: True, or a property of the rule that says so.
    """

    matches: Callable[..., bool | Unsure]
    near_miss: Callable[..., str | None]
    covers: Callable[..., frozenset[int]] | None = None
    selectors: Callable[..., tuple[Selector, ...] | None] | None = None
    needs: Callable[..., Sequence[frozenset[Fact]]] | None = None
    is_pure: property | bool = False
    is_sure_by_needs: property | bool = False


def _unresolved(*_: object) -> Any:  # noqa: ANN401 -- it never returns
    raise Unresolved


_UNRESOLVED = Methods(_unresolved, _unresolved, _unresolved)


@attrs.define(eq=False, weakref_slot=False)
class Entry:
    """One rule of a policy, with all that was asked of it when the policy was made."""

    rule: AnyRule
    methods: Methods
    rule_id: str
    priority: int
    phase: Phase
    effect: Verdict
    reason: str
    message: str | None
    source: str | None
    version: Version
    keeps: bool = False

    @property
    def decision(self) -> Decision:
        """What the rule decides, made once."""
        decisions = self.version.decisions
        decision = decisions.get(self.rule_id)
        if decision is None:
            made = Decision(
                self.effect,
                self.rule_id,
                self.phase,
                self.reason,
                self.message,
                source=self.source,
                policy_version=self.version.text,
                keeps=self.keeps,
            )
            decision = decisions.setdefault(self.rule_id, made)
        return decision

    @property
    def can_cover(self) -> bool:
        """Whether the rule may permit some of the actions of a call."""
        return self.phase is Phase.PERMISSION and self.effect is _ALLOW and self.methods.covers is not None

    def places(self) -> Iterable[str | NamePattern | Selector | None]:
        """Return under what the rule is to be filed: patterns of names, selectors by traits, and None for any tool."""
        method = self.methods.selectors
        try:
            selectors = None if method is None else method(self.rule)
            places = () if selectors is None else [_place(selector) for selector in selectors]
        except Exception:  # noqa: BLE001 -- a rule that cannot say what it is about is asked about every call
            places = ()
        return places or (None,)

    @property
    def specificity(self) -> tuple[int, int]:
        """How narrow the rule is, by what it is written with; of no rule that does not say so."""
        found: object = None
        with contextlib.suppress(Exception):
            found = getattr(self.rule, "specificity", None)
        match found:
            case (int() as kind, int() as words):
                return kind, words
            case _:
                return 0, 0

    @property
    def for_trial(self) -> "Entry":
        """The entry to ask with stand-ins; unless its rule says it is pure, it raises `Unresolved`."""
        return self if self._says(self.methods.is_pure) else attrs.evolve(self, methods=_UNRESOLVED)

    @property
    def is_sure_by_needs(self) -> bool:
        """Whether without a known fact of those it needs, the rule is a restriction that is unsure at most."""
        return self.phase is Phase.RESTRICTION and self._says(self.methods.is_sure_by_needs)

    def _says(self, word: property | bool) -> bool:  # noqa: FBT001 -- what the class says is the value itself
        try:
            said: object = word.__get__(self.rule) if isinstance(word, property) else word
        except Exception:  # noqa: BLE001 -- a rule that cannot say it does not count as saying it
            return False
        return said is True

    def needs(self) -> Sequence[frozenset[Fact]]:
        """Return sets of facts, one of each of which is met before the rule can match; none when it does not say."""
        method = self.methods.needs
        try:
            sets = () if method is None else tuple(map(frozenset, method(self.rule)))
        except Exception:  # noqa: BLE001 -- a rule that cannot say what it needs is asked about every call
            return ()
        are_facts = all(each and all(type(fact) is Fact for fact in each) for each in sets)
        return sets if are_facts else ()

    def decides(self, question: Question, failures: list[RuleFailure]) -> Decision | None:
        """Return the rule's decision if it matches, or None; a failure is kept and counts against the call."""
        return self.decided(self.answer(question, failures))

    def covered(self, question: Question, failures: list[RuleFailure]) -> frozenset[int]:
        """Return the indices of the actions the rule permits; none where it fails."""
        try:
            covers = self.methods.covers if self.can_cover else None
            return frozenset() if covers is None else frozenset(covers(self.rule, question))
        except Exception as error:  # noqa: BLE001 -- a failing rule must never decide in the call's favour
            failures.append(self.version.failure(self.rule_id, error))
            return frozenset()

    def trace(self, question: Question, deciding: str | None) -> RuleTrace:
        """Return the rule's part in the decision, for a human."""
        failures: list[RuleFailure] = []
        answer = self.answer(question, failures)
        outcome = self._outcome(question, answer, failures)
        doubt = str(answer) if isinstance(answer, Unsure) else None
        is_near = outcome in (RuleOutcome.NOT_MATCHED, RuleOutcome.COVERED)
        return RuleTrace(
            rule_id=self.rule_id,
            phase=self.phase,
            priority=self.priority,
            effect=self.effect,
            outcome=outcome,
            source=self.source,
            reason=self.reason,
            deciding=self.rule_id == deciding,
            near_miss=self._near_miss(question) if is_near else None,
            unless=self._not_lifted(question) if outcome is RuleOutcome.MATCHED else None,
            error=failures[0].error if failures else doubt,
            lists=tuple(sorted(lists_in(self.rule))),
            origins=self._origins(question),
        )

    def answer(self, question: Question, failures: list[RuleFailure]) -> bool | Unsure | None:
        """Return the rule's answer; None for a failure, which is kept."""
        try:
            answer = self.methods.matches(self.rule, question)
        except Exception as error:  # noqa: BLE001 -- a failing rule must never decide in the call's favour
            failures.append(self.version.failure(self.rule_id, error))
            return None
        if answer is True or answer is False or isinstance(answer, Unsure):
            return answer
        failures.append(RuleFailure(self.rule_id, f"answered {safe_str(answer, repr)}, not True or False"))
        return None

    def decided(self, answer: bool | Unsure | None) -> Decision | None:  # noqa: FBT001 -- the answer is the value itself
        """Return what an answer of the rule decides, or None."""
        if isinstance(answer, Unsure):
            return self._unsure(answer)
        if answer is None:
            # INVARIANT: law 2. What restricts or asks counts as matched when it fails, what allows as not matched.
            return None if self.effect is _ALLOW else self.decision
        return self.decision if answer else None

    def _unsure(self, answer: Unsure) -> Decision | None:
        # INVARIANT: law 3. What cannot be read makes a restriction ask, and a permission not match.
        # The grounds are those of the doubt: the call may do nothing that the rule is about.
        if self.effect is _ALLOW:
            return None
        # What looks like nothing in particular may be what many rules are about.
        applies = f"`{self.rule_id}`" if answer.likeness else f"rules such as `{self.rule_id}`"
        reason = f"{answer.reason}, so {applies} could apply"
        reason = f"{reason}: it may {answer.may}" if answer.may else reason
        # It may name what a model wrote; a host shows it in its terminal.
        return attrs.evolve(self.decision, verdict=Verdict.CONFIRM, reason=one_line(reason), message=_DOUBT_MESSAGE)

    def _outcome(
        self,
        question: Question,
        answer: bool | Unsure | None,  # noqa: FBT001 -- the answer is the value itself
        failures: list[RuleFailure],
    ) -> RuleOutcome:
        if answer is True:
            return RuleOutcome.MATCHED
        covers_a_part = not failures and bool(self.covered(question, failures))
        if failures:
            return RuleOutcome.FAILED
        if covers_a_part:
            return RuleOutcome.COVERED
        return RuleOutcome.UNSURE if isinstance(answer, Unsure) else RuleOutcome.NOT_MATCHED

    def _not_lifted(self, question: Question) -> str | None:
        try:
            not_lifted = getattr(self.rule, "not_lifted", None)
            return None if not_lifted is None else not_lifted(question)
        except Exception:  # noqa: BLE001 -- as for a near miss
            return None

    def _origins(self, question: Question) -> tuple[Origin, ...]:
        try:
            origins = getattr(self.rule, "origins", None)
            return () if origins is None else tuple(origins(question))
        except Exception:  # noqa: BLE001 -- as for a near miss
            return ()

    def _near_miss(self, question: Question) -> str | None:
        try:
            return self.methods.near_miss(self.rule, question)
        except Exception:  # noqa: BLE001 -- a near miss is a courtesy; it must not cost the explanation
            return None


def compiled(rules: Iterable[AnyRule], version: Version) -> Iterable[Entry]:
    """Yield the entries of rules, in their order.

    Raises: `RuleError` for a rule without a usable id, priority or effect, and for a duplicate id.
    """
    seen: set[str] = set()
    methods: dict[type, Methods | None] = {}
    for rule in rules:
        kind = type(rule)
        if kind not in methods:
            methods[kind] = _methods_of_all(kind)
        shared = methods[kind]
        if shared is not None or _is_full(rule):
            entry = _entry(cast("AuthorizationRule", rule), shared, version)
        else:
            entry = _permission_entry(rule, version, seen)
        if entry.rule_id in seen:
            raise RuleError(f"two rules have the id `{entry.rule_id}`")
        seen.add(entry.rule_id)
        yield entry


def _methods_of_all(kind: type) -> Methods | None:
    """Return the methods of a class whose objects cannot differ in them, or None for any other class."""
    looks_up = [_found(kind, name) for name in ("__getattr__", "__getattribute__")]
    if kind.__dictoffset__ or looks_up != [None, _found(object, "__getattribute__")]:
        return None
    found = {name: _found(kind, name) for name in ("matches", "near_miss", "covers")}
    are_plain = all(each is None or isinstance(each, FunctionType) for each in found.values())
    if not are_plain or found["matches"] is None or found["near_miss"] is None:
        return None
    own: dict[str, Any] = {
        name: each for name in _BY_OWN_WORD if isinstance(each := kind.__dict__.get(name), FunctionType)
    }
    own |= {name: kind.__dict__.get(name, False) for name in ("is_pure", "is_sure_by_needs")}
    return Methods(**found, **own)


def _found(kind: type, name: str) -> Any:  # noqa: ANN401 -- a class may hold anything
    return next((each.__dict__[name] for each in kind.__mro__ if name in each.__dict__), None)


def _methods_of(rule: AuthorizationRule) -> Methods:
    """Return the methods of one object, whatever they are; of such a one nothing is taken for granted."""
    return Methods(*map(_bound, (rule.matches, rule.near_miss, getattr(rule, "covers", None))))


def _bound(method: Callable[..., Any] | None) -> Any:  # noqa: ANN401 -- what the method returns
    """Return a method of one object as a function of a rule."""
    return None if method is None else lambda _, *given, **named: method(*given, **named)


def _is_full(rule: AnyRule) -> TypeGuard[AuthorizationRule]:
    # Asked of the object, not of its class: a wrapper forwards what it wraps, and a restriction stays one.
    return hasattr(rule, "matches") or hasattr(rule, "effect")


def _entry(rule: AuthorizationRule, methods: Methods | None, version: Version) -> Entry:
    try:
        rule_id, effect, reason, message, source = rule.id, rule.effect, rule.reason, rule.message, rule.source
        methods = methods or _methods_of(rule)
    except AttributeError as error:
        raise RuleError(f"`{type(rule).__name__}` is not a rule: {error}") from error
    if type(rule_id) is not str or not rule_id:
        raise RuleError(f"`{type(rule).__name__}` has no id")
    if not isinstance(effect, Verdict):
        raise RuleError(f"rule `{rule_id}`: the effect must be a Verdict, not {effect!r}")
    priority = _checked_priority(rule, rule_id)
    phase = phase_of(priority)
    if phase is None or effect not in _EFFECTS[phase]:
        raise RuleError(
            f"rule `{rule_id}`: priority {priority} does not fit the effect {effect.value}; "
            "0 to 99 allow, 100 to 199 confirm or block, 200 to 399 allow or confirm"
        )
    if message is None and effect is not _ALLOW:
        message = CONFIRM_MESSAGE if effect is Verdict.CONFIRM else _BLOCK_MESSAGE
    keeps = getattr(rule, "keeps", False) is not False
    return Entry(rule, methods, rule_id, priority, phase, effect, reason, message, source, version, keeps)


def _place(selector: Selector) -> str | NamePattern | Selector | None:
    pattern = selector.pattern
    if pattern is None:
        hash(selector)
        return None if isinstance(selector, str | NamePattern) else selector
    if type(pattern) is NamePattern and type(pattern.text) is str:
        return pattern
    # A pattern of another class may fit other names than its text says.
    if type(pattern) is not Pattern or type(pattern.text) is not str:
        return None
    return pattern.text


def _permission_entry(rule: AnyRule, version: Version, seen: set[str]) -> Entry:
    name = type(rule).__name__
    if not isinstance(rule, PermissionRule):
        raise RuleError(f"`{name}` is not a rule: it has neither an effect nor `should_allow_without_confirmation`")
    kebab = re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()
    numbered = (f"{kebab}-{number}" for number in itertools.count(2))
    rule_id = kebab if kebab not in seen else next(each for each in numbered if each not in seen)
    priority = _checked_priority(rule, rule_id)
    if phase_of(priority) is None:
        raise RuleError(f"rule `{rule_id}`: priority {priority} is outside 0 to 399")

    def matches(_: object, question: Question) -> bool:
        return rule.should_allow_without_confirmation(question.call.tool, question.context)

    # INVARIANT: law 1. A two-method rule says only "allow", so whatever its priority it is asked after the
    # restrictions.
    methods, reason = Methods(matches, lambda _, __: None), f"{name} permits it"
    return Entry(rule, methods, rule_id, priority, Phase.PERMISSION, Verdict.ALLOW, reason, None, None, version)


def _checked_priority(rule: AnyRule, rule_id: str) -> int:
    priority = rule.priority()
    if type(priority) is not int:
        raise RuleError(f"rule `{rule_id}`: the priority must be a whole number, not {priority!r}")
    return priority
