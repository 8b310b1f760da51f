"""What Claude Code has built in, as rules of ours."""

import json
from pathlib import Path

from tests.tables import for_each
from tests.unit.permitry_hosts.importers.conftest import Import, Verdicts

from permitry.config.drafts import drafts_of
from permitry.config.load import load_rules
from permitry.config.origin import Origin
from permitry.core.decision import Verdict
from permitry_ops.lint import lint


def _settings(**permissions: object) -> str:
    return json.dumps({"permissions": permissions}, indent=1)


@for_each("tool", ["TodoWrite", "TaskUpdate", "Task", "Agent"])
def test_what_needs_no_permission_there_needs_none_here(made: Import, decide: Verdicts, tool: str) -> None:
    """What changes the session alone; a rule about it still counts."""
    assert decide(made("claude-code", _settings()), tool) is Verdict.ALLOW
    assert decide(made("claude-code", _settings(ask=[tool])), tool) is Verdict.CONFIRM
    assert decide(made("claude-code", _settings()), "EnterWorktree") is Verdict.CONFIRM


def test_what_is_built_in_has_no_findings(made: Import, tmp_path: Path) -> None:
    """The user did not write it, so nothing is to be done about it."""
    rules = made("claude-code", _settings(additionalDirectories=["/srv/data"], allow=["Bash(npm test:*)"]))
    (tmp_path / "rules.toml").write_text(rules.text, encoding="utf-8")
    loaded = load_rules([Origin(str(tmp_path / "rules.toml"))])
    assert lint(loaded, drafts=drafts_of(loaded)) == ()


def test_edits_are_permitted_in_their_mode(made: Import, decide: Verdicts) -> None:
    """In the workspace and the folders next to it, and in no other mode."""
    rules = made("claude-code", _settings(defaultMode="acceptEdits", additionalDirectories=["/srv/data", "../x", 1]))
    mode = {"mode": "acceptEdits"}
    assert decide(rules, "Write", file_path="a", content="", context=mode) is Verdict.ALLOW
    assert decide(rules, "Write", file_path="/srv/data/a", content="", context=mode) is Verdict.ALLOW
    assert decide(rules, "Write", file_path="/srv/a", content="", context=mode) is Verdict.CONFIRM
    assert decide(rules, "Bash", command="mkdir a", context=mode) is Verdict.ALLOW
    assert decide(rules, "Write", file_path="a", content="") is Verdict.CONFIRM
