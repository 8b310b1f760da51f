"""`permitry audit policy`: the rules behind decisions, as they were."""

import argparse
import json
import sys
from collections.abc import Iterable
from typing import Any

import attrs

from permitry.cli.inputs import print_result
from permitry.cli.main import ExitCode
from permitry.cli.render import busy, console_on
from permitry.cli.tables import counts_table
from permitry.config.diagnostics import nearest
from permitry.core.texts import visible
from permitry.errors import PermitryError
from permitry.store.chained_store import Store
from permitry.store.policies import KeptPolicy, versions_in

__all__ = ["find_policy", "print_policies"]


@attrs.define
class _Use:
    """When a version first and last came up in records, and how many decisions it made."""

    first: str
    last: str = ""
    records: int = 0


def print_policies(options: argparse.Namespace, store: Store) -> ExitCode:
    """Print the rules of one version, or a list of all that records name."""
    if options.version is not None:
        _print_one(options, find_policy(store, options.version))
        return ExitCode.OK
    with busy("looking at each record"):
        uses = _uses(store)
        kept = {each.version: each for each in store.policies()}
    rows = [_row(version, use, kept.get(version)) for version, use in uses.items()]
    if options.json:
        for row in rows:
            print(json.dumps(row))
    else:
        shown = (_cells(row) for row in rows)
        counts_table(console_on(sys.stdout), "", ("version", "first", "last", "decisions", "files"), shown)
    return ExitCode.OK if rows else ExitCode.FAILED


def find_policy(store: Store, version: str) -> KeptPolicy:
    """Return the rules of a version, or of the only one that begins so.

    Raises: `PermitryError` for none, and for several.
    """
    kept = {each.version: each for each in store.policies()}
    found = [name for name in kept if name.startswith(version)]
    if version in kept or len(found) == 1:
        return kept[version if version in kept else found[0]]
    if found:
        raise PermitryError(f"several policies begin with `{version}`: {', '.join(found)}")
    if any(name.startswith(version) for name in store.policies_in_use().named):
        why = "records name it that were made before permitry kept rules, or without a rule file"
        raise PermitryError(f"no rules are kept of policy `{version}`: {why}")
    hint = nearest(version, set(kept), otherwise="`permitry audit policy` lists all")
    raise PermitryError(f"no record names a policy `{version}`; {hint}")


def _print_one(options: argparse.Namespace, policy: KeptPolicy) -> None:
    described = [{**each, "text": file.text} for each, file in zip(_describe(policy), policy.files, strict=True)]
    data = {"policy_version": policy.version, "at": policy.at, "files": described}
    print_result(options, data, "\n".join(_lines(policy)))


def _lines(policy: KeptPolicy) -> Iterable[str]:
    yield f"# policy {policy.version}, first recorded at {policy.at}"
    if not policy.files:
        yield "# made in code, without a rule file"
    for each in policy.files:
        notes = [each.layer, *["not trusted"] * (not each.is_trusted), *["observed"] * each.is_observed]
        yield f"\n# {visible(each.name)} ({', '.join(notes)}), {each.digest}\n"
        yield visible(each.text.rstrip("\n"))


def _uses(store: Store) -> dict[str, _Use]:
    uses: dict[str, _Use] = {}
    for record in store.records():
        fields: dict[str, Any] = {}
        for version in versions_in(record.body):
            fields = fields or json.loads(record.body)
            use = uses.setdefault(version, _Use(str(fields.get("at"))))
            use.last = str(fields.get("at"))
            use.records += fields.get("event") == "decided"
    return uses


def _describe(policy: KeptPolicy) -> list[dict[str, object]]:
    return [each.to_dict() for each in policy.files]


def _row(version: str, use: _Use, policy: KeptPolicy | None) -> dict[str, Any]:
    files = None if policy is None else _describe(policy)
    return {"policy_version": version, **attrs.asdict(use), "files": files}


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    files = "not kept" if row["files"] is None else ", ".join(each["name"] for each in row["files"]) or "none: code"
    return row["policy_version"], row["first"][:19], row["last"][:19], f"{row['records']:,}", files
