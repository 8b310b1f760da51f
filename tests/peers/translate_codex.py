"""Calls of Codex's published cases as ours; its rule files are imported."""

import tomllib
from collections.abc import Iterable, Sequence

from tests.peers.compared import Rule

from permitry.core.call import PayloadKind, ToolCall
from permitry_hosts.importers import Source, write_rules
from permitry_hosts.importers.codex import read_rules


def call_of(argv: Sequence[str]) -> ToolCall:
    """Return the call that runs a program with its arguments."""
    return ToolCall("local_shell", {"command": list(argv)}, kind=PayloadKind.LOCAL_SHELL)


def rule_file_of(texts: Iterable[str]) -> str:
    """Return the rule file that rule files of Codex become."""
    sources = [Source(f"{number}.rules", text.strip()) for number, text in enumerate(texts)]
    return write_rules(read_rules(sources), [source.name for source in sources]).text


def rules_of(texts: Iterable[str]) -> list[Rule]:
    """Return the rules that rule files of Codex become."""
    left_out = ("id", "match", "no_match")
    rules = tomllib.loads(rule_file_of(texts)).get("rule", [])
    return [{key: value for key, value in rule.items() if key not in left_out} for rule in rules]
