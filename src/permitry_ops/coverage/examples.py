"""The examples of rules that load, as requests and as calls."""

from collections.abc import Iterator

import attrs

from permitry.conditions.scope import Scope
from permitry.config.drafts import RuleDraft
from permitry.config.examples import READER, example_request, narrow, read_example, role_of_path
from permitry.config.ruleset import RuleSet
from permitry.config.schema import ExampleTable
from permitry.core.rule import Request
from permitry.core.spec import ArgumentRole
from permitry.golden.check import shell_call
from permitry_ops.diff.side import Line

__all__ = ["Example", "list_calls", "list_examples"]

_BY_ROLE = {
    ArgumentRole.READ_PATH: "read_file",
    ArgumentRole.WRITE_PATH: "write_file",
    ArgumentRole.DELETE_PATH: "delete_file",
}


@attrs.frozen
class Example:
    """An example, as the request that its rule is asked about."""

    request: Request
    _table: ExampleTable = attrs.field(repr=False)

    def narrow(self, scope: Scope) -> Scope:
        """Return a scope without what is taken to hold for the example; a tool is, where none is named."""
        selectors = scope.selectors if self._table.tool is not None else ()
        return attrs.evolve(narrow(scope, self._table, self.request), selectors=selectors)


def list_examples(draft: RuleDraft, rules: RuleSet) -> Iterator[Example]:
    """Yield the examples of a rule that loads, those that it must match first."""
    reader = READER.with_records(rules.records)
    for given in (*draft.table.match, *draft.table.no_match):
        example = read_example(given, draft.table)
        request = example_request(example, draft.table, rules.templates, rules.tools)
        yield Example(attrs.evolve(request, reader=reader), example)


def list_calls(draft: RuleDraft) -> Iterator[Line]:
    """Yield the examples of a rule that say all of a call, as calls of tools that are known."""
    for given in (*draft.table.match, *draft.table.no_match):
        example = read_example(given, draft.table)
        match example.given():
            case {"command": str() as command, **more} if not more:
                yield shell_call(command)
            case {"path": str() as path, **more} if not more:
                yield {"name": _BY_ROLE[role_of_path(draft.table)], "arguments": {"path": path}}
            case {"tool": str() as tool, **more} if more.keys() <= {"args"} and "/" not in tool:
                yield {"name": tool, "arguments": dict(example.args or {})}
