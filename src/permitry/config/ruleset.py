"""The content of rule files, once they are loaded."""

from collections.abc import Mapping

import attrs

from permitry.actions.programs.records import Records
from permitry.config.default import create_default_authorization_policy, read_with
from permitry.config.lists import NamedList
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import AnyRule
from permitry.core.spec import ToolSpec
from permitry.core.template import Template
from permitry.rules.configured import ConfiguredRule
from permitry.rules.exclusive_template import ExclusiveTemplateRule
from permitry.rules.flow import FlowRule

__all__ = ["RuleSet"]


@attrs.frozen
class RuleSet:
    """The content of rule files: rules; templates, tools and lists by name; and the files in the order of opening.

    The rules of a file are in its order, after those of the files it extends. `notices` list what
    was left out. `unmatched` is the verdict when no rule matched, and `unmatched_source` where it is written. `links`
    are other names by which the files were reached. `records` are those of programs. `observed` is the content as it
    would be if what is observed were obeyed, where there is something of that.
    """

    rules: tuple[ConfiguredRule, ...] = ()
    templates: Mapping[str, Template] = attrs.field(factory=dict)
    tools: Mapping[str, ToolSpec] = attrs.field(factory=dict)
    flows: tuple[FlowRule, ...] = ()
    files: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    unmatched: Verdict = Verdict.CONFIRM
    unmatched_source: str | None = None
    lists: Mapping[str, NamedList] = attrs.field(factory=dict)
    links: tuple[str, ...] = ()
    records: Records = attrs.field(factory=Records)
    observed: "RuleSet | None" = None

    @property
    def modes(self) -> frozenset[str]:
        """The names of modes in the rules."""
        return frozenset[str]().union(*(each.scope.modes for each in (*self.rules, *self.flows)))

    @property
    def policy_rules(self) -> tuple[AnyRule, ...]:
        """The rules that a policy needs: these, and the rule for exclusive templates if there are some."""
        exclusive = (ExclusiveTemplateRule(),) if any(each.exclusive for each in self.templates.values()) else ()
        return (*exclusive, *self.rules)

    def policy(self, *, has_disk: bool = True) -> AuthorizationPolicy:
        """Return the policy of these rules and the built-in ones; links count if it `has_disk`."""
        return create_default_authorization_policy(
            self.policy_rules,
            declared=self.tools,
            reader=read_with(self.records, has_disk=has_disk),
            flows=self.flows,
            unmatched=self.unmatched,
            unmatched_source=self.unmatched_source,
            observed=self.observed and self.observed.policy(has_disk=has_disk),
        )
