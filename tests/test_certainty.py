"""Law 3 over whole calls: a block is certain, a guess asks and gives its own grounds, and what is neither runs."""

from pathlib import Path

import pytest

from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy
from tests.tables import for_each
from tests.whole_calls import EVERYTHING, PUSH, all_but, decide

ALLOW, CONFIRM, BLOCK = Verdict.ALLOW, Verdict.CONFIRM, Verdict.BLOCK
OWN = (
    '[[rule]]\nid = "own"\neffect = "block"\nreason = "tampering"\nmessage = "Leave the rules alone."\n'
    'when.path = ["/**/.permitry/**", "~/.config/permitry/**"]\n'
)


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> AuthorizationPolicy:
    """Return a policy that allows everything but what two restrictions block."""
    return all_but(tmp_path_factory.mktemp("rules"), f'{PUSH}reason = "publishing"\n{OWN}')


@for_each("text")
def test_a_command_that_is_written_out_where_it_runs_is_certain(policy: AuthorizationPolicy, text: str) -> None:
    """However it is wrapped, quoted or nested, and whatever is around it."""
    decision = decide(policy, text)
    assert (decision.verdict, decision.rule_id, decision.reason) == (BLOCK, "no-push", "publishing")


@for_each("text")
def test_a_command_that_is_a_guess_asks(policy: AuthorizationPolicy, text: str) -> None:
    """An expansion, a glob, a script of another language, a text that may be fed to a shell."""
    decision = decide(policy, text)
    assert (decision.verdict, decision.rule_id) == (CONFIRM, "no-push")
    assert decision.reason.startswith("possibly publishing (")


@for_each("text")
def test_a_command_that_is_data_runs(policy: AuthorizationPolicy, text: str) -> None:
    """A pattern, a message, a here-document that no shell reads."""
    assert decide(policy, text).verdict is ALLOW


@for_each("text")
def test_a_path_that_is_written_out_is_certain(policy: AuthorizationPolicy, text: str) -> None:
    """As an operand or the target of a redirection, in any spelling."""
    decision = decide(policy, text)
    assert (decision.verdict, decision.rule_id, decision.reason) == (BLOCK, "own", "tampering")


@for_each("text")
def test_a_path_that_is_a_guess_asks_and_blames_nobody(policy: AuthorizationPolicy, text: str) -> None:
    """A glob, an expansion, a part of a word, a script: it is possible, and the message is that of a doubt."""
    decision = decide(policy, text)
    assert (decision.verdict, decision.rule_id) == (CONFIRM, "own")
    assert decision.reason.startswith("possibly tampering")
    assert decision.message is not None
    assert "Leave the rules alone." not in decision.message


@for_each("text")
def test_a_guess_without_a_reason_is_none(policy: AuthorizationPolicy, text: str) -> None:
    """Brackets and stars in quotes, in patterns and in scripts name no folder."""
    assert decide(policy, text).verdict is ALLOW, decide(policy, text).reason


# All but these -------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["confirm", "block"])
def all_but_few(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[AuthorizationPolicy, Verdict]:
    """Return a policy that restricts every command but a few, and its verdict."""
    rule = (
        f'[[rule]]\nid = "rest"\neffect = "{request.param}"\nwhen.command = "*"\n'
        'unless.command = ["ls *", "git -C *", "git status *", "make test"]\n'
    )
    return all_but(tmp_path, rule), Verdict(request.param)


@for_each("text")
def test_an_exception_of_commands_lifts(all_but_few: tuple[AuthorizationPolicy, Verdict], text: str) -> None:
    """Everything but a few commands can be restricted; pipelines and wrappers are seen through."""
    assert decide(all_but_few[0], text).verdict is ALLOW


@for_each("text")
def test_one_command_that_is_no_exception_is_enough(
    all_but_few: tuple[AuthorizationPolicy, Verdict], text: str
) -> None:
    """Whatever else the call runs."""
    decision = decide(all_but_few[0], text)
    assert (decision.verdict, decision.rule_id) == (all_but_few[1], "rest")


@for_each("text", ["$x", 'ls "$(date)"', "make test &&", "ls ${!x}", "bash script", "eval ls"])
def test_what_cannot_be_read_is_no_exception(all_but_few: tuple[AuthorizationPolicy, Verdict], text: str) -> None:
    """It asks at least, or leads to what the rule says where something else certainly runs."""
    assert decide(all_but_few[0], text).verdict in (CONFIRM, all_but_few[1])


# Addresses -------------------------------------------------------------------------------------------------------

FETCH = '[tool.fetch]\ntraits = ["read_only", "open_world"]\nroles.url = "url"\n'
HERE = '[[rule]]\nid = "here"\neffect = "{}"\nwhen.host = ["https://example.com", "http://example.com"]\n'


@pytest.fixture(scope="module", params=["allow", "block"])
def about_host(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AuthorizationPolicy:
    """Return a policy that permits one host and nothing else, or that blocks it and permits all else."""
    everything = EVERYTHING.removeprefix("schema = 1\n") if request.param == "block" else ""
    rules = tmp_path_factory.mktemp("rules") / "rules.toml"
    rules.write_text(f"schema = 1\n{FETCH}{HERE.format(request.param)}{everything}", encoding="utf-8")
    return load_policy(rules)


@for_each("url", ["https://example.com/a", "http://EXAMPLE.com", "https://example.com:443/?q=@b"])
def test_a_plain_address_is_decided(about_host: AuthorizationPolicy, url: str) -> None:
    """Permitted or blocked, without a question."""
    assert about_host.decide(ToolCall("fetch", {"url": url}), AuthContext()).verdict is not CONFIRM


@for_each("url")
def test_an_address_that_readers_take_differently_is_asked_about(about_host: AuthorizationPolicy, url: str) -> None:
    """The permission does not cover it, and the restriction does not miss it."""
    assert about_host.decide(ToolCall("fetch", {"url": url}), AuthContext()).verdict in (CONFIRM, BLOCK)
