"""What "always" may mean at the prompt."""

from collections.abc import Callable
from pathlib import Path
from typing import TextIO

import pytest
from tests.tables import for_each

from permitry.channels.response import ToolConfirmationResponse
from permitry.cli.always import Always, Offer
from permitry.cli.prompt import TerminalChannel
from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.spec import ArgumentRole, ToolSpec
from permitry.errors import ConfigError
from permitry.guard.session import Session
from permitry.handler import ToolHandler

Typing = Callable[[str], tuple[TextIO, Callable[[], str]]]


@pytest.fixture
def always(tmp_path: Path) -> Always:
    """Return the offers of a session in a workspace, under the rules for coding agents."""
    session = Session(workspace=str(tmp_path / "work"))
    handler = ToolHandler(session, load_policy("permitry:coding-agent"))
    return Always(handler, tmp_path / "own" / "rules.toml")


@pytest.fixture
def verdict(always: Always) -> Callable[[str], Verdict]:
    """Return a function that decides on a command in that session."""
    return lambda command: always.handler.decide(_bash(command)).verdict


def _bash(command: str) -> ToolCall:
    return ToolCall("run_shell", {"command": command})


def _labels(always: Always, call: ToolCall) -> list[str]:
    return [each.label for each in always.offers(call)]


@for_each(("command", "like"))
def test_a_narrow_pattern_is_offered(always: Always, command: str, like: str) -> None:
    """The sub-command of each program that was asked about; of one that deletes, fetches or runs another, all words."""
    assert _labels(always, _bash(command)) == ["exactly this call", like, "every call of `run_shell`"]


def test_a_wider_pattern_is_offered_after_the_narrow_one(always: Always) -> None:
    """All of the sub-command of each program."""
    narrow, wide = "calls like `npm test *`, `git add a *`", "calls like `npm test *`, `git add *`"
    assert _labels(always, _bash("npm test && git add a"))[1:-1] == [narrow, wide]


def test_no_pattern_is_offered_where_nothing_was_asked(always: Always) -> None:
    """An empty one would permit nothing."""
    assert _labels(always, _bash("ls")) == ["exactly this call", "every call of `run_shell`"]


@for_each("command", ["bash x.sh; $y", "python3 -c 'f()'", "make $(x)", "env", "sudo $x"])
def test_no_pattern_is_offered_for_what_runs_anything(always: Always, command: str) -> None:
    """Nor for what cannot be read: its pattern would not permit it."""
    assert not any(label.startswith("calls like") for label in _labels(always, _bash(command)))


def test_the_folder_of_a_path_is_offered(always: Always) -> None:
    """For a tool that names what it writes."""
    call = ToolCall("write_file", {"path": "src/a.py", "content": "x"})
    assert _labels(always, call) == ["exactly this call", "calls like `src/**`", "every call of `write_file`"]
    always.for_session(always.offers(call)[1])
    assert always.handler.decide(ToolCall("write_file", {"path": "src/b/c.py", "content": ""})).verdict is Verdict.ALLOW
    assert always.handler.decide(ToolCall("write_file", {"path": "b.py", "content": ""})).verdict is Verdict.CONFIRM


def test_the_name_of_a_tool_is_no_pattern(always: Always) -> None:
    """A server chooses it: what is remembered of the tool `write*` would be for others, too."""
    roles = {"path": ArgumentRole.WRITE_PATH}
    always.handler.registry.register(ToolSpec("write*", roles=roles), lambda _: (True, ""))
    assert _labels(always, ToolCall("write*", {"path": "src/a.py"})) == ["exactly this call", "every call of `write*`"]


def test_what_is_remembered_counts_for_the_session(always: Always, verdict: Callable[[str], Verdict]) -> None:
    """And nothing else: restrictions hold as before."""
    always.for_session(always.offers(_bash("git commit -m x"))[1])
    always.for_session(always.offers(_bash("make test"))[0])
    assert verdict("git commit --amend") is Verdict.ALLOW
    assert verdict("git commit -m x && git push") is Verdict.BLOCK
    assert (verdict("make test"), verdict("make test -j")) == (Verdict.ALLOW, Verdict.CONFIRM)


def test_it_is_saved_into_a_rule_file(always: Always) -> None:
    """What would change is shown first, and what is there stays."""
    offer = always.offers(_bash("git commit -m x"))[1]
    assert '+when.command = ["git commit *"]' in always.diff(offer)
    always.save(offer)
    always.save(always.offers(_bash("make test"))[0])
    text = always.file.read_text(encoding="utf-8")
    assert text.startswith("schema = 1\n\n[[rule]]\n")
    policy = load_policy("permitry:coding-agent", always.file)
    assert policy.decide(_bash("git commit -m y"), AuthContext()).verdict is Verdict.ALLOW


def test_a_file_with_a_mistake_is_not_touched(always: Always) -> None:
    """It would not load, so that no rule of it would count."""
    always.file.parent.mkdir()
    always.file.write_text("schema = 1\nnonsense\n", encoding="utf-8")
    with pytest.raises(ConfigError):
        always.save(always.offers(_bash("make test"))[0])
    assert always.file.read_text(encoding="utf-8") == "schema = 1\nnonsense\n"


def test_all_calls_of_a_tool_are_no_rule(always: Always) -> None:
    """They go on the ignore list, by the answer itself."""
    offer = always.offers(_bash("make"))[-1]
    assert offer == Offer("every call of `run_shell`")
    always.for_session(offer)
    assert always.handler.session.rules is None


@pytest.fixture
def prompt(always: Always, typing: Typing) -> Callable[[str, str], tuple[ToolConfirmationResponse | None, str]]:
    """Return a function that asks about a command and types: the answer, and what was on the terminal."""

    def asked(command: str, typed: str) -> tuple[ToolConfirmationResponse | None, str]:
        terminal, shown = typing(typed)
        handler = always.handler
        request = handler.create_confirmation_request("run_shell", {"command": command})
        channel = TerminalChannel(terminal, handler.explain, str, always=always)
        return channel.ask(request), shown()

    return asked


Prompt = Callable[[str, str], tuple[ToolConfirmationResponse | None, str]]


def test_always_asks_what_is_meant(prompt: Prompt, verdict: Callable[[str], Verdict]) -> None:
    """A number says what; what is like it is not asked about again."""
    response, shown = prompt("git commit -m x", "a\n2\n")
    assert response == ToolConfirmationResponse(approved=True)
    assert "  1  exactly this call\n  2  calls like `git commit *`\nalways what?" in shown
    assert verdict("git commit -m y") is Verdict.ALLOW


def test_every_call_of_a_tool_goes_on_the_ignore_list(prompt: Prompt, always: Always) -> None:
    """It is offered where no rule asks."""
    always.handler.policy = load_policy("permitry:base")
    assert prompt("git commit -m x", "a\n3\n")[0] == ToolConfirmationResponse(approved=True, skip_future=True)


def test_nothing_is_offered_where_a_restriction_asks(prompt: Prompt) -> None:
    """It asks about every such call, whatever is remembered."""
    response, shown = prompt("rm -rf .git", "a\ny\n")
    assert response == ToolConfirmationResponse(approved=True)
    assert "[a]lways" not in shown


def test_it_is_saved_when_the_diff_was_agreed_to(prompt: Prompt, always: Always) -> None:
    """The diff is shown, and nothing is written without a yes."""
    response, shown = prompt("git commit -m x", "a\n2f\nn\nn\n\n")
    assert (response, always.file.exists()) == (ToolConfirmationResponse(approved=False), False)
    assert '+when.command = ["git commit *"]' in shown
    response, _ = prompt("git commit -m x", "a\n2 f\ny\n")
    assert response == ToolConfirmationResponse(approved=True)
    assert load_policy(always.file).decide(_bash("git commit -m y"), AuthContext()).verdict is Verdict.ALLOW


@pytest.mark.parametrize("answer", ["", "0", "4", "x", "2g", "3f"])
def test_an_unclear_answer_goes_back_to_the_question(prompt: Prompt, always: Always, answer: str) -> None:
    """And says so; nothing is remembered, and nothing runs."""
    always.handler.policy = load_policy("permitry:base")
    response, shown = prompt("git commit -m x", f"a\n{answer}\nn\n\n")
    assert response == ToolConfirmationResponse(approved=False)
    assert "remembered" in shown
    assert (always.handler.session.rules, always.file.exists()) == (None, False)


def test_a_file_that_cannot_be_written_is_no_approval(prompt: Prompt, always: Always) -> None:
    """The user is shown why, and asked again."""
    always.file.parent.write_text("a file where the folder should be", encoding="utf-8")
    response, shown = prompt("git commit -m x", "a\n2f\ny\nn\n\n")
    assert response == ToolConfirmationResponse(approved=False)
    assert "not saved: " in shown


def test_a_saved_rule_does_not_clash_with_that_of_the_session(always: Always) -> None:
    """When the rules are loaded again, the file has the rule that the session was given, too."""
    offer = always.offers(_bash("make test"))[0]
    always.save(offer)
    always.for_session(offer)
    always.handler.policy = load_policy("permitry:coding-agent", always.file)
    assert always.handler.decide(_bash("make test")).verdict is Verdict.ALLOW


def test_the_request_of_the_user_is_offered_first_where_there_are_turns(
    always: Always, verdict: Callable[[str], Verdict]
) -> None:
    """Then the call is permitted until the user writes again, and what lasts goes on."""
    session = always.handler.session
    assert "until you write again" not in str(_labels(always, _bash("make test")))
    session.heard("test it")
    first = always.offers(_bash("make test"))[0]
    assert first.label == "exactly this call, until you write again"
    always.for_session(first)
    assert (verdict("make test"), verdict("make all")) == (Verdict.ALLOW, Verdict.CONFIRM)
    always.for_session(always.offers(_bash("make all"))[1])
    assert (verdict("make test"), verdict("make all")) == (Verdict.ALLOW, Verdict.ALLOW)
    session.heard("and now that")
    assert (verdict("make test"), verdict("make all")) == (Verdict.CONFIRM, Verdict.ALLOW)
    always.for_session(always.offers(_bash("make lint"))[1])
    assert (verdict("make test"), verdict("make lint")) == (Verdict.CONFIRM, Verdict.ALLOW)
