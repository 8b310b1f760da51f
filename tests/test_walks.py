"""Restrictions on paths, and programs that go through a folder: what is there is looked at."""

from collections.abc import Callable
from pathlib import Path

import pytest

from permitry.actions import disk
from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Verdict
from tests.tables import for_each

ALLOW, CONFIRM, BLOCK = Verdict.ALLOW, Verdict.CONFIRM, Verdict.BLOCK
Decide = Callable[..., Decision]

_RULES = """
schema = 1
[[rule]]
id = "commands"
effect = "allow"
when.command = ["*"]
[[rule]]
id = "secrets"
effect = "block"
when.path = ["{pattern}"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a workspace with a few files, none of them secret."""
    for name in ("src/a.py", "src/deep/b.py", ".github/ci.yml", "notes.txt"):
        (tmp_path / "work" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "work" / name).touch()
    return tmp_path / "work"


@pytest.fixture
def decide(folder: Path, tmp_path: Path) -> Decide:
    """Return a function that decides on a command, or a call, under a block of one pattern."""

    def decided(command: str | ToolCall, pattern: str = "**/.env") -> Decision:
        rules = tmp_path / "rules.toml"
        rules.write_text(_RULES.replace("{pattern}", pattern), encoding="utf-8")
        call = command if isinstance(command, ToolCall) else ToolCall("bash", {"command": command})
        return load_policy(rules).decide(call, AuthContext(workspace=str(folder), yolo_mode=True))

    return decided


READING = [
    "grep -r x .",
    "grep -rn x src .",
    "cp -r . /tmp/x",
    "tar czf /tmp/a.tgz .",
    "cd . && grep -r x",
    "wc -l < a; cat a; grep -r x ./",
]


@pytest.mark.parametrize("pattern", [".env", "**/.env", "**/.env*", "**/.ENV"])
@pytest.mark.parametrize("command", READING)
def test_what_a_walk_meets_is_touched(folder: Path, decide: Decide, command: str, pattern: str) -> None:
    """The rule applies if there is such a file, and does not if there is none."""
    assert decide(command, pattern).verdict is ALLOW
    (folder / ".env").touch()
    assert (decide(command, pattern).verdict, decide(command, pattern).rule_id) == (BLOCK, "secrets")


def test_an_accent_behind_the_last_letter_before_a_star_hides_no_file(folder: Path, decide: Decide) -> None:
    """As one letter, the two are another one."""
    (folder / "src" / "cafe\u0301x").touch()
    assert decide("grep -r x .", "**/cafe*").verdict is BLOCK
    assert decide("grep -r x .", "**/caff*").verdict is ALLOW


@pytest.mark.parametrize(
    "command", ["rm -r src", "chmod -R g+r src", "mv src /tmp/y", "grep -r x src/deep", "cat a; rm -rf ./src"]
)
def test_it_is_found_at_any_depth_and_for_any_access(folder: Path, decide: Decide, command: str) -> None:
    """A walk that changes or deletes is one, too."""
    assert decide(command).verdict is ALLOW
    (folder / "src" / "deep" / ".env").touch()
    assert decide(command).verdict is BLOCK


@for_each(
    "command",
    ["ls -R", "find . -name '*.py'", "find . -type f", "tree", "du -sh .", "fd py", "git clone https://a.example/b"],
)
def test_names_are_not_contents(folder: Path, decide: Decide, command: str) -> None:
    """A list of names does not show what is in the files, and a clone makes new ones."""
    (folder / ".env").touch()
    assert decide(command, ".env").verdict is ALLOW
    assert decide(command).verdict is ALLOW


@for_each("command", ["rg x", "rg -n x src .", "ag x"])
def test_what_a_program_leaves_out_is_not_touched(folder: Path, decide: Decide, command: str) -> None:
    """These do not look at what begins with a dot; they may leave out other files as well, by an ignore file."""
    (folder / ".env").touch()
    assert decide(command).verdict is ALLOW
    assert decide(command.replace(" ", " --hidden ", 1)).verdict is CONFIRM
    (folder / "secret.txt").touch()
    decision = decide(command, "**/secret.txt")
    assert (decision.verdict, decision.rule_id) == (CONFIRM, "secrets")


@pytest.mark.parametrize(
    "command",
    [
        "git add .",
        "git add -A",
        "grep -r --exclude='.e*' x .",
        "tar czf /tmp/a.tgz --exclude=.env .",
        "find . -name '*.o' -delete",
    ],
)
def test_what_may_be_left_out_is_asked_about(folder: Path, decide: Decide, command: str) -> None:
    """A block needs certainty: git does not add what it ignores, and an option may leave the file out."""
    assert decide(command).verdict is ALLOW
    (folder / ".env").touch()
    assert decide(command).verdict is CONFIRM


def test_a_folder_of_too_many_names_is_asked_about(decide: Decide, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then what is not found may be there."""
    monkeypatch.setattr(disk, "MOST_LISTED", 5)
    decision = decide("grep -r x .")
    assert (decision.verdict, decision.rule_id) == (CONFIRM, "secrets")
    assert decision.reason == "may touch `**/.env` (`grep -r x .` reaches all below `.`)"
    # The pattern says where to look: only there.
    assert decide("grep -r x .", "src/deep/*.pem").verdict is ALLOW
    assert decide("grep -r x .", "src/deep/b.py").verdict is BLOCK


def test_a_folder_that_cannot_be_listed_is_asked_about(decide: Decide, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program may be started by another user."""

    def refuse(_: str) -> None:
        raise PermissionError

    monkeypatch.setattr("os.scandir", refuse)
    assert decide("grep -r x .").verdict is CONFIRM


def test_a_wildcard_is_looked_for_in_its_folder(folder: Path, decide: Decide) -> None:
    """The names it becomes are not known, so what is found below is asked about."""
    assert decide("grep -r x sr*").verdict is ALLOW
    (folder / "src" / ".env").touch()
    assert decide("grep -r x sr*").verdict is CONFIRM


@for_each("before", ["mv /tmp/z there", "cp -r /tmp/z .", "unzip a.zip", "tar xf a.tar", "ln -s /tmp there"])
def test_what_an_earlier_command_may_have_put_there_is_not_known(decide: Decide, before: str) -> None:
    """The disk shows what was there before."""
    assert decide("rm -r build; grep -r x .").verdict is ALLOW
    assert decide(f"{before}; grep -r x .").verdict is CONFIRM


def test_after_a_program_that_may_do_anything_it_is_looked_all_the_same(folder: Path, decide: Decide) -> None:
    """What is found may be gone by then, so it is asked about."""
    assert decide("make && grep -r x .").verdict is ALLOW
    (folder / ".env").touch()
    assert decide("make && grep -r x .").verdict is CONFIRM


def test_a_tool_that_searches_is_asked_about(folder: Path, decide: Decide) -> None:
    """It may leave files out, as ours does; without such a file it is not asked about."""
    call = ToolCall("search_files", {"query": "x"})
    assert decide(call).verdict is ALLOW
    (folder / "src" / ".env").touch()
    assert decide(call).verdict is CONFIRM


def test_what_is_excepted_below_a_folder_is_not_counted(folder: Path, decide: Decide) -> None:
    """An example of a file of secrets is none; with the file itself next to it, the rule applies."""
    pattern = '**/.env*"]\nunless.path = ["**/.env.example'
    (folder / "src" / ".env.example").touch()
    assert decide("grep -r x .", pattern).verdict is ALLOW
    assert decide("grep -r x .", "**/.env*").verdict is BLOCK
    (folder / "src" / ".env.local").touch()
    assert decide("grep -r x .", pattern).verdict is BLOCK


def test_the_shipped_sets_look_as_well(folder: Path) -> None:
    """In a folder without secrets a search runs; with them it is asked about, whatever their folder."""
    policy, context = load_policy("permitry:coding-agent"), AuthContext(workspace=str(folder))
    call = ToolCall("bash", {"command": "grep -rn TODO ."})
    assert policy.decide(call, context).verdict is ALLOW
    (folder / "src" / ".env.example").touch()
    assert policy.decide(call, context).verdict is ALLOW
    (folder / "src" / ".env").touch()
    decision = policy.decide(call, context)
    assert (decision.verdict, decision.rule_id) == (CONFIRM, "ask-credentials")


@for_each(("pattern", "name"), [("t[!m]x", "tMx"), ("Src/deep/*.PY", "src/deep/b.py"), ("SRC/deep/b.py", "x")])
def test_no_name_is_missed_for_its_case(folder: Path, decide: Decide, pattern: str, name: str) -> None:
    """A restriction compares names as they are written and without regard to case."""
    (folder / name).touch()
    top = "src" if "/" in pattern else "."
    assert decide(f"grep -r x {top}", pattern).verdict is BLOCK
