"""The fewest narrow permissions that would have removed most questions."""

from collections.abc import Iterable

import pytest
from tests.tables import for_each
from tests.whole_calls import policy_of

from permitry.config.load import load_rules
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry_ops.replay.answers import Answered, Asked
from permitry_ops.replay.suggest import Suggested, suggest

_CONTEXT = AuthContext(workspace="/w")
_RULES = """schema = 1
extends = ["permitry:tools-claude-code"]

[[rule]]
id = "no-force"
effect = "confirm"
when.command = ["git push --force *"]

[[rule]]
id = "no-tags"
effect = "block"
when.command = ["git tag *"]
"""


@pytest.fixture(scope="module")
def policy() -> AuthorizationPolicy:
    """Return rules that permit nothing."""
    return policy_of(_RULES)


def _asked(call: ToolCall | str, place: str = "r:1") -> Asked:
    made = ToolCall("Bash", {"command": call}) if isinstance(call, str) else call
    return Asked(made, _CONTEXT, None, place)


def _answered(approved: Iterable[ToolCall | str], refused: Iterable[ToolCall | str] = ()) -> Answered:
    made = Answered([_asked(each) for each in approved])
    for each in refused:
        made.refuse(_asked(each))
    return made


def _patterns(found: Suggested) -> list[list[str]]:
    rules = [load_rules("schema = 1\n" + each.text).rules[0] for each in found.suggestions]
    return [
        [getattr(each, "text", "") for each in (*rule.scope.when.commands, *rule.scope.when.paths)] for rule in rules
    ]


def test_what_removes_most_questions_comes_first(policy: AuthorizationPolicy) -> None:
    """A pattern where several calls have it, else the call itself."""
    calls = ["git push origin main", "npm run build", "npm run build -- -v", "npm run build", "rm -rf build"]
    found = suggest(_answered(calls), policy)
    assert _patterns(found) == [["npm run build *"], ["git push origin main"], ["rm -rf build"]]
    assert [len(each.calls) for each in found.suggestions] == [3, 1, 1]
    assert (found.questions, found.removed) == (5, 5)
    assert _patterns(suggest(_answered(calls), policy, most=1)) == [["npm run build *"]]


def test_what_is_suggested_permits_what_it_claims(policy: AuthorizationPolicy) -> None:
    """With the real policy, and for the same records always the same."""
    calls = ["pytest -q tests", "cargo build && pytest -x", "git commit -m 'a b'", "git $x", "echo $(date)"]
    found = suggest(_answered(calls), policy)
    rules = load_rules("schema = 1\n" + "\n".join(each.text for each in found.suggestions))
    made = policy.with_rules(rules)
    claimed = [asked.call for each in found.suggestions for asked in each.calls]
    assert {str(call.arguments["command"]) for call in claimed} == set(calls[:3])
    assert all(made.decide(call, _CONTEXT).verdict is Verdict.ALLOW for call in claimed)
    assert (found.questions, found.removed) == (5, 3)
    again = suggest(_answered(reversed(calls)), policy)
    assert sorted(each.text for each in again.suggestions) == sorted(each.text for each in found.suggestions)


def test_a_call_of_two_commands_needs_both(policy: AuthorizationPolicy) -> None:
    """Each part is a rule; one that permits no call by itself is not suggested."""
    both = suggest(_answered(["cargo build && npm test"]), policy)
    assert sorted(_patterns(both)) == [["cargo build"], ["npm test"]]
    assert [len(each.calls) for each in both.suggestions] == [1, 1]
    assert suggest(_answered(["cargo build && npm test"]), policy, most=1).suggestions == ()


@for_each("refused", ["git push origin dev", "git push origin dev; npm test"])
def test_what_was_refused_is_never_permitted(policy: AuthorizationPolicy, refused: str) -> None:
    """A narrower rule is; and rules that would permit it only together are not suggested together."""
    approved = ["git push origin main", "git push origin next", "npm test"]
    found = suggest(_answered(approved, [refused]), policy)
    made = policy.with_rules(load_rules("schema = 1\n" + "\n".join(each.text for each in found.suggestions)))
    assert made.decide(_asked(refused).call, _CONTEXT).verdict is not Verdict.ALLOW
    assert found.removed >= 2


def test_a_call_that_was_also_refused_is_not_suggested(policy: AuthorizationPolicy) -> None:
    """Whoever said no counts."""
    assert suggest(_answered(["npm test"], ["npm test"]), policy).suggestions == ()


@for_each(
    "command",
    ["bash x.sh", "python3 x.py", "python3 -m pytest", "node x.js", "sudo make", "xargs rm", "ssh host ls", "eval x"],
)
def test_nothing_that_runs_any_code_is_suggested(policy: AuthorizationPolicy, command: str) -> None:
    """Interpreters, shells, and what runs what it is given."""
    assert suggest(_answered([command, f"{command} a", f"{command} b"]), policy).suggestions == ()


def test_a_pattern_that_covers_code_is_not_suggested(policy: AuthorizationPolicy) -> None:
    """The commands themselves are: `make *` runs what the Makefile says."""
    found = suggest(_answered(["make lint", "make test"]), policy)
    assert _patterns(found) == [["make lint"], ["make test"]]


def test_force_suggests_it_all_the_same(policy: AuthorizationPolicy) -> None:
    """A shell, and every call of a tool."""
    assert _patterns(suggest(_answered(["python3 x.py"]), policy, force=True)) == [["python3 x.py"]]
    calls = [ToolCall("post", {"text": "a"}), ToolCall("post", {"text": "b"})]
    (only,) = suggest(_answered(calls), policy, force=True).suggestions
    assert "when" not in only.text
    assert all("when.args" in each.text for each in suggest(_answered(calls), policy).suggestions)


def test_what_the_rules_decide_is_left_to_them() -> None:
    """What they permit by now, and what a restriction asks about or blocks."""
    rules = policy_of(_RULES + '[[rule]]\nid = "tests"\neffect = "allow"\nwhen.command = ["npm test"]\n')
    found = suggest(_answered(["npm test", "git push --force", "git tag v1"]), rules)
    assert (found.suggestions, found.permitted, found.restricted, found.removed) == ((), 1, 2, 0)


def test_arguments_that_are_always_the_same_are_kept(policy: AuthorizationPolicy) -> None:
    """Of a tool of which nothing is known."""
    calls = [ToolCall("post", {"channel": "builds", "text": text}) for text in ("a", "b")]
    (found,) = suggest(_answered(calls), policy).suggestions
    assert 'when.args = { channel = "builds" }' in found.text.replace("when.args.channel", "when.args")
    assert found.risk is not None
    assert found.risk.why == "its other arguments may be anything"


def test_paths_share_a_folder(policy: AuthorizationPolicy) -> None:
    """The one that all are in, and no other access."""
    calls = [ToolCall("Write", {"file_path": f"/w/src/{name}", "content": ""}) for name in ("a.py", "b/c.py")]
    (found,) = suggest(_answered(calls), policy).suggestions
    assert _patterns(suggest(_answered(calls), policy)) == [["src/**"]]
    assert 'when.access = ["write"]' in found.text
    assert found.risk is not None
    assert "src/" in found.risk.call


def test_the_riskiest_call_is_one_that_would_run(policy: AuthorizationPolicy) -> None:
    """Of a known program with the reason; none where no other command is permitted."""
    (found_log,) = suggest(_answered(["git log --output=a", "git log --output=b"]), policy).suggestions
    assert found_log.risk is not None
    assert (found_log.risk.call, found_log.risk.why) == ("git log --ext-diff=x", "starts a program")
    (exact,) = suggest(_answered(["rm -rf build"]), policy).suggestions
    assert (exact.risk, exact.is_exact) == (None, True)


def test_ids_are_new(policy: AuthorizationPolicy) -> None:
    """In the file, and among themselves."""
    (found,) = suggest(_answered(["npm test"]), policy, taken=["suggested-npm-test"]).suggestions
    assert 'id = "suggested-npm-test-2"' in found.text


@for_each("tool", ["*", "mail*", "m?il", "@writes", "mcp:s/*"])
@for_each("force", [False, True])
def test_the_name_of_a_tool_is_no_pattern(policy: AuthorizationPolicy, tool: str, *, force: bool) -> None:
    """A model, or a server, chooses it: what is suggested would permit others too."""
    found = suggest(_answered([ToolCall(tool, {"to": "ann"}), ToolCall(tool, {"path": "src/x"})]), policy, force=force)
    assert found.suggestions == ()
