"""`permitry lint`: what is odd about rules that load."""

import argparse
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from permitry.cli.inputs import add_rules_option, add_tools_option, rules_from
from permitry.cli.main import ExitCode
from permitry.cli.python_registry import add_python_option, registry_at
from permitry.config.drafts import drafts_of
from permitry.config.load import without_collection
from permitry.core.spec import names_of
from permitry.errors import PermitryError, count
from permitry_ops.cli.progress import track
from permitry_ops.lint import Check, Finding, lint
from permitry_ops.lint._schemas import Schema

__all__ = ["configure"]

_SCHEMA_KEYS = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema")
_ANYTHING: Mapping[str, object] = {}
_MANY = 1_000
"""So many rules take a second or more."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry lint`."""
    add_rules_option(parser)
    add_tools_option(parser)
    add_python_option(parser)
    unheard = "the host does not pass on what the user writes: find the conditions that ask for it"
    parser.add_argument("--no-prompts", action="store_true", help=unheard)
    parser.add_argument("--json", action="store_true", help="print one JSON object a finding, and nothing else")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> ExitCode:
    """Print each finding, in the order of the files and lines."""
    tools = _tools(options)
    with without_collection():
        rules = rules_from(options)
        watch: Callable[[Sequence[Check]], Iterable[Check]] = iter
        if len(rules.rules) >= _MANY:
            watch = partial(track, description="checking")
        found = lint(rules, drafts=drafts_of(rules), tools=tools, has_prompts=not options.no_prompts, watch=watch)
    for finding in found:
        print(json.dumps(_as_json(finding)) if options.json else _as_text(finding))
    if not (found or options.json):
        print(f"no findings in {count(len(rules.rules), 'rule')}")
    return ExitCode.FAILED if found else ExitCode.OK


def _tools(options: argparse.Namespace) -> dict[str, Schema] | None:
    """Return the schemas of all tools by their names; None where it is not said which there are."""
    found: dict[str, Schema] = {}
    if options.tools is not None:
        found |= _tools_in(options.tools)
    if options.python is not None:
        found |= {spec.name: spec.parameters for spec in registry_at(options.python).specs()}
    return found if options.tools is not None or options.python is not None else None


def _tools_in(path: Path) -> dict[str, Schema]:
    """Return the schemas of the tools in a file by name. Raises: `PermitryError`."""
    from permitry_ops.cli.tool_list import read_tool_list  # loads all tools

    return dict(_tool(entry, path, number) for number, entry in enumerate(read_tool_list(path), 1))


def _tool(entry: object, path: Path, number: int) -> tuple[str, Schema]:
    match entry:
        case str(name) if name:
            return name, {}
        case {"name": str(name)} | {"function": {"name": str(name)}} if name:
            return name, _schema(entry, path, number)
    raise PermitryError(f"tool {number} of `{path}` has no name; write a name, or an object with `name`")


def _schema(entry: object, path: Path, number: int) -> Schema:
    tool = entry if isinstance(entry, Mapping) else {}
    inner = tool.get("function")
    places = (tool, inner if isinstance(inner, Mapping) else {})
    schema: object = next((each[key] for each in places for key in _SCHEMA_KEYS if each.get(key) is not None), {})
    if not isinstance(schema, Mapping):
        raise PermitryError(f"the schema of tool {number} of `{path}` is not an object; write a JSON Schema")
    roles, properties = tool.get("roles"), schema.get("properties")
    if not (isinstance(roles, Mapping) and isinstance(properties, Mapping)):
        return schema
    # A tool with several forms of arguments has its roles on the names that rules see.
    named = (name for key in roles for name in names_of(key))
    return {**schema, "properties": {**dict.fromkeys(named, _ANYTHING), **properties}}


def _as_json(finding: Finding) -> dict[str, object]:
    return {
        "kind": finding.kind,
        "level": finding.level,
        "rule": finding.rule_id,
        "source": finding.source,
        "reason": finding.reason,
        "suggestion": finding.suggestion,
    }


def _as_text(finding: Finding) -> str:
    from permitry.core.texts import one_line

    rule = "" if finding.rule_id is None else f"rule `{finding.rule_id}`: "
    head = f"{finding.source}: {finding.level}: {finding.kind}: {rule}{finding.reason}"
    return f"{one_line(head)}\n    {one_line(finding.suggestion)}"
