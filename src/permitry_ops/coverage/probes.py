"""The calls that are tried: those of golden cases and of sessions."""

import functools
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import attrs

from permitry.config.ruleset import RuleSet
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import Request
from permitry.core.spec import ToolSpec
from permitry.golden.case import read_case
from permitry.golden.check import list_differences, read_rows
from permitry.golden.deciders import Decider, Deciders

__all__ = ["Probe", "SessionProbes", "read_cases"]


@attrs.frozen(eq=False)
class Probe:
    """One call in its context, what decides it, and whether a decision is another one than is wanted."""

    name: str
    decider: Decider
    call: ToolCall
    context: AuthContext
    spec: ToolSpec | None
    differs: Callable[[Decision], bool]

    @functools.cached_property
    def request(self) -> Request:
        """What the rules are asked."""
        return self.decider.policy.request(self.call, self.context, self.spec)

    def decide(self, policy: AuthorizationPolicy) -> Decision:
        """Return what other rules decide of the call."""
        return policy.decide(self.call, self.context, self.spec)


def read_cases(paths: Iterable[Path], given: RuleSet | None) -> Iterator[Probe]:
    """Yield each call of golden cases; those that name no rules are decided by the ones `given`.

    Raises: `ConfigError` for a case that cannot be used.
    """
    deciders = Deciders(given)
    for path in paths:
        case = read_case(path)
        decider = deciders.find(path, case)
        compare = functools.partial(list_differences, case)
        differs = functools.partial(_differs, compare)
        for row in read_rows(path, case, decider.rules):
            name = f"{path}: {row.label}".removesuffix(": ")
            asked = row.asked
            yield Probe(name, decider, asked.call, asked.context, asked.spec, differs)


def _differs(differences: Callable[[Decision], list[str]], decision: Decision) -> bool:
    return bool(differences(decision))


@attrs.define
class SessionProbes:
    """The calls of sessions, in the order in which `watch` is given them; one differs that gets another verdict."""

    decider: Decider
    found: list[Probe] = attrs.field(factory=list)

    def watch(self, place: str, call: ToolCall, context: AuthContext, spec: ToolSpec | None) -> None:
        """Keep a call in the context in which it was decided."""
        verdict = self.decider.policy.decide(call, context, spec).verdict
        differs = functools.partial(_has_other, verdict)
        self.found.append(Probe(place, self.decider, call, context, spec, differs))


def _has_other(verdict: Verdict, decision: Decision) -> bool:
    return decision.verdict is not verdict
