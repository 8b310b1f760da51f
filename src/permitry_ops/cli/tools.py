"""`permitry tools`: the tools there are, and what rules know of them."""

import argparse
import json
import sys
from pathlib import Path

import attrs

from permitry.cli.inputs import add_rules_option, rules_from, tell
from permitry.cli.main import ExitCode
from permitry.config.diagnostics import nearest
from permitry.core.context import AuthContext
from permitry.core.json_values import mutable
from permitry.core.spec import ToolSpec
from permitry.dispatch.schema import SCHEMA_SHAPES, exported, is_exportable
from permitry.errors import PermitryError
from permitry_ops.cli.toolset import Toolset, add_toolset_options, check_mode

__all__ = ["configure"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry tools`."""
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help="only these tools; default: all")
    add_rules_option(parser)
    add("--workspace", default=".", type=Path, metavar="DIR", help="the folder the tools work in; default: this one")
    add_toolset_options(parser)
    add("--mode", default="default", help="plan, yolo, default (the default), or a word your rules know")
    add("--visible", action="store_true", help="leave out the tools of which no call could run in this mode")
    shape = "print the definitions as a provider takes them, one JSON list"
    add("--shape", choices=SCHEMA_SHAPES, help=shape)
    add("--strict", action="store_true", help="with --shape: schemas that OpenAI's strict mode takes")
    free = "with --shape of OpenAI: tools that take free text as custom tools, with their grammar"
    add("--free-form", action="store_true", help=free)
    add("--json", action="store_true", help="print one JSON object a tool, and nothing else")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> ExitCode:
    """List the tools."""
    for option, is_given in (("--strict", options.strict), ("--free-form", options.free_form)):
        if is_given and options.shape is None:
            raise PermitryError(f"`{option}` is for definitions; give --shape as well")
    rules = rules_from(options, str(options.workspace))
    context = AuthContext(mode=check_mode(rules, options.mode), workspace=str(options.workspace.resolve()))
    policy = rules.policy()
    with Toolset.open(options, options.workspace) as toolset:
        specs = toolset.registry.specs(context)
        hidden = {spec.name for spec in specs if not policy.could_run(spec, context)}
        chosen = [spec for spec in _select(specs, options.names) if not (options.visible and spec.name in hidden)]
        _print(options, chosen, hidden)
    return ExitCode.OK


def _select(specs: tuple[ToolSpec, ...], names: list[str]) -> list[ToolSpec]:
    known = {spec.name: spec for spec in specs}
    if unknown := [name for name in names if name not in known]:
        hint = nearest(unknown[0], known, otherwise="`permitry tools` lists all there are")
        raise PermitryError(f"there is no tool `{unknown[0]}` here; {hint}")
    return [known[name] for name in names] if names else list(specs)


def _print(options: argparse.Namespace, specs: list[ToolSpec], hidden: set[str]) -> None:
    if options.shape is not None:
        fit = [spec for spec in specs if is_exportable(spec, options.shape)]
        left = [spec.name for spec in specs if not is_exportable(spec, options.shape)]
        tell([f"`{name}` is left out: {options.shape} has no calls of its kind" for name in left])
        forms = {"strict": options.strict, "free_form": options.free_form}
        print(json.dumps([exported(spec, options.shape, **forms) for spec in fit], indent=2))
    elif options.json:
        for spec in specs:
            print(json.dumps(_as_json(spec, is_hidden=spec.name in hidden)))
    else:
        from permitry.cli.render import console_on
        from permitry.cli.tables import tool_table

        tool_table(console_on(sys.stdout), specs, hidden)


def _as_json(spec: ToolSpec, *, is_hidden: bool) -> dict[str, object]:
    return {
        "name": spec.name,
        "description": spec.description,
        "parameters": mutable(spec.parameters),
        "traits": attrs.asdict(spec.traits),
        "roles": None if spec.roles is None else {name: role.value for name, role in spec.roles.items()},
        "kinds": sorted(kind.value for kind in spec.kinds),
        "version": spec.version,
        "digest": spec.digest,
        "timeout": spec.timeout,
        "output_limit": spec.output_limit,
        "hidden": is_hidden,
    }
