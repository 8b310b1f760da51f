"""`permitry grants`: approvals are given beforehand, listed, shown, and revoked."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.tables import for_each

from permitry.channels.clock import Moment
from permitry.cli.grants import too_wide
from permitry.cli.main import main
from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.spec import ToolSpec
from permitry.guard.grants import Grant
from permitry.guard.guard import Guard
from permitry.guard.ledgers import grants_at, ledger_at, questions_at
from permitry.guard.outcome import Ask, Permit
from permitry.guard.session import Session
from permitry.store.grants import StoredGrants
from permitry.store.records import is_address
from permitry.store.sqlite import SqliteStore

Out = pytest.CaptureFixture[str]
ASKS = 'schema = 1\n[[rule]]\nid = "ask"\neffect = "confirm"\nwhen.command = "make *"\n'
ADD, MAKE = (ToolCall("run_shell", {"command": text}, call_id="c1") for text in ("git add x", "make x"))


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where the store of the user is."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "permitry/permitry.db"


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that has a human answer at a terminal."""

    def type_(text: str) -> None:
        monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
        monkeypatch.setattr("builtins.input", lambda _: text)

    return type_


def guard(path: str | Path) -> Guard:
    """Return a guard with the grants in the store."""
    return Guard(load_policy(ASKS), session=Session(id="s1"), grants=grants_at(path), ledger=ledger_at(path))


def granted(path: Path) -> list[Grant]:
    """Return all grants in the store."""
    return [Grant.of(row) for row in StoredGrants(SqliteStore(path)).all()]


def test_a_grant_is_shown_and_confirmed_before_it_counts(path: Path, typed: Callable[[str], None], capsys: Out) -> None:
    """As the rule that it means; with its bounds and who gave it."""
    typed("y")
    words = ["--command", "git add *", "--for", "8h", "--uses", "2", "--reason", "today", "--agent", "main"]
    assert main(["grants", "add", *words]) == 0
    out = capsys.readouterr().out
    (grant,) = granted(path)
    for part in ('when.command = ["git add *"]', 'when.agent = ["main"]', f"granted: {grant.id}"):
        assert part in out
    assert (grant.uses_left, grant.agent, grant.reason) == (2, "main", "today")
    assert grant.granted_by
    assert grant.deadline is not None
    assert 28_700 < Moment.now().until(grant.deadline) <= 28_800
    assert isinstance(guard(path).check(ADD), Permit)


def test_a_store_of_each_kind_is_named(address: str, typed: Callable[[str], None], capsys: Out) -> None:
    """A grant in it counts as often as it says, until it is revoked."""
    typed("y")
    words = ["--store", address]
    assert main(["grants", "list", *words]) == (0 if is_address(address) else 4)
    for uses in "12":
        assert main(["grants", "add", "--command", "git add *", "--uses", uses, *words]) == 0
    calls = [guard(address).check(ADD.with_id(f"c{number}")) for number in range(2)]
    assert [isinstance(call, Permit) for call in calls] == [True, True]
    (row,) = grants_at(address).store.in_force(Moment.now())
    assert main(["grants", "revoke", row["id"], *words]) == 0
    assert isinstance(guard(address).check(ADD.with_id("c3")), Ask)
    capsys.readouterr()
    assert main(["grants", "list", *words]) == 0
    assert capsys.readouterr().out == "no grant counts\n"


@pytest.mark.parametrize("answer", ["", "n", "no", "what"])
def test_without_a_yes_nothing_is_granted(path: Path, typed: Callable[[str], None], capsys: Out, answer: str) -> None:
    """The exit code says so."""
    typed(answer)
    assert main(["grants", "add", "--command", "git add *"]) == 1
    assert "nothing is granted" in capsys.readouterr().out
    assert granted(path) == []


def test_only_a_human_at_a_terminal_grants(path: Path, capsys: Out) -> None:
    """A program that the agent has started has none."""
    assert main(["grants", "add", "--command", "git add *"]) == 4
    assert "a human answers questions and makes grants: type this at a terminal" in capsys.readouterr().err
    assert not path.exists()


def test_grants_are_listed_shown_and_revoked(path: Path, typed: Callable[[str], None], capsys: Out) -> None:
    """What is revoked is listed with `--all`, and counts in no process."""
    typed("y")
    assert main(["grants", "add", "--path", "src/**", "--tool", "write_file", "--session", "s1"]) == 0
    (grant,) = granted(path)
    capsys.readouterr()
    assert main(["grants", "list"]) == 0
    line = f'{grant.id}  no end  session=s1  tools = ["write_file"]; when.path = ["src/**"]  by {grant.granted_by}\n'
    assert capsys.readouterr().out == line
    assert main(["grants", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["id"] == grant.id
    assert main(["grants", "show", grant.id]) == 0
    assert f'id = "grant-{grant.id}"' in capsys.readouterr().out
    assert main(["grants", "revoke", grant.id]) == 0
    assert main(["grants", "revoke", grant.id]) == 4
    assert "was revoked before" in capsys.readouterr().err
    assert main(["grants", "list"]) == 0
    assert capsys.readouterr().out == "no grant counts\n"
    assert main(["grants", "list", "--all"]) == 0
    assert "revoked" in capsys.readouterr().out


def test_the_record_says_who_granted_and_revoked(path: Path, typed: Callable[[str], None], capsys: Out) -> None:
    """Also after the grant is forgotten."""
    typed("y")
    assert main(["grants", "add", "--tool", "write_file", "--uses", "2"]) == 0
    (grant,) = granted(path)
    assert main(["grants", "revoke", grant.id]) == 0
    assert main(["grants", "add", "--tool", "read_file"]) == 0
    capsys.readouterr()
    assert main(["audit", "query", "--grant", grant.id, "--by", grant.granted_by, "--json"]) == 0
    given, revoked = map(json.loads, capsys.readouterr().out.splitlines())
    assert (given["event"], given["permits"], given["uses_left"]) == ("granted", 'tools = ["write_file"]', 2)
    assert (revoked["event"], revoked["by"]) == ("revoked", grant.granted_by)
    assert main(["audit", "tail"]) == 0
    assert 'granted              {"grant":' in capsys.readouterr().out


def test_what_does_not_count_is_swept_with_the_next_one(path: Path, typed: Callable[[str], None]) -> None:
    """So that a store does not grow."""
    typed("y")
    for command in ("git add *", "rm *"):
        assert main(["grants", "add", "--command", command]) == 0
        assert main(["grants", "revoke", granted(path)[-1].id]) == 0
    assert [grant.rule for grant in granted(path)] == ['when.command = ["rm *"]']


@pytest.mark.parametrize("words", [("show", "x"), ("revoke", "x"), ("list",)])
def test_what_is_not_there_is_an_error(path: Path, words: tuple[str, ...], capsys: Out) -> None:
    """A store that is named is not made. Of the default one nothing has to be there to list what is in it."""
    other = path.with_name("other.db")
    assert main(["grants", *words, "--store", str(other)]) == 4
    assert "there is no store" in capsys.readouterr().err
    assert not other.exists()
    assert main(["grants", *words]) == (0 if words == ("list",) else 4)
    out, err = capsys.readouterr()
    assert "no grant counts" in out or "there is no grant `x`" in err


# From a question ---------------------------------------------------------------------------------------------------


@pytest.fixture
def asked(path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[ToolCall], str]:
    """Return a function that asks about a call, as a process elsewhere would, and returns the id of the question."""

    def ask(call: ToolCall) -> str:
        with monkeypatch.context() as patch:
            patch.setattr("os.getpid", lambda: 4_000_000)
            patch.setattr("os.getppid", lambda: 4_000_000)
            outcome = guard(path).check(call)
        assert isinstance(outcome, Ask)
        return outcome.id

    return ask


def test_the_call_of_a_question_is_granted(
    path: Path, typed: Callable[[str], None], asked: Callable[[ToolCall], str]
) -> None:
    """That very call, also where a rule asks about it; the question itself stays open."""
    name = asked(MAKE)
    typed("y")
    assert main(["grants", "add", "--question", name, "--uses", "1"]) == 0
    assert granted(path)[0].digest == MAKE.digest
    assert isinstance(guard(path).check(MAKE.with_id("c2")), Permit)
    assert isinstance(guard(path).check(MAKE.with_id("c3")), Ask)


def test_the_grant_of_a_call_is_for_the_session_that_asked(
    path: Path, typed: Callable[[str], None], asked: Callable[[ToolCall], str]
) -> None:
    """In another folder the same words are another call; a human may say that they mean all."""
    name = asked(MAKE)
    typed("y")
    elsewhere = guard(path)
    elsewhere.session = Session(id="s2")
    assert main(["grants", "add", "--question", name]) == 0
    assert granted(path)[0].session == "s1"
    assert isinstance(elsewhere.check(MAKE.with_id("c4")), Ask)
    assert main(["grants", "add", "--question", name, "--any-session"]) == 0
    assert isinstance(elsewhere.check(MAKE.with_id("c5")), Permit)


def test_the_call_of_a_question_is_granted_for_the_request(
    path: Path, typed: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the user, where it is known which one that is."""
    with monkeypatch.context() as patch:
        patch.setattr("os.getpid", lambda: 4_000_000)
        patch.setattr("os.getppid", lambda: 4_000_000)
        working = guard(path)
        unknown = working.check(MAKE.with_id("c6"))
        working.session.begin_turn()
        ask = working.check(MAKE)
    assert isinstance(unknown, Ask)
    assert isinstance(ask, Ask)
    typed("y")
    for words in (("--question", unknown.id), ("--tool", "x")):
        assert main(["grants", "add", *words, "--request"]) == 4
        assert "--request needs a question of a host" in capsys.readouterr().err
    assert main(["grants", "add", "--question", ask.id, "--request", "--any-session"]) == 0
    assert f"request={working.session.turn}" in capsys.readouterr().out
    assert isinstance(working.check(MAKE.with_id("c7")), Permit)
    working.session.heard("something else")
    assert isinstance(working.check(MAKE.with_id("c8")), Ask)


def test_the_grant_of_a_call_is_for_the_tool_as_it_was_shown(
    path: Path, typed: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that declares it in another way, or a host that does not declare it, is asked about again."""
    mail = ToolCall("mcp:mail/send", {"to": "ann"}, call_id="c1")
    seen, changed = (ToolSpec(mail.tool, text) for text in ("Sends a mail.", "Sends a mail, and a copy."))
    with monkeypatch.context() as patch:
        patch.setattr("os.getpid", lambda: 4_000_000)
        patch.setattr("os.getppid", lambda: 4_000_000)
        ask = guard(path).check(mail, seen)
    assert isinstance(ask, Ask)
    typed("y")
    assert main(["grants", "add", "--question", ask.id]) == 0
    for number, (spec, outcome) in enumerate(((seen, Permit), (changed, Ask), (None, Ask), (seen, Permit)), start=2):
        assert isinstance(guard(path).check(mail.with_id(f"c{number}"), spec), outcome)


def test_calls_like_that_of_a_question_are_granted(
    path: Path, typed: Callable[[str], None], asked: Callable[[ToolCall], str], capsys: Out
) -> None:
    """By the narrower of the patterns that the prompt of a terminal would offer."""
    name = asked(ADD)
    typed("y")
    assert main(["grants", "add", "--like", name]) == 0
    assert granted(path)[0].rule == 'when.command = ["git add x *"]'
    open_word = ToolCall("run_shell", {"command": "rm $X"}, call_id="c1")
    for call, said in ((open_word, "nothing narrow"), (None, "no question")):
        other = "nothing" if call is None else asked(call)
        assert main(["grants", "add", "--like", other]) == 4
        assert said in capsys.readouterr().err


def test_a_grant_that_a_rule_asks_past_is_noted(
    path: Path, typed: Callable[[str], None], asked: Callable[[ToolCall], str], capsys: Out
) -> None:
    """Its user would wonder why the next call of the kind is asked about again."""
    typed("y")
    for call, is_noted in ((ADD, False), (MAKE, True)):
        assert main(["grants", "add", "--like", asked(call)]) == 0
        said = "the rule `ask` asks about this call, and will ask about others like it all the same; --question"
        assert (said in capsys.readouterr().err) == is_noted
    assert isinstance(guard(path).check(MAKE.with_id("c3")), Ask)


def test_of_a_closed_question_only_that_very_call_is_known(
    path: Path, typed: Callable[[str], None], asked: Callable[[ToolCall], str], capsys: Out
) -> None:
    """By its digest."""
    name = asked(MAKE)
    assert questions_at(path).close(name, Moment.now())
    typed("y")
    assert main(["grants", "add", "--like", name]) == 4
    assert "its call is not kept" in capsys.readouterr().err
    assert main(["grants", "add", "--question", name]) == 0
    assert isinstance(guard(path).check(MAKE.with_id("c2")), Permit)


def test_the_one_who_asks_grants_nothing(path: Path, typed: Callable[[str], None], capsys: Out) -> None:
    """It could be the agent."""
    ask = guard(path).check(MAKE)
    assert isinstance(ask, Ask)
    typed("y")
    assert main(["grants", "add", "--question", ask.id]) == 4
    assert "in another terminal" in capsys.readouterr().err
    assert granted(path) == []


# What is too wide --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rule",
    [
        'when.command = ["bash *"]', 'when.command = ["bash"]', 'when.command = ["/bin/{sh,dash}"]',
        'when.command = ["python3 *"]', 'when.command = ["*"]', 'when.command = ["docker *"]',
        'when.command = "zsh"', 'when.command = ["rbash"]', 'tools = ["*"]',
        'tools = ["@writes"]', 'tools = ["run_shell"]', 'tools = "*"',
        'tools = ["*"]\nwhen.agent = ["main"]', 'tools = ["?*"]\nwhen.mode = ["default"]', 'when.path = ["/**"]',
        'when.host = ["*"]',
    ],
)  # fmt: skip
def test_what_is_too_wide_is_refused_without_force(
    path: Path, typed: Callable[[str], None], capsys: Out, rule: str
) -> None:
    """Any code, a bare shell, nearly any call."""
    assert too_wide(Grant(rule))
    typed("y")
    if rule.startswith("when.command = [") and "{" not in rule:
        pattern = rule.split('"')[1]
        assert main(["grants", "add", "--command", pattern]) == 4
        assert "--force" in capsys.readouterr().err
        assert granted(path) == []
        assert main(["grants", "add", "--command", pattern, "--force"]) == 0


@for_each(
    "rule",
    [
        'when.command = ["git log *"]', 'when.path = ["src/**"]', 'tools = ["write_file"]',
        'tools = ["*"]\nwhen.args.path = "a"', 'when.command = ["make"]', 'tools = ["mcp:docs/*"]',
    ],
)  # fmt: skip
def test_what_is_narrow_is_not(rule: str) -> None:
    """Nor what is for one call alone."""
    assert too_wide(Grant(rule)) is None
    assert too_wide(Grant('tools = ["*"]', digest="0" * 64)) is None


@pytest.mark.parametrize(
    "words",
    [
        (), ("--tool", "x", "--question", "y"), ("--like", "x", "--question", "y"), ("--when", "nothing = 1"),
        ("--when", 'args.x = 1\n[[rule]]\nid = "b"\neffect = "allow"\ntools = ["*"]'), ("--tool", ""),
    ],
)  # fmt: skip
def test_what_means_no_calls_is_an_error(path: Path, typed: Callable[[str], None], words: tuple[str, ...]) -> None:
    """Nothing is granted."""
    typed("y")
    assert main(["grants", "add", *words]) == 4
    assert granted(path) == []


@pytest.mark.parametrize("words", [("--for", "1"), ("--for", "0s"), ("--for", "1y"), ("--uses", "0"), ("--uses", "x")])
def test_bounds_are_checked(path: Path, words: tuple[str, ...]) -> None:
    """As the other options are."""
    with pytest.raises(SystemExit, match="4"):
        main(["grants", "add", "--tool", "x", *words])
    assert not path.exists()
