"""`permitry diff`."""

import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Outcome

from permitry import Session, ToolCall, load_policy
from permitry.audit.record import StoredRecorder
from permitry.guard.guard import Guard
from permitry.guard.session_record import begin_session
from permitry.store.sqlite import SqliteStore

_RULES = """schema = 1
[[rule]]
id = "pay"
effect = "allow"
tools = ["pay"]
when.args.amount = {{ le = {most} }}
[[rule]]
id = "push"
effect = "block"
tools = ["@shell"]
when.command = {commands}
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with two rule files, `old.toml` and `new.toml`, that is the current one."""
    (tmp_path / "old.toml").write_text(_RULES.format(most=100, commands='["git push *", "npm publish *"]'))
    (tmp_path / "new.toml").write_text(_RULES.format(most=500, commands='["git push *"]'))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_each_way_is_shown_with_a_call_to_paste(cli: Callable[..., Outcome], files: Path) -> None:
    """Which `permitry check` decides as is said, by the rules before and after."""
    code, out, _ = cli("diff", "old.toml", "new.toml")
    assert code == 1
    lines = out.splitlines()
    assert lines[0] == "More is allowed: 2 ways"
    commands = [line.strip() for line in lines if line.strip().startswith("permitry check")]
    verdicts = [line.strip().split(" -> ") for line in lines if " -> " in line]
    assert len(commands) == 2
    for command, said in zip(commands, verdicts, strict=True):
        for name, one in zip(("old.toml", "new.toml"), said, strict=True):
            _, decided, _ = cli(*shlex.split(command)[1:], "--rules", str(files / name))
            assert decided.split()[0] == one.split()[0]


@pytest.mark.usefixtures("files")
def test_the_way_back_is_narrower(cli: Callable[..., Outcome]) -> None:
    """Nothing more is allowed, and on what that relies is said; with `--only wider` no more is looked for."""
    code, out, _ = cli("diff", "new.toml", "old.toml")
    assert code == 0
    assert out.startswith("Nothing more is allowed\nLess is allowed: 2 ways\n")
    assert "a call that does several things is allowed where each of them is" in out
    code, out, _ = cli("diff", "new.toml", "old.toml", "--only", "wider")
    assert (code, "Less" in out) == (0, False)


@pytest.mark.usefixtures("files")
def test_the_report_is_an_object_or_a_table(cli: Callable[..., Outcome]) -> None:
    """With the same calls."""
    _, out, _ = cli("diff", "old.toml", "new.toml", "--json")
    report = json.loads(out)
    assert [(each["rule"], each["before"]["verdict"], each["after"]["verdict"]) for each in report["wider"]] == [
        ("pay", "confirm", "allow"),
        ("push", "block", "confirm"),
    ]
    assert report["wider"][0]["call"] == {"name": "pay", "arguments": {"amount": 101}}
    _, out, _ = cli("diff", "old.toml", "new.toml", "--markdown")
    assert (
        "| push | blocks less (command) | `permitry check --command 'npm publish'` | block (push, old.toml:7) |" in out
    )


def test_a_table_has_so_many_rows(cli: Callable[..., Outcome], files: Path) -> None:
    """And says how many more there are."""
    (files / "old.toml").write_text("schema = 1\n")
    commands = json.dumps([f"tool{number} *" for number in range(23)])
    (files / "new.toml").write_text(
        f'schema = 1\n[[rule]]\nid = "a"\neffect = "allow"\ntools = ["@shell"]\nwhen.command = {commands}\n'
    )
    _, out, _ = cli("diff", "old.toml", "new.toml", "--markdown")
    assert out.count("| a | permits more") == 20
    assert "and 3 more" in out


def test_what_is_not_proven_has_a_code_of_its_own(cli: Callable[..., Outcome], files: Path) -> None:
    """And is named."""
    for name, window in (("old", "1h"), ("new", "1m")):
        rule = 'schema = 1\n[[rule]]\nid = "a"\neffect = "allow"\ntools = ["pay"]\n'
        (files / f"{name}.toml").write_text(f'{rule}budget = {{ calls = 3, per = "{window}" }}\n')
    code, out, _ = cli("diff", "old.toml", "new.toml")
    assert code == 5
    assert "Not proven: 1 way\n  a permits more (budget): `budget`" in out
    code, out, _ = cli("diff", "old.toml", "new.toml", "--markdown")
    assert (code, "### Not proven" in out) == (5, True)


def test_a_widening_that_is_wanted_is_accepted(cli: Callable[..., Outcome], files: Path) -> None:
    """By its digest, with who wants it; another one is still told, and an entry that is not found is named."""
    _, out, _ = cli("diff", "old.toml", "new.toml", "--json")
    digests = [each["digest"] for each in json.loads(out)["wider"]]
    entries = [f'[[accept]]\ndigest = "{each}"\nby = "Ada"\nwhy = "wanted"\n' for each in (*digests, "no-such-one")]
    accepted = files / "accepted.toml"
    accepted.write_text(entries[0])
    code, out, _ = cli("diff", "old.toml", "new.toml", "--accept", "accepted.toml")
    assert (code, "accepted by Ada" in out, out.splitlines()[0]) == (1, True, "More is allowed: 1 way")
    accepted.write_text("".join(entries))
    code, out, error = cli("diff", "old.toml", "new.toml", "--accept", "accepted.toml")
    assert (code, out.splitlines()[0]) == (0, "Nothing more is allowed but what was accepted")
    assert "accepts `no-such-one`, which is not there" in error


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("old.toml", "no.toml"), "no.toml"),
        (("git:main:rules.toml", "new.toml"), "git: "),
        (("git:rules.toml", "new.toml"), "write `git:REVISION:PATH`"),
        (("old.toml", "empty"), "has no rule files"),
        (("old.toml", "new.toml", "--accept", "bad.toml"), "`[[accept]]` 1: it has `digest`, `by` and `why`"),
        (("old.toml", "new.toml", "--accept", "none.toml"), "cannot be read"),
        (("old.toml", "new.toml", "--accept", "old.toml"), "nothing but tables `[[accept]]`"),
        (("old.toml", "new.toml", "--budget", "soon"), "is not a number of seconds"),
    ],
)
def test_bad_input_is_named(cli: Callable[..., Outcome], files: Path, words: tuple[str, ...], why: str) -> None:
    """With the way out."""
    (files / "empty").mkdir()
    (files / "bad.toml").write_text('[[accept]]\ndigest = "x"\n')
    code, out, error = cli("diff", *words)
    assert (code, out) == (4, "")
    assert why in error


def test_a_revision_of_git_is_read_with_what_it_extends(cli: Callable[..., Outcome], files: Path) -> None:
    """As it was, and its places are those of the revision."""
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.com")
    (files / "rules").mkdir()
    (files / "old.toml").rename(files / "rules" / "more.toml")
    (files / "rules" / "mine.toml").write_text('schema = 1\nextends = ["more.toml"]\n')
    for words in (("init", "-q"), ("add", "rules"), ("commit", "-qm", "rules")):
        subprocess.run([*git, *words], check=True, capture_output=True)
    (files / "rules" / "more.toml").write_text((files / "new.toml").read_text())
    code, out, _ = cli("diff", "git:HEAD:rules/mine.toml", "rules/mine.toml")
    assert code == 1
    assert "block (push, HEAD:rules/more.toml:7) -> confirm (no rule)" in out
    code, _, error = cli("diff", "git:HEAD:mine.toml", "rules/mine.toml")
    assert (code, "that revision has no such file" in error) == (4, True)


def test_a_folder_is_its_files_or_the_layers_of_a_project(cli: Callable[..., Outcome], files: Path) -> None:
    """So that a whole project can be compared with another one."""
    for name in ("old", "new"):
        folder = files / f"{name}-project" / ".permitry"
        folder.mkdir(parents=True)
        (folder / "rules.toml").write_text((files / f"{name}.toml").read_text())
        (files / f"{name}-files").mkdir()
        (files / f"{name}-files" / "a.toml").write_text((files / f"{name}.toml").read_text())
    code, out, _ = cli("diff", "old-files", "new-files")
    assert (code, out.splitlines()[0]) == (1, "More is allowed: 2 ways")
    code, out, _ = cli("diff", "old-project", "new-project")
    assert "push blocks less (command)" in out


@pytest.fixture
def recorded(files: Path) -> Path:
    """Return a record of two sessions, as the old rules decided: two payments and a publication."""
    store = SqliteStore(files / "a.db")
    policy = load_policy(str(files / "old.toml"))
    published = ToolCall("run_shell", {"command": "ls && npm publish"})
    for name, calls in (
        ("s1", [ToolCall("pay", {"amount": 20}), ToolCall("pay", {"amount": 200})]),
        ("s2", [published, ToolCall("pay", {"amount": 300})]),
    ):
        session = Session(id=name, workspace=str(files))
        recorder = StoredRecorder(store, session=name, clock=lambda: "2026-11-30T10:00:00.000+00:00")
        guard = Guard(policy, session, recorder=recorder)
        begin_session(guard, recorder)
        for call in calls:
            guard.check(call)
    store.close()
    return files / "a.db"


@pytest.mark.usefixtures("recorded")
def test_it_is_said_what_of_each_way_was_called(cli: Callable[..., Outcome]) -> None:
    """With the first such call; the exit code stays."""
    code, out, _ = cli("diff", "old.toml", "new.toml", "--sessions", "a.db")
    assert code == 1
    first = "first 2026-11-30T10:00:00.000+00:00 in"
    assert f'    2 calls in 2 sessions, {first} s1: pay {{"amount": 200}}\n' in out
    assert f'    1 call in 1 session, {first} s2: run_shell {{"command": "ls && npm publish"}}\n' in out
    assert out.endswith("4 recorded calls of 2 sessions decided by both: 3 less strictly\n")


@pytest.mark.usefixtures("recorded")
def test_what_was_called_is_in_the_object_and_the_table(cli: Callable[..., Outcome]) -> None:
    """With the place of the record, from which `permitry audit show` goes on."""
    data = json.loads(cli("diff", "old.toml", "new.toml", "--sessions", "a.db", "--json")[1])
    assert [way["called"]["calls"] for way in data["wider"]] == [2, 1]
    assert data["wider"][1]["called"]["first"]["number"] == 7
    assert data["sessions"]["looser"] == 3
    out = cli("diff", "old.toml", "new.toml", "--sessions", "a.db", "--markdown")[1]
    assert out.splitlines()[2].endswith("| after | called |")
    assert "2 calls in 2 sessions" in out
    assert "called" not in cli("diff", "old.toml", "new.toml", "--markdown")[1]


@pytest.mark.usefixtures("recorded")
def test_a_way_that_no_call_took_says_so(cli: Callable[..., Outcome], files: Path) -> None:
    """Of several records each counts."""
    (files / "new.toml").write_text(_RULES.format(most=100, commands='["npm publish *"]'))
    _, out, _ = cli("diff", "old.toml", "new.toml", "--sessions", "a.db", "a.db")
    assert "    not called in the records\n" in out
    assert out.endswith("8 recorded calls of 4 sessions decided by both: 0 less strictly\n")


def test_messages_are_no_record(cli: Callable[..., Outcome], files: Path) -> None:
    """They say not when a session called what."""
    (files / "s.jsonl").write_text('{"id": "c1", "name": "pay", "arguments": {"amount": 200}}\n')
    code, _, error = cli("diff", "old.toml", "new.toml", "--sessions", "s.jsonl")
    assert (code, "`s.jsonl` is not a record" in error) == (4, True)
