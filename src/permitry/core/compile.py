"""What a policy makes of its rules: each complete and checked, and no two with one id."""

import contextlib
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from types import FunctionType, NoneType, SimpleNamespace
from typing import ClassVar, TypeGuard, cast

import attrs

from permitry.core.compiled_rule import CompiledRule
from permitry.core.decision import CONFIRM_MESSAGE, DecisionCache, Phase, Verdict
from permitry.core.rule import AnyRule, AuthorizationRule, PermissionRule, Request, Rule, phase_of
from permitry.core.shared import SideEffects
from permitry.errors import RuleError

__all__ = ["compile_rules", "complete", "permits_undoable"]

# What the model is shown, and the way out; the reason of the rule comes between.
_MESSAGES = {
    Verdict.CONFIRM: (CONFIRM_MESSAGE, "Go on without it, or say what you need it for."),
    Verdict.BLOCK: (
        "This call is not permitted and did not run.",
        "Do not retry it; go on without it or ask the user how to proceed.",
    ),
}
_EFFECTS = {
    Phase.OVERRIDE: (Verdict.ALLOW,),
    Phase.RESTRICTION: (Verdict.CONFIRM, Verdict.BLOCK),
    Phase.PERMISSION: (Verdict.ALLOW, Verdict.CONFIRM),
}
# What a rule must have; what counts against the call, so that a rule that fails to say it is none; what only helps.
_REQUIRED = ("id", "effect", "reason", "message", "source", "priority", "matches", "near_miss")
_STRICT = ("keeps", "relies_on")
_HELPFUL = ("covers", "lacks_roles", "specificity", "not_lifted", "asks_origins", "origins")
_OF_LISTS = ("lists", "with_lists")
_OF_CLASS: Mapping[str, tuple[type, ...]] = {"needs": (FunctionType,), "is_pure": (bool, property)}


def compile_rules(rules: Iterable[AnyRule], cache: DecisionCache) -> Iterator[CompiledRule]:
    """Yield the compiled rules, in the order given, or raise the `RuleError` of the policy."""
    seen: set[str] = set()
    for rule in rules:
        compiled = _compile(rule, cache) if _is_full(rule) else _compile_permission(rule, cache, seen)
        if compiled.rule_id in seen:
            raise RuleError(f"two rules have the id `{compiled.rule_id}`")
        seen.add(compiled.rule_id)
        yield compiled


def complete(rule: AnyRule) -> Rule:
    """Return a rule that says all that `Rule` has, with its defaults; what it must have is not checked."""
    kind = type(rule)
    is_plain = _answers_for_its_objects(kind)
    # What a class says itself; nothing where an object may be otherwise.
    own = {name for name, forms in _OF_CLASS.items() if is_plain and isinstance(vars(kind).get(name), forms)}
    if Rule in kind.__mro__ and is_plain:
        inherited = [name for name in _OF_CLASS if name not in own and getattr(kind, name) is not getattr(Rule, name)]
        if not inherited:
            return cast("Rule", rule)
    said = {name: getattr(rule, name) for name in (*_REQUIRED, *_STRICT) if hasattr(rule, name)}
    for name in (*_HELPFUL, *_OF_LISTS, *own):
        # Only what helps may fail, and counts as absent.
        with contextlib.suppress(Exception):
            said |= {} if (found := getattr(rule, name)) is None else {name: found}
    return cast("Rule", SimpleNamespace(**(_DEFAULTS | said)))


def permits_undoable(rule: AnyRule) -> bool:
    """Return whether a rule permits only what can be undone."""
    full = complete(rule)
    # A two-method rule has no effect of its own: it permits.
    return full.keeps is not False and getattr(full, "effect", Verdict.ALLOW) is Verdict.ALLOW


def _answers_for_its_objects(kind: type) -> bool:
    """Return whether all objects of a class answer by its functions, and by no others."""
    looks_up = any({"__getattr__", "__getattribute__"} & vars(each).keys() for each in kind.__mro__[:-1])
    methods = (getattr(kind, name, None) for name in ("matches", "near_miss", "covers"))
    are_plain = all(isinstance(method, FunctionType | NoneType) for method in methods)
    return are_plain and not kind.__dictoffset__ and not looks_up


@attrs.frozen
class _Permission(Rule):
    """A two-method rule in the form of `AuthorizationRule`."""

    rule: PermissionRule
    id: str
    reason: str
    relies_on: SideEffects | None
    effect: ClassVar[Verdict] = Verdict.ALLOW
    message: ClassVar[str | None] = None
    source: ClassVar[str | None] = None

    def priority(self) -> int:
        """Return the place in the order."""
        return self.rule.priority()

    def matches(self, request: Request) -> bool:
        """Return whether it lets the bare tool run."""
        return self.rule.should_allow_without_confirmation(request.call.tool, request.context)

    def near_miss(self, _request: Request, /) -> str | None:
        """Return None."""
        return None


_SILENT = _Permission(cast("PermissionRule", None), "", "", None)
_DEFAULTS = {name: getattr(_SILENT, name) for name in (*_STRICT, *_HELPFUL, *_OF_CLASS)}


def _is_full(rule: AnyRule) -> TypeGuard[AuthorizationRule]:
    # Asked of the object, not of its class: a wrapper forwards what it wraps, and a restriction stays one.
    return hasattr(rule, "matches") or hasattr(rule, "effect")


def _compile(given: AuthorizationRule, cache: DecisionCache) -> CompiledRule:
    if callable(getattr(type(given), "selectors", None)):
        raise RuleError(f"`{type(given).__name__}` has `selectors()`, which nothing asks; write `needs()`")
    lacking = [name for name in _REQUIRED if not hasattr(given, name)]
    if lacking:
        raise RuleError(f"`{type(given).__name__}` is not a rule: it has no `{lacking[0]}`")
    rule = complete(given)
    rule_id, effect, reason, message, source = rule.id, rule.effect, rule.reason, rule.message, rule.source
    if type(rule_id) is not str or not rule_id:
        raise RuleError(f"`{type(given).__name__}` has no id")
    if not isinstance(effect, Verdict):
        raise RuleError(f"rule `{rule_id}`: the effect must be a Verdict, not {effect!r}")
    priority = _check_priority(rule, rule_id)
    phase = phase_of(priority)
    if phase is None or effect not in _EFFECTS[phase]:
        raise RuleError(
            f"rule `{rule_id}`: priority {priority} does not fit the effect {effect.value}; "
            "0 to 99 allow, 100 to 199 confirm or block, 200 to 399 allow or confirm"
        )
    message = _default_message(effect, reason) if message is None else message
    keeps = rule.keeps is not False
    return CompiledRule(rule, rule_id, priority, phase, effect, reason, message, source, cache, keeps)


def _default_message(effect: Verdict, reason: object) -> str | None:
    """Return what the model is shown where a rule has no message of its own."""
    if effect is Verdict.ALLOW:
        return None
    said, way_out = _MESSAGES[effect]
    if isinstance(reason, str) and reason:
        said = f"{said.removesuffix('.')}: {reason.removesuffix('.')}."
    return f"{said} {way_out}"


def _compile_permission(rule: AnyRule, cache: DecisionCache, seen: set[str]) -> CompiledRule:
    name = type(rule).__name__
    if not isinstance(rule, PermissionRule):
        raise RuleError(f"`{name}` is not a rule: it has neither an effect nor `should_allow_without_confirmation`")
    kebab = re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()
    numbered = (f"{kebab}-{number}" for number in itertools.count(2))
    rule_id = kebab if kebab not in seen else next(each for each in numbered if each not in seen)
    priority = _check_priority(rule, rule_id)
    if phase_of(priority) is None:
        raise RuleError(f"rule `{rule_id}`: priority {priority} is outside 0 to 399")

    # INVARIANT: law 1. A two-method rule says only "allow", so whatever its priority it is asked after the
    # restrictions.
    full = _Permission(rule, rule_id, f"{name} permits it", complete(rule).relies_on)
    return CompiledRule(full, rule_id, priority, Phase.PERMISSION, Verdict.ALLOW, full.reason, None, None, cache)


def _check_priority(rule: AnyRule, rule_id: str) -> int:
    priority = rule.priority()
    if type(priority) is not int:
        raise RuleError(f"rule `{rule_id}`: the priority must be a whole number, not {priority!r}")
    return priority
