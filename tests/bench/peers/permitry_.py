"""permitry itself: a rule file, loaded as a user loads it, with the six built-in rules."""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

import attrs
from tests.bench.peers.engine import Loaded
from tests.bench.workload import BenchCall, BenchRule

from permitry import AuthContext, AuthorizationPolicy, Decision, ToolCall, load_policy

__all__ = ["Permitry", "as_call", "asking", "policy_of", "rule_file"]


@attrs.frozen
class Permitry:
    """The subject of it all."""

    name: str = "permitry"
    package: str = "permitry"
    module: str = "permitry"
    is_native: bool = False
    most: int = 1_000_000
    note: str = (
        "a TOML file as a user writes it, and the six built-in rules; load includes reading and checking the file"
    )

    def write(self, rules: Sequence[BenchRule]) -> str:
        """Return the text of a rule file."""
        return rule_file(rules)

    def load(self, written: str) -> Loaded:
        """Return the policy of the file."""
        return asking(policy_of(written))


def rule_file(rules: Sequence[BenchRule]) -> str:
    """Return the text of a rule file."""
    return "\n".join(["schema = 1", *(_table(rule) for rule in rules)])


def policy_of(text: str) -> AuthorizationPolicy:
    """Return the policy of a rule file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rules.toml"
        path.write_text(text, encoding="utf-8")
        return load_policy(path)


def asking(policy: AuthorizationPolicy) -> Loaded:
    """Return a policy as an engine."""
    contexts = {mode: AuthContext(mode=mode) for mode in ("default", "review")}
    return Loaded(policy.decide, lambda call: (as_call(call), contexts[call.mode]), _read)


def as_call(call: BenchCall, call_id: str | None = None) -> ToolCall:
    """Return the call as permitry takes it."""
    return ToolCall(call.tool, {"path": call.path, "limit": call.limit}, call_id=call_id)


def _read(decision: Decision) -> str:
    return decision.verdict.value


def _table(rule: BenchRule) -> str:
    effect = "block" if rule.is_block else "allow"
    lines = ["[[rule]]", f'id = "{rule.id}"', f'effect = "{effect}"', f'tools = ["{rule.tool}"]', 'reason = "so it is"']
    if rule.condition is not None:
        lines.append(_condition(rule.condition.what, rule.condition.operand))
    return "\n".join(lines)


def _condition(what: str, operand: str | int) -> str:
    literal = json.dumps(operand)
    if what == "mode":
        return f"when.mode = {literal}"
    return f"when.args.path = {{ prefix = {literal} }}" if what == "path" else f"when.args.limit = {{ le = {literal} }}"
