"""The condition `looks`: commands that certainly change nothing, though they may connect."""

from pathlib import Path

import attrs
import pytest
from tests.tables import for_each

from permitry.actions.extract import ReadActions
from permitry.conditions.looks import LooksCondition
from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.errors import RuleError

_ALLOW = 'effect = "allow"\nwhen = { command = "*", looks = true }'
_KUBECTL = 'effect = "allow"\nwhen = { command = "kubectl *", looks = true }'
_BLOCK = 'effect = "block"\nwhen.command = "kubectl *"\nunless = { command = "*", looks = true }'


def _decide(folder: Path, rule: str, command: str, *, is_plan_mode: bool = False) -> Verdict:
    """Return what one rule says about a command, in a workspace and a home that are nowhere."""
    file = folder / "rules.toml"
    file.write_text(f'schema = 1\n[[rule]]\nid = "x"\n{rule}\n', encoding="utf-8")
    policy = attrs.evolve(load_policy(file), reader=ReadActions("/h", has_disk=False))
    context = AuthContext(workspace="/w", is_plan_mode=is_plan_mode)
    return policy.decide(ToolCall("run_shell", {"command": command}), context).verdict


@for_each(
    ("rule", "command", "verdict"),
    [
        (_ALLOW, "kubectl get pods", Verdict.ALLOW),
        (_ALLOW, "kubectl get pods | grep web && git status", Verdict.ALLOW),
        (_ALLOW, "timeout 9 docker ps", Verdict.ALLOW),
        (_ALLOW, "bash -c 'kubectl get pods'", Verdict.ALLOW),
        (_ALLOW, "kubectl get pods > a", Verdict.CONFIRM),
        (_ALLOW, "kubectl get pods; make", Verdict.CONFIRM),
        (_ALLOW, "sudo docker ps", Verdict.CONFIRM),
        (_ALLOW, "ssh host docker ps", Verdict.CONFIRM),
        (_ALLOW, "docker exec web kubectl get pods", Verdict.CONFIRM),
        (_ALLOW, "echo x | xargs kubectl get", Verdict.CONFIRM),
        (_ALLOW, "kubectl() { rm -r x; }; kubectl get pods", Verdict.CONFIRM),
        (_ALLOW, "alias kubectl='rm -r x'; kubectl get pods", Verdict.CONFIRM),
        (_ALLOW, "export KUBECONFIG=x; kubectl get pods", Verdict.CONFIRM),
        (_ALLOW, "PATH=.:$PATH kubectl get pods", Verdict.CONFIRM),
        (_ALLOW, "kubectl get $(id)", Verdict.CONFIRM),
        (_ALLOW, "./kubectl get pods", Verdict.CONFIRM),
        (_ALLOW, "make", Verdict.CONFIRM),
        (_KUBECTL, "kubectl get pods", Verdict.ALLOW),
        (_KUBECTL, "kubectl delete pod x", Verdict.CONFIRM),
        (_KUBECTL, "docker ps", Verdict.CONFIRM),
        (_BLOCK, "kubectl delete pod x", Verdict.BLOCK),
        (_BLOCK, "kubectl get pods", Verdict.CONFIRM),
        (_BLOCK, "kubectl get pods; kubectl delete pod x", Verdict.BLOCK),
        (_BLOCK, "kubectl get $x", Verdict.BLOCK),
    ],
)
def test_what_only_looks_is_permitted_or_left_out(tmp_path: Path, rule: str, command: str, verdict: Verdict) -> None:
    """Only where that is certain."""
    assert _decide(tmp_path, rule, command) is verdict


def test_looking_is_not_only_reading(tmp_path: Path) -> None:
    """It may connect: no rule permits it by itself, plan mode blocks it, and it counts as using the network."""
    other = 'effect = "allow"\nwhen.command = "make"'
    assert _decide(tmp_path, other, "kubectl get pods") is Verdict.CONFIRM
    assert _decide(tmp_path, _ALLOW, "kubectl get pods", is_plan_mode=True) is Verdict.BLOCK
    network = f'{_ALLOW}\n[[rule]]\nid = "n"\neffect = "block"\ntools = ["@network"]'
    assert _decide(tmp_path, network, "kubectl get pods") is not Verdict.ALLOW


def test_what_does_not_look_cannot_be_asked_for() -> None:
    """Every command that is not known would be meant."""
    with pytest.raises(RuleError, match="leave it out"):
        LooksCondition.read((), 0)
