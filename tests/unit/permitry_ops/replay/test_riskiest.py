"""The riskiest call that a permission would also allow."""

import pytest
from tests.tables import for_each
from tests.whole_calls import policy_of

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.policy import AuthorizationPolicy
from permitry_ops.replay.riskiest import Risk, riskiest

_ALL = 'schema = 1\nextends = ["permitry:tools-claude-code"]\n[[rule]]\nid = "all"\neffect = "allow"\ntools = ["*"]\n'
_CONTEXT = AuthContext(workspace="/w")
_BASH = ToolCall("Bash", {"command": "x"})


@pytest.fixture(scope="module")
def policy() -> AuthorizationPolicy:
    """Return rules that permit all but what deletes files with `find`."""
    return policy_of(_ALL + '[[rule]]\nid = "no-deleting"\neffect = "block"\nwhen.command = ["find ** -exec *"]\n')


@for_each(("pattern", "call", "why"))
def test_the_worst_known_option_of_a_program_is_named(
    policy: AuthorizationPolicy, pattern: str, call: str, why: str
) -> None:
    """With what it does; of another program that anything may follow."""
    assert riskiest({"command": [pattern]}, _BASH, policy, _CONTEXT, None) == Risk(call, why)


def test_what_a_restriction_stops_is_not_named(policy: AuthorizationPolicy) -> None:
    """The policy itself decides on each example."""
    found = riskiest({"command": ["find *"]}, _BASH, policy, _CONTEXT, None)
    assert found is not None
    assert "-exec " not in found.call
    nothing = policy_of("schema = 1\n")
    assert riskiest({"command": ["find *"]}, _BASH, nothing, _CONTEXT, None) is None
    assert riskiest({"command": ["find . -name a"]}, _BASH, policy, _CONTEXT, None) is None


def test_of_paths_and_hosts_there_is_an_example(policy: AuthorizationPolicy) -> None:
    """A file that something runs, and an address that carries data."""
    write = ToolCall("Write", {"file_path": "src/a.py", "content": "x"})
    assert riskiest({"path": ["src/**"]}, write, policy, _CONTEXT, None) == Risk(
        "Write src/.git/hooks/pre-commit", "git runs it"
    )
    exact = riskiest({"path": ["a.py"], "access": ["write"]}, write, policy, _CONTEXT, None)
    assert exact == Risk("Write a.py", "with any content")
    fetch = ToolCall("WebFetch", {"url": "https://a.example/b"})
    found = riskiest({"host": ["a.example"]}, fetch, policy, _CONTEXT, None)
    assert found == Risk("WebFetch https://a.example/?data=anything", "an address can carry data out")


def test_of_arguments_the_others_may_be_anything(policy: AuthorizationPolicy) -> None:
    """Of a tool of which nothing is known."""
    post = ToolCall("post", {"channel": "a", "text": "b"})
    found = riskiest({"args": {"channel": "a"}}, post, policy, _CONTEXT, None)
    assert found == Risk("post text=anything", "its other arguments may be anything")
