"""The examples of rules that load, as requests."""

from collections.abc import Iterator

import attrs

from permitry.conditions.scope import Scope
from permitry.config.drafts import RuleDraft
from permitry.config.examples import READER, example_request, narrow, read_example
from permitry.config.ruleset import RuleSet
from permitry.config.schema import ExampleTable
from permitry.core.rule import Request

__all__ = ["Example", "list_examples"]


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
