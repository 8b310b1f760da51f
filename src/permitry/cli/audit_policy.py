"""`permitry audit policy`: the rules behind decisions, as they were."""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from permitry.audit.rule_files import RuleFile
from permitry.cli.inputs import print_result
from permitry.cli.main import ExitCode
from permitry.cli.render import busy, console_on
from permitry.cli.tables import counts_table
from permitry.config.diagnostics import nearest
from permitry.core.texts import visible
from permitry.errors import PermitryError
from permitry.store.chained_store import Store
from permitry.store.policies import KeptPolicy

__all__ = ["add_version", "find_policy", "print_policies"]

_COLUMNS = "version", "first", "last", "decisions", "rules"
_SECOND = len("2026-11-30T12:00:00")
_NOT_KEPT = "records name it that were made before permitry kept rules"


@attrs.define
class _Use:
    """When a version first and last came up in records, and how many decisions it made."""

    first: str
    last: str
    decisions: int = 0


def add_version(parser: argparse.ArgumentParser) -> None:
    """Add the argument that names a version."""
    version = "as records name it, or how it begins; default: list all"
    parser.add_argument("version", nargs="?", metavar="VERSION", help=version)


def print_policies(options: argparse.Namespace, store: Store) -> ExitCode:
    """Print the rules of one version, or a list of all that records name."""
    if options.version is not None:
        policy = find_policy(store, options.version)
        print_result(options, _to_dict(policy), "\n".join(_lines(policy)))
        return ExitCode.OK
    with busy("looking at each record"):
        uses = _uses(store)
        kept = {each.version: each for each in store.policies()}
    if options.json:
        for version, use in uses.items():
            print(json.dumps({"policy_version": version, **attrs.asdict(use), "rules": _names(kept.get(version))}))
    else:
        rows = [(version, *_cells(use), _describe(kept.get(version))) for version, use in uses.items()]
        counts_table(console_on(sys.stdout), "", _COLUMNS, rows)
    return ExitCode.OK if uses else ExitCode.FAILED


def find_policy(store: Store, version: str) -> KeptPolicy:
    """Return the rules of a version, or of the only one that begins so.

    Raises: `PermitryError` for none, and for several.
    """
    kept = {each.version: each for each in store.policies()}
    found = [version] if version in kept else [name for name in kept if name.startswith(version)]
    if len(found) == 1:
        return kept[found[0]]
    if found:
        raise PermitryError(f"several policies begin with `{version}`: {', '.join(found)}")
    if any(name.startswith(version) for name in _uses(store)):
        raise PermitryError(f"no rules are kept of policy `{version}`: {_NOT_KEPT}")
    hint = nearest(version, set(kept), otherwise="`permitry audit policy` lists all")
    raise PermitryError(f"no record names a policy `{version}`; {hint}")


def _uses(store: Store) -> dict[str, _Use]:
    """Return how each version was used, in the order in which records first name them."""
    uses: dict[str, _Use] = {}
    for record in store.records():
        fields: dict[str, Any] = json.loads(record.body)
        version, at = fields.get("policy_version"), str(fields.get("at"))
        if isinstance(version, str):
            use = uses.setdefault(version, _Use(at, at))
            use.last = at
            use.decisions += fields.get("event") == "decided"
    return uses


def _to_dict(policy: KeptPolicy) -> dict[str, Any]:
    files = [{**each.to_dict(), "text": each.text} for each in policy.files]
    added = {"code_rules": policy.code_rules, "lists": policy.lists, "whole": policy.is_whole}
    return {"policy_version": policy.version, "at": policy.at, "files": files, **added}


def _lines(policy: KeptPolicy) -> Iterator[str]:
    yield f"# policy {policy.version}, first recorded at {policy.at}"
    if not policy.files:
        yield "# no rule file: the policy was made in code"
    if policy.code_rules:
        yield f"# rules that are in no file, but made in code: {', '.join(map(visible, policy.code_rules))}"
    if policy.lists:
        yield f"# lists to which the session added values: {', '.join(map(visible, policy.lists))}"
    if not policy.is_whole:
        yield "# more than these rules had a say: grants, or programs as rule files have them that are not trusted"
    for each in policy.files:
        yield f"\n# {visible(each.name)} ({', '.join(_notes(each))}), {each.digest}\n"
        yield visible(each.text.rstrip("\n"))


def _notes(file: RuleFile) -> Iterator[str]:
    yield file.layer
    if not file.is_trusted:
        yield "not trusted: its permissions do not count"
    if file.is_observed:
        yield "observed: nothing in it is obeyed"


def _names(policy: KeptPolicy | None) -> list[str] | None:
    return None if policy is None else [each.name for each in policy.files]


def _cells(use: _Use) -> Iterable[str]:
    return use.first[:_SECOND], use.last[:_SECOND], f"{use.decisions:,}"


def _describe(policy: KeptPolicy | None) -> str:
    if policy is None:
        return "not kept"
    code = ["code"] if policy.code_rules or not policy.files else []
    return ", ".join([*(each.name for each in policy.files), *code])
