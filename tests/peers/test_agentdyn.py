"""Calls real models made in a published benchmark, all of them, through `permitry check`.

Source: AgentDyn's recorded sessions, read from the folder `shared` beside the checkout.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from permitry.core.spec import DEFAULT_READ_ONLY_TOOLS

CALLS = Path(__file__).resolve().parents[2] / ".." / "shared" / "cases" / "sessions" / "agentdyn_calls.jsonl"
KEYS = ["id", "verdict", "rule", "phase", "reason", "message", "source", "errors"]
COUNT = 5_465

Lines: TypeAlias = list[dict[str, Any]]

pytestmark = pytest.mark.skipif(not CALLS.is_file(), reason="the shared folder with the peers' data is not there")


def check(rules: str, lines: bytes) -> tuple[int, Lines]:
    """Return exit code and answers of `permitry check` for lines on standard input."""
    words = ["check", "--rules", rules, "--calls", "-", "--json"]
    done = subprocess.run([sys.executable, "-m", "permitry", *words], input=lines, capture_output=True, check=False)
    assert done.stderr == b""
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def calls() -> Lines:
    """Return the recorded calls."""
    return [json.loads(line) for line in CALLS.read_bytes().splitlines()]


@pytest.fixture(scope="module")
def answers() -> Lines:
    """Return the answers to the lines as they are, under the shipped floor."""
    code, answered = check("permitry:base", CALLS.read_bytes())
    # Some of the calls need confirmation, none is blocked, and none is invalid.
    assert code == 3
    return answered


@pytest.fixture(scope="module")
def by_tool(calls: Lines, answers: Lines) -> dict[str, dict[str, Any]]:
    """Return the answer to each tool; names are all that rules look at here, so one call stands for all."""
    return {call["name"]: answer for call, answer in zip(calls, answers, strict=True)}


@pytest.fixture
def asked_again(calls: Lines, by_tool: dict[str, dict[str, Any]]) -> Callable[..., Lines]:
    """Return a function that asks one call of each tool again in another context: pairs of old and new answer."""

    def asked(rules: str, **context: object) -> Lines:
        ones = {call["name"]: {**call, "context": context} for call in calls}
        _, answered = check(rules, "".join(f"{json.dumps(call)}\n" for call in ones.values()).encode())
        return [{"before": by_tool[tool], "now": now} for tool, now in zip(ones, answered, strict=True)]

    return asked


def test_every_line_is_answered_in_order(calls: Lines, answers: Lines, by_tool: dict[str, dict[str, Any]]) -> None:
    """There is one answer a line, and it is the answer to that line's tool: none is lost, doubled or moved."""
    assert len(calls) == len(answers) == COUNT
    assert answers == [by_tool[call["name"]] for call in calls]


def test_every_answer_is_well_formed(answers: Lines) -> None:
    """Every answer has the keys of the format in their order, a verdict, a phase, and no error."""
    for answer in answers:
        assert list(answer) == KEYS
        assert answer["verdict"] in ("allow", "confirm")
        assert answer["phase"] in ("restriction", "permission", "default")
        assert (answer["id"], answer["errors"]) == (None, [])


def test_what_the_rule_says_is_what_the_answer_says(answers: Lines) -> None:
    """The default names neither rule nor source; a rule is named with its place."""
    for answer in answers:
        assert (answer["rule"] is None) is (answer["source"] is None) is (answer["phase"] == "default")


@pytest.mark.parametrize(
    ("tool", "rule"),
    [
        ("send_money", "money-asks"),
        ("checkout_selected_cart", "money-asks"),
        ("delete_email", "deletion-asks"),
        ("git_delete_repo", "deletion-asks"),
        ("git_add_ssh_key", "access-asks"),
        ("update_github_account_password", "access-asks"),
    ],
)
def test_what_cannot_be_undone_is_asked_about(calls: Lines, answers: Lines, tool: str, rule: str) -> None:
    """Money, deletion and access are confirmed by their rule, every time a model asked for them."""
    told = {(each["verdict"], each["rule"]) for call, each in zip(calls, answers, strict=True) if call["name"] == tool}
    assert told == {("confirm", rule)}


def test_reading_is_allowed(calls: Lines, answers: Lines) -> None:
    """`read_file` needs no confirmation, because it only reads."""
    told = {each["rule"] for call, each in zip(calls, answers, strict=True) if call["name"] == "read_file"}
    assert told == {"read-only"}


def test_nothing_but_reading_is_allowed(calls: Lines, answers: Lines) -> None:
    """Without a mode or a permission, a call is allowed exactly when its tool is known to only read."""
    allowed = {call["name"] for call, each in zip(calls, answers, strict=True) if each["verdict"] == "allow"}
    assert allowed == {call["name"] for call in calls} & DEFAULT_READ_ONLY_TOOLS
    assert {each["rule"] for each in answers if each["verdict"] == "allow"} == {"read-only"}


def test_yolo_lifts_the_default_and_nothing_else(asked_again: Callable[..., Lines]) -> None:
    """In YOLO mode what a restriction asks about is still asked about, and everything else runs."""
    pairs = asked_again("permitry:base", yolo_mode=True)
    floor = [pair for pair in pairs if pair["before"]["phase"] == "restriction"]
    assert len(floor) > 10
    assert all(pair["now"] == pair["before"] for pair in floor)
    assert all(pair["now"]["verdict"] == "allow" for pair in pairs if pair not in floor)


def test_plan_mode_blocks_whatever_does_not_read(asked_again: Callable[..., Lines]) -> None:
    """In plan mode a call is allowed as before or blocked; nothing is asked."""
    for pair in asked_again("permitry:base", mode="plan"):
        assert pair["now"]["verdict"] == ("allow" if pair["before"]["verdict"] == "allow" else "block")


def test_a_read_only_session_only_reads(asked_again: Callable[..., Lines]) -> None:
    """Under `permitry:read-only` YOLO changes nothing: what is not known to read is blocked."""
    for pair in asked_again("permitry:read-only", yolo_mode=True):
        assert pair["now"]["verdict"] == ("allow" if pair["before"]["rule"] == "read-only" else "block")
