"""`permitry lint`: what is odd about rules that load."""

import argparse
import json
from pathlib import Path

from permitry.cli.inputs import add_rules_option, rules_from
from permitry.cli.main import ExitCode
from permitry.config.lint import Finding, lint
from permitry.config.lint.drafts import drafts_of
from permitry.core._json import parse_json
from permitry.errors import CallError, PermitryError

__all__ = ["configure"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry lint`."""
    add_rules_option(parser)
    parser.add_argument(
        "--tools", type=Path, metavar="FILE",
        help="a JSON list of all tools there are: names, or their specs as they are given to a model",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one JSON object a finding, and nothing else")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> ExitCode:
    """Print each finding, in the order of the files and lines."""
    tools = None if options.tools is None else _names_in(options.tools)
    rules = rules_from(options)
    found = lint(rules, drafts=drafts_of(rules), tools=tools)
    for finding in found:
        print(json.dumps(_as_json(finding)) if options.json else _told(finding))
    if not (found or options.json):
        count = len(rules.rules)
        print(f"no findings in {count} rule{'' if count == 1 else 's'}")
    return ExitCode.FAILED if found else ExitCode.OK


def _names_in(path: Path) -> list[str]:
    """Return the names of tools in a file.

    Raises: `PermitryError` for a file that cannot be read, or that is no list of tools.
    """
    try:
        data = parse_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PermitryError(f"cannot read `{path}`: {error.strerror}") from error
    except (UnicodeDecodeError, CallError) as error:
        raise PermitryError(f"`{path}` is no JSON: {error}") from error
    if not isinstance(data, list | tuple):
        raise PermitryError(f'`{path}` holds no list of tools; write names, as in `["read_file"]`')
    return [_name(entry, path, number) for number, entry in enumerate(data, 1)]


def _name(entry: object, path: Path, number: int) -> str:
    match entry:
        case str(name) | {"name": str(name)} | {"function": {"name": str(name)}} if name:
            return name
    raise PermitryError(f"tool {number} of `{path}` has no name; write a name, or an object with `name`")


def _as_json(finding: Finding) -> dict[str, object]:
    return {
        "kind": finding.kind,
        "rule": finding.rule_id,
        "source": finding.source,
        "reason": finding.reason,
        "suggestion": finding.suggestion,
    }


def _told(finding: Finding) -> str:
    from permitry.cli.render import one_line

    rule = "" if finding.rule_id is None else f"rule `{finding.rule_id}`: "
    head = f"{finding.source}: {finding.kind}: {rule}{finding.reason}"
    return f"{one_line(head)}\n    {one_line(finding.suggestion)}"
