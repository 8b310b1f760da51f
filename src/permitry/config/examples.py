"""The examples of a rule: calls it must match, and calls it must not, tried when the file is loaded."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import attrs
from pydantic import ValidationError

from permitry.actions.extract import ReadActions
from permitry.conditions.args import LinkCondition, SourceCondition
from permitry.conditions.keys import CONDITIONS, condition
from permitry.conditions.match import Match
from permitry.conditions.scope import Conditions, Scope
from permitry.conditions.server import ServerCondition
from permitry.conditions.text import TextCondition
from permitry.conditions.tools import ToolsCondition
from permitry.conditions.traits import TraitsCondition
from permitry.conditions.written import PlainCondition
from permitry.config.drafts import RuleDraft
from permitry.config.schema import ExampleTable, RuleTable, groups_of
from permitry.config.translate import problems_of
from permitry.core.action import Access
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Request, Unsure
from permitry.core.spec import ArgumentRole, ToolSpec
from permitry.core.template import Template
from permitry.errors import Problem, UnevaluableError

__all__ = ["READER", "example_context", "example_problems", "example_request", "narrow", "read_example", "role_of_path"]

# Folders that exist nowhere, so that an example means the same on every machine.
_WORKSPACE, _HOME = "/permitry-example/home/workspace", "/permitry-example/home"
READER = ReadActions(_HOME, has_disk=False)
_TOOL = "example"
_WHAT = {"command": "a command", "path": "a path", "host": "an address", "tool": "the name of a tool"}
_NAME_ALONE = "read as the name of a tool, as in every rule without the conditions `command`, `path` and `host`"
_NOTHING_FITS = "nothing in it fits the conditions"
_KINDS: Mapping[str, ArgumentRole] = {
    "command": ArgumentRole.COMMAND, "path": ArgumentRole.WRITE_PATH, "host": ArgumentRole.URL,
}  # fmt: skip
_BY_ACCESS = {
    "read": ArgumentRole.READ_PATH, "write": ArgumentRole.WRITE_PATH, "delete": ArgumentRole.DELETE_PATH,
}  # fmt: skip


def example_problems(
    draft: RuleDraft,
    scope: Scope,
    templates: Mapping[str, Template],
    tools: Mapping[str, ToolSpec],
    reader: ReadActions = READER,
) -> Iterator[Problem]:
    """Yield a problem for each example with another result; `tools` are those of the files."""
    for key, examples, wanted in (("match", draft.table.match, True), ("no_match", draft.table.no_match, False)):
        for i, given in enumerate(examples):
            try:
                example = read_example(given, draft.table)
            except ValidationError as error:
                problems = problems_of(draft.source, (*draft.path, key, i), error, ExampleTable)
                hint = _way_out(given, draft.table)
                yield from (problem._replace(hint=hint) if hint else problem for problem in problems)
                continue
            if not example.given():
                hint = "name a tool, a command, a path, an address or a condition"
                yield draft.problem((key, i), f"the `{key}` example is empty", hint)
                continue
            if example.given().get("template") not in (None, *templates):
                continue  # the unknown template is reported elsewhere
            request = attrs.evolve(example_request(example, draft.table, templates, tools), reader=reader)
            matches, why = _try(request, example, draft.table, scope)
            # A `confirm` rule also asks when it only may apply.
            is_asked = wanted and matches is None and draft.table.effect == "confirm"
            if matches is not wanted and not is_asked:
                does = "does not match" if wanted else "matches" if matches else "may match"
                why = f"{why}{_explain(given, draft.table)}" if why == _NOTHING_FITS else why
                hint = (
                    _way_out(given, draft.table) or why
                    if wanted
                    else f"narrow the rule, or move the example to `match`{_as_name(given, draft.table)}"
                )
                message = f"the `{key}` example `{example.shown or '{…}'}` {does} the rule"
                yield draft.problem((key, i), message, hint)


def read_example(example: ExampleTable, table: RuleTable) -> ExampleTable:
    """Return the example with a plain text assigned to the key it is for: command, path, host or tool."""
    if example.text is None:
        return example
    return ExampleTable.model_validate({_kind(table): example.text})


def role_of_path(table: RuleTable) -> ArgumentRole:
    """Return what the example of a rule does to its path: one of the accesses that the rule is about, else a write."""
    group: dict[str, Any] = next((group for _, group in groups_of(table) if "path" in group), {})
    accesses = [Access(each).value for each in group.get("access", ())]
    return _BY_ACCESS[accesses[0]] if accesses else _KINDS["path"]


def _kind(table: RuleTable) -> str:
    return next((kind for _, group in groups_of(table) for kind in _KINDS if kind in group), "tool")


def _way_out(example: ExampleTable, table: RuleTable) -> str:
    meant = _likely_kind(example.text or "")
    if meant == "tool" or _kind(table) != "tool":
        return ""
    return f"{_NAME_ALONE}; write `{{ {meant} = {json.dumps(example.text)} }}`"


def _likely_kind(text: str) -> str:
    if " " in text.strip():
        return "command"
    return "host" if "://" in text else "path" if text.startswith(("/", ".", "~")) else "tool"


def _explain(example: ExampleTable, table: RuleTable) -> str:
    text, kind = example.text or "", _kind(table)
    other = _likely_kind(text)
    if not text or other == kind:
        return ""
    written = f"{{ {other} = {json.dumps(text)} }}"
    return (
        f"; a plain text is {_WHAT[kind]} in a rule with the condition `{kind}`; for {_WHAT[other]}, write `{written}`"
    )


def _as_name(example: ExampleTable, table: RuleTable) -> str:
    return _explain(example, table) if (example.text or "").isidentifier() else ""


def _try(request: Request, example: ExampleTable, table: RuleTable, scope: Scope) -> tuple[bool | None, str]:
    """Return whether the rule matches (None: it only may), and the reason if it does not."""
    needed = Match.YES if table.effect == "allow" else Match.ALIKE
    if example.tool is not None and not scope.selects(request, needed):
        return False, f"its tools are {', '.join(f'`{selector.text}`' for selector in scope.selectors)}"
    scope = narrow(scope, example, request)
    try:
        answer = scope.permits(request, is_alone=False) if table.effect == "allow" else scope.restricts(request)
    except UnevaluableError as error:
        return table.effect != "allow", str(error)
    if isinstance(answer, Unsure):
        return None, f"it only may: {answer.reason}"
    facts = ", ".join(scope.facts(request, needed))
    return answer, f"the example has {facts}" if facts else _NOTHING_FITS


def narrow(scope: Scope, example: ExampleTable, request: Request) -> Scope:
    """Return a scope without its tools, and without what is taken to hold for an example."""
    kinds: tuple[type, ...] = tuple(kind for kind, _ in _plain(example))
    # The name of a tool includes its server, and what is declared of it.
    kinds += (ServerCondition, ToolsCondition) if example.tool is not None else ()
    kinds += (LinkCondition, TextCondition) if example.args is not None else ()
    # Where a value comes from is known of an example in which the user writes something.
    is_heard = "prompt" in example.given()
    kinds += (SourceCondition,) if is_heard and example.args is not None else ()
    kinds += (TraitsCondition,) if example.tool is not None and request.tool is not None else ()
    # The arguments of a declared tool with roles determine its actions.
    has_roles = request.tool is not None and bool(request.tool.roles) and example.args is not None
    has_actions = has_roles or any(getattr(example, kind) is not None for kind in _KINDS)

    def left(conditions: Conditions) -> Conditions:
        plain = tuple(
            each
            for each in conditions.plain
            if isinstance(each, kinds) and (is_heard or not isinstance(each, LinkCondition) or not each.needs_sources)
        )
        return attrs.evolve(conditions, plain=plain) if has_actions else Conditions(plain)

    unless = tuple(map(left, scope.unless))
    return Scope((), left(scope.when), tuple(each for each in unless if each != Conditions()))


def example_request(
    example: ExampleTable, table: RuleTable, templates: Mapping[str, Template], tools: Mapping[str, ToolSpec]
) -> Request:
    """Return the request that an example is."""
    arguments = {kind: getattr(example, kind) for kind in _KINDS if getattr(example, kind) is not None}
    name = example.tool or _TOOL
    spec = tools.get(name)
    if arguments:
        roles = {kind: role_of_path(table) if kind == "path" else _KINDS[kind] for kind in arguments}
        known = ToolSpec(name) if spec is None else spec
        spec = attrs.evolve(known, roles={**(known.roles or {}), **roles})
    call = ToolCall(name, {**(example.args or {}), **arguments})
    return Request(call, example_context(example, templates), spec, READER)


def example_context(example: ExampleTable, templates: Mapping[str, Template]) -> AuthContext:
    """Return the context of an example: the values it gives, and defaults for the others."""
    fields: dict[str, Any] = {}
    for kind, value in _plain(example):
        fields |= kind.context(value, templates)
    return AuthContext(**fields, workspace=_WORKSPACE)


def _plain(example: ExampleTable) -> Iterator[tuple[type[PlainCondition], Any]]:
    for key, value in example.given().items():
        kind = condition(key) if key in CONDITIONS else None
        if kind is not None and issubclass(kind, PlainCondition):
            yield kind, value
