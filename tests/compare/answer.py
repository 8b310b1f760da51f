"""Decides requests with the permitry that is installed, and prints a line for each; run in one checkout and in another.

Only what `golden/api.txt` lists is used, so that it runs in a checkout of another day. Source of the requests:
`tests.compare.requests`.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from permitry import AuthContext, AuthorizationPolicy, ConfigError, Decision, PermitryError, ToolCall, load_policy


def main() -> None:
    """Read a file of requests, and print the answers in their order."""
    with Path(sys.argv[1]).open(encoding="utf-8") as file:
        sys.stdout.writelines(f"{each}\n" for each in _answers(map(json.loads, file)))


def _answers(lines: Iterator[dict[str, Any]]) -> Iterator[str]:
    policy: AuthorizationPolicy | None = None
    for line in lines:
        if "rules" in line:
            try:
                policy = load_policy(line["rules"])
                yield "loaded"
            except ConfigError as error:
                policy = None
                yield json.dumps(str(error))
        elif policy is not None:
            yield _decide(policy, line)
        else:
            yield "not decided"


def _decide(policy: AuthorizationPolicy, line: dict[str, Any]) -> str:
    try:
        call = ToolCall(line["tool"], line["arguments"])
    except PermitryError as error:
        return json.dumps(str(error))
    return _show(policy.decide(call, AuthContext(**line["context"])))


def _show(decision: Decision) -> str:
    errors = [str(error) for error in decision.errors]
    shown = (decision.verdict.value, decision.rule_id, decision.phase.value, decision.reason, decision.message, errors)
    return json.dumps(shown)


if __name__ == "__main__":
    main()
