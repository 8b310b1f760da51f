"""What the tests against published cases of peers share: the cases, and rule files made from rules of theirs."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.peers.compared import rule_file

from permitry.config.load import load_rules
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / ".." / "shared" / "cases"

Published: TypeAlias = Callable[[str], dict[str, Any]]
Decide: TypeAlias = Callable[..., tuple[Verdict, str | None]]


@pytest.fixture(scope="session")
def published() -> Published:
    """Return a reader of a peer's file of cases."""

    def read(name: str) -> dict[str, Any]:
        if not (CASES / name).exists():
            pytest.skip("the folder `shared` is not beside this checkout")
        content: dict[str, Any] = json.loads((CASES / name).read_text(encoding="utf-8"))
        return content

    return read


@pytest.fixture
def decide(tmp_path: Path) -> Decide:
    """Return a function that decides a call under rules: the verdict, and the rule of the file that decided.

    A rule is a mapping of the keys of a rule file. Without `has_built_in` the rules of the file stand alone.
    """

    def decided(
        rules: Sequence[Mapping[str, object]],
        call: ToolCall | str,
        *,
        has_built_in: bool = True,
        **context: Any,  # noqa: ANN401 -- the fields of a context
    ) -> tuple[Verdict, str | None]:
        file = tmp_path / "rules.toml"
        file.write_text(rule_file(rules), encoding="utf-8")
        loaded = load_rules([file])
        policy = loaded.policy()
        if not has_built_in:
            policy = AuthorizationPolicy(loaded.rules, reader=policy.reader, declared=loaded.tools, flows=loaded.flows)
        call = ToolCall("run_shell_command", {"command": call}) if isinstance(call, str) else call
        decision = policy.decide(call, AuthContext(workspace=str(tmp_path), **context))
        return decision.verdict, decision.rule_id

    return decided


@pytest.fixture(scope="session")
def stricter() -> Callable[[Mapping[str, tuple[Verdict, Verdict]]], set[str]]:
    """Return a function that takes pairs of a peer's verdict and ours: the cases where ours is stricter.

    It fails where ours is looser.
    """

    def compared(answers: Mapping[str, tuple[Verdict, Verdict]]) -> set[str]:
        looser = {name for name, (theirs, ours) in answers.items() if ours < theirs}
        assert looser == set()
        return {name for name, (theirs, ours) in answers.items() if ours > theirs}

    return compared
