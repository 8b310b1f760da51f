"""The finding `unreachable-example`."""

import itertools
from collections.abc import Iterator, Mapping

from permitry.conditions.scope import Scope
from permitry.config.examples import READER, example_context, read_example, role_of_path
from permitry.config.schema import ExampleTable, RuleTable
from permitry.core.call import ToolCall
from permitry.core.finder import Finder
from permitry.core.names import name_forms
from permitry.core.pattern import Pattern
from permitry.core.rule import Request
from permitry.core.spec import ArgumentRole, ToolSpec, ToolTraits
from permitry.errors import UnevaluableError
from permitry.rules.configured import ConfiguredRule
from permitry_ops.lint._facts import TRAITS, name_facts, tool_needs
from permitry_ops.lint._index import Index, Need
from permitry_ops.lint._subject import Finding, Subject, describe_effect

__all__ = ["Restrictions", "findings"]

# The most harmless tools that a rule may select: a call that is restricted even there is always
# restricted.
_USUAL = {"command": "run_shell", "path": "read_file", "host": "web_fetch"}


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield the `match` examples of permissions for calls that a restriction confirms or blocks."""
    restrictions = Restrictions(subject)
    for rule in subject.permissions:
        draft = subject.drafts.rules.get(rule.id)
        if draft is None:
            continue
        for i, given in enumerate(draft.table.match):
            request = _request(read_example(given, draft.table), draft.table, rule, subject)
            near = restrictions.near(request)
            other = next((each for each in near if _holds_back(each, request)), None)
            if other is not None:
                yield Finding(
                    "unreachable-example",
                    rule.id,
                    draft.source.source((*draft.path, "match", i)),
                    f"the example `{given.shown or '{…}'}` never runs unasked: `{other.id}` ({other.source}) "
                    f"{describe_effect(other)} it",
                    "show a call that runs, or take what it shows out of the rule",
                )


class Restrictions:
    """An index of restrictions by the facts they need, as for decisions; those without needs, by their tools."""

    def __init__(self, subject: Subject) -> None:
        self.rules = subject.restrictions
        self._order = subject.order
        self._by_facts = [rule for rule in self.rules if rule.needs()]
        self._finder = Finder([rule.needs() for rule in self._by_facts])
        self._by_tools = Index((rule for rule in self.rules if not rule.needs()), _tool_needs)

    def near(self, request: Request) -> list[ConfiguredRule]:
        """Return those that may apply to the call, in their order."""
        found = [self._by_facts[number] for number in self._finder.find(request.facts)]
        names = (name_facts(reading) for reading in request.call.readings)
        found += self._by_tools.near({*TRAITS, *itertools.chain.from_iterable(names)})
        return sorted(found, key=lambda rule: self._order[rule.id])


def _tool_needs(scope: Scope) -> Iterator[Need]:
    return tool_needs(scope, name_forms)


def _holds_back(rule: ConfiguredRule, request: Request) -> bool:
    try:
        return rule.matches(request) is True
    except UnevaluableError:
        # An example may leave out values that other rules need; these then do not count.
        return False


def _request(example: ExampleTable, table: RuleTable, rule: ConfiguredRule, subject: Subject) -> Request:
    arguments = {kind: getattr(example, kind) for kind in _USUAL if getattr(example, kind) is not None}
    name = example.tool or _usual(arguments, rule)
    known = subject.specs.get(name)
    spec = known
    if arguments:
        traits = ToolTraits() if known is None else known.traits
        path = ArgumentRole.READ_PATH if traits.only_reads else role_of_path(table)
        roles = {"command": ArgumentRole.COMMAND, "path": path, "host": ArgumentRole.URL}
        spec = ToolSpec(name, traits=traits, roles={kind: roles[kind] for kind in arguments})
    call = ToolCall(name, {**(example.args or {}), **arguments})
    return Request(call, example_context(example, subject.rules.templates), spec, READER)


def _usual(arguments: Mapping[str, str], rule: ConfiguredRule) -> str:
    texts = [selector.text for selector in rule.scope.selectors]
    named = (text for text in texts if not text.startswith("@") and Pattern(text).is_exact)
    usual = next((name for kind, name in _USUAL.items() if kind in arguments), "example")
    return next(named, "write_file" if usual == "read_file" and texts == ["@writes"] else usual)
