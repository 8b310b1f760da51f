"""What notes the side effects of calls: the flows of a policy, and what its rules rely on them for."""

from collections.abc import Collection, Iterable
from typing import Protocol

from permitry.core.rule import Request, Rule, Unsure
from permitry.core.shared import Limit, SideEffects
from permitry.errors import RuleError

__all__ = ["Flow", "check_relied_on", "side_effects"]


class Flow(Protocol):
    """What a call leaves behind when it runs: a label on the session, a call on a budget.

    `id` names its rule; `label` is None, `counts` False, where it does only the other. A shared budget has a `limit`.
    """

    @property
    def id(self) -> str:
        """The id of the rule."""

    @property
    def label(self) -> str | None:
        """The label the session gets."""

    @property
    def counts(self) -> bool:
        """Whether the call counts against the budget of the rule."""

    def matches(self, request: Request) -> bool | Unsure:
        """Return whether the call leaves something behind; doubt and failure count as yes."""


def side_effects(flows: Iterable[Flow], requests: Collection[Request]) -> SideEffects:
    """Return what a call leaves behind; `requests` are about it, in its own context and in those above that."""
    first = next(iter(requests))
    left = [flow for flow in flows if any(_leaves(flow, request) for request in requests)]
    counted = frozenset(flow.id for flow in left if flow.counts)
    labels = frozenset(flow.label for flow in left if flow.label is not None)
    shared = frozenset(limit for flow in left if isinstance(limit := getattr(flow, "limit", None), Limit))
    return SideEffects(labels, counted, first.targets if counted else frozenset(), shared)


def _leaves(flow: Flow, request: Request) -> bool:
    try:
        return flow.matches(request) is not False
    except Exception:  # noqa: BLE001 -- law 2: what cannot be evaluated counts as left
        return True


def check_relied_on(rules: Iterable[Rule], flows: Iterable[Flow]) -> None:
    """Raise `RuleError` for the first rule that relies on what no flow keeps."""
    flows = tuple(flows)
    labels = {flow.label for flow in flows}
    counted = {flow.id for flow in flows if flow.counts}
    for rule in rules:
        needed = rule.relies_on
        if not isinstance(needed, SideEffects):
            continue
        lost = [f"the budget of `{each}`" for each in sorted(needed.rules - counted)]
        lost += [f"the label `{each}`" for each in sorted(needed.labels - labels)]
        if lost:
            way_out = (
                "pass the `flows` of the policy it comes from as well, as in `with_rules(rule, flows=other.flows)`"
            )
            raise RuleError(f"rule `{rule.id}`: no flow keeps {' and '.join(lost)}; {way_out}")
