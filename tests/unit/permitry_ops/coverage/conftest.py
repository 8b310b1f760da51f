"""Rules that are written down as text, and cases of them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from permitry.config.load import load_rules
from permitry.config.ruleset import RuleSet
from permitry_ops.coverage.probes import Probe, read_cases

Call: TypeAlias = dict[str, Any]
Probes: TypeAlias = Callable[..., list[Probe]]

PAY = """schema = 1

[[rule]]
id = "pay"
effect = "allow"
tools = ["send_money", "refund"]
when.args.amount = { le = 100 }
unless.mode = "review"
"""
PUSH = """schema = 1

[[rule]]
id = "push"
effect = "block"
tools = ["@shell"]
when.command = ["git push *", "npm publish *"]
unless.command = ["git push --dry-run"]
"""


def rules_of(text: str) -> RuleSet:
    """Return the rules in a text."""
    return load_rules(text)


def shell(command: str) -> Call:
    """Return a call of a shell."""
    return {"name": "run_shell", "arguments": {"command": command}}


@pytest.fixture
def probes(tmp_path: Path) -> Probes:
    """Return a function that returns the probes of cases: each a call, the verdict that is wanted, and its rule."""

    def written(rules: RuleSet, *cases: tuple[Call, str, str | None]) -> list[Probe]:
        paths = []
        for number, (call, verdict, rule) in enumerate(cases, 1):
            phase = "default" if rule is None else "permission" if verdict == "allow" else "restriction"
            context = call.pop("context", {})
            want = {"verdict": verdict, "rule": rule, "phase": phase}
            case = {"id": f"c{number}", "why": "x", "call": call, "context": context, "want": want}
            paths.append(tmp_path / f"c{number}.json")
            paths[-1].write_text(json.dumps(case), encoding="utf-8")
        return list(read_cases(paths, rules))

    return written
