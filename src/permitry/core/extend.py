"""What a policy becomes with more rules, or with more values in the lists of its rules: the fields that change."""

import difflib
import operator
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias, cast

from permitry.core.flow import Flow
from permitry.core.rule import AnyRule
from permitry.core.source import Lists, RuleSource, is_rule_source, lists_in
from permitry.errors import RuleError

__all__ = ["Changes", "Policy", "add_lists", "add_rules"]

Changes: TypeAlias = dict[str, Any]
"""New values of fields of a policy, by their names."""

Policy: TypeAlias = Any
"""An `AuthorizationPolicy`, which is made with this file."""


def add_rules(policy: Policy, added: Iterable[AnyRule | RuleSource], flows: Iterable[Flow]) -> Changes:
    """Return what a policy becomes with more rules, rule sets and flows; see `AuthorizationPolicy.with_rules`."""
    sources = [each for each in added if is_rule_source(each)]
    alone = [cast("AnyRule", each) for each in added if not is_rule_source(each)]
    rules, kept, declared, reader = policy.rules, policy.flows, policy.declared, policy.reader
    for source in sources:
        rules = (*rules, *(rule for rule in source.policy_rules if rule not in rules))
        kept = (*kept, *(flow for flow in source.flows if flow not in kept))
        declared = {**source.tools, **declared}
        if hasattr(reader, "with_records") and hasattr(source, "records"):
            reader = reader.with_records(source.records)
    # max keeps the first of equals: the policy itself.
    stricter = max((policy, *sources), key=operator.attrgetter("unmatched"))
    return {
        "rules": (*rules, *alone),
        "flows": (*kept, *flows),
        "declared": declared,
        "reader": reader,
        "unmatched": stricter.unmatched,
        "unmatched_source": stricter.unmatched_source,
        "source_files": sum((getattr(each, "source_files", ()) for each in (policy, *sources)), ()),
    }


def add_lists(policy: Policy, values: Mapping[str, Iterable[str | float]]) -> Changes:
    """Return what a policy becomes with more values in named lists; see `AuthorizationPolicy.with_lists`."""
    lists = Lists(values)
    known = frozenset[str]().union(*(lists_in(each) for each in (*policy.rules, *policy.flows)))
    for name in lists:
        if name not in known:
            raise RuleError(f"no rule uses the list `{name}`; {_hint(name, known)}")
    return {
        "rules": tuple(_with_lists(rule, lists) for rule in policy.rules),
        "flows": tuple(_with_lists(flow, lists) for flow in policy.flows),
    }


def _hint(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"did you mean `{near[0]}`?" if near else f"it is for `[list.{name}]` of a rule file"


def _with_lists(rule: object, lists: Lists) -> object:
    return rule if lists_in(rule).isdisjoint(lists) else cast("Any", rule).with_lists(lists)
