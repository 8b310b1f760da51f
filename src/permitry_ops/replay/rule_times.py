"""How long rules take to look at recorded calls."""

import contextlib
import time
from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import Any

import attrs

from permitry.config.acting import call_in
from permitry.core.context import AuthContext
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import Request
from permitry.rules.configured import ConfiguredRule

__all__ = ["RuleTime", "rule_times"]


@attrs.frozen
class RuleTime:
    """How many seconds a rule took for a call, in the mean and at most."""

    rule: str
    mean: float
    longest: float


def rule_times(
    policy: AuthorizationPolicy, records: Iterable[Mapping[str, Any]], workspaces: Mapping[str, str]
) -> list[RuleTime]:
    """Return how long each rule takes for the recorded calls, without the reading, slowest first."""
    rules = [rule for rule in policy.rules if isinstance(rule, ConfiguredRule)]
    spent: dict[str, list[float]] = {}
    for record in records:
        call = call_in(record)
        if call is None:
            continue
        request = policy.request(call, AuthContext(workspace=workspaces.get(str(record.get("session")))))
        _ = request.parts
        for rule in () if spent else rules:
            # What is loaded at the first use is not a part of it either.
            _seconds(rule, request)
        for rule in rules:
            spent.setdefault(rule.id, []).append(_seconds(rule, request))
    found = [RuleTime(rule, fmean(times), max(times)) for rule, times in spent.items()]
    return sorted(found, key=lambda each: -each.mean)


def _seconds(rule: ConfiguredRule, request: Request) -> float:
    since = time.perf_counter()
    # One that fails takes its time as well.
    with contextlib.suppress(Exception):
        rule.matches(request)
    return time.perf_counter() - since
