"""The finding `unreachable-example`."""

from collections.abc import Iterator, Mapping

from permitry.config.examples import HOME, READER, WORKSPACE, example_context
from permitry.config.lint._facts import call_facts, meeting_needs
from permitry.config.lint._index import Index, Need
from permitry.config.lint._subject import Finding, Subject
from permitry.config.schema import ExampleTable
from permitry.core.action import Roots
from permitry.core.call import ToolCall
from permitry.core.decision import Verdict
from permitry.core.pattern import Pattern
from permitry.core.rule import Question
from permitry.core.spec import ArgumentRole, ToolSpec, ToolTraits
from permitry.errors import UnevaluableError
from permitry.rules.conditions.scope import Scope
from permitry.rules.configured import ConfiguredRule

__all__ = ["findings"]

# Of the tools a rule may mean the most harmless: what is held back even there never happens.
_USUAL = {"command": "run_shell", "path": "read_file", "host": "web_fetch"}


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield the `match` examples of permissions for calls that a restriction holds back."""
    index = Index(subject.restrictions, _needs)
    for rule in subject.permissions:
        draft = subject.drafts.rules.get(rule.id)
        for i, example in enumerate(draft.table.match if draft is not None else ()):
            question = _question(_read(example, rule), rule, subject)
            near = index.near(frozenset(call_facts(question)))
            other = next((each for each in near if _holds_back(each, question)), None)
            if other is not None and draft is not None:
                does = "blocks it" if other.effect is Verdict.BLOCK else "asks about it"
                yield Finding(
                    "unreachable-example",
                    rule.id,
                    draft.source.source((*draft.path, "match", i)),
                    f"the example `{_told(example)}` never runs unasked: `{other.id}` ({other.source}) {does}",
                    "show a call that runs, or take what it shows out of the rule",
                )


def _needs(scope: Scope) -> Iterator[Need]:
    return meeting_needs(scope, Roots((WORKSPACE,), (HOME,)))


def _holds_back(rule: ConfiguredRule, question: Question) -> bool:
    try:
        return rule.matches(question) is True
    except UnevaluableError:
        # An example leaves out what it is not about; that is no answer.
        return False


def _read(example: ExampleTable, rule: ConfiguredRule) -> ExampleTable:
    """Return the example with its plain text where the rule has its first condition on actions, or as a tool."""
    if example.text is None:
        return example
    when = rule.scope.when
    kinds = (("command", when.commands), ("path", when.paths), ("host", when.hosts))
    kind = next((kind for kind, patterns in kinds if patterns), "tool")
    return ExampleTable.model_validate({kind: example.text})


def _told(example: ExampleTable) -> str:
    given = (example.text, example.command, example.path, example.host, example.tool)
    return next((text for text in given if text), "{…}")


def _question(example: ExampleTable, rule: ConfiguredRule, subject: Subject) -> Question:
    arguments = {kind: getattr(example, kind) for kind in _USUAL if getattr(example, kind) is not None}
    name = example.tool or _usual(arguments, rule)
    known = subject.specs.get(name)
    spec = known
    if arguments:
        traits = ToolTraits() if known is None else known.traits
        spec = ToolSpec(name, traits=traits, roles=_roles(arguments, reads=traits.only_reads))
    call = ToolCall(name, {**(example.args or {}), **arguments})
    return Question(call, example_context(example, subject.rules.templates), spec, READER)


def _usual(arguments: Mapping[str, str], rule: ConfiguredRule) -> str:
    """Return a tool that the rule means."""
    texts = [selector.text for selector in rule.scope.selectors]
    named = (text for text in texts if not text.startswith("@") and Pattern(text).is_exact)
    usual = next((name for kind, name in _USUAL.items() if kind in arguments), "example")
    return next(named, "write_file" if usual == "read_file" and texts == ["@writes"] else usual)


def _roles(arguments: Mapping[str, str], *, reads: bool) -> dict[str, ArgumentRole]:
    path = ArgumentRole.READ_PATH if reads else ArgumentRole.WRITE_PATH
    roles = {"command": ArgumentRole.COMMAND, "path": path, "host": ArgumentRole.URL}
    return {kind: roles[kind] for kind in arguments}
