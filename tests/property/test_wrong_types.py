"""Law 4: a value of the wrong type in place of a text never turns a block into an allow."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.spec import ArgumentRole, ToolSpec

_HARMLESS = frozenset({ArgumentRole.TEXT, ArgumentRole.GLOB})
"""What they say restricts nothing by itself."""
_PATCH = "*** Begin Patch\n*** Delete File: /secret/a\n*** End Patch\n"
_COMMAND = 'when.command = ["git push *"]'
_PATH = 'when.path = ["/secret/**"]'
_BLOCKED: Mapping[ArgumentRole, tuple[str, Any]] = {
    ArgumentRole.COMMAND: (_COMMAND, "ls; git push -f"),
    ArgumentRole.ARGV: (_COMMAND, ("git", "push", "-f")),
    ArgumentRole.COMMAND_OR_ARGV: (_COMMAND, "ls && git push -f"),
    ArgumentRole.INPUT: (_COMMAND, "git push\n"),
    ArgumentRole.READ_PATH: (_PATH, "/secret/a"),
    ArgumentRole.READ_TREE: (_PATH, "/secret/a"),
    ArgumentRole.LIST_TREE: (_PATH, "/secret/a"),
    ArgumentRole.WRITE_PATH: (_PATH, "/secret/a"),
    ArgumentRole.DELETE_PATH: (_PATH, "/secret/a"),
    ArgumentRole.URL: ('when.host = "evil.example"', "https://evil.example/a"),
    ArgumentRole.PATCH: (_PATH, _PATCH),
    ArgumentRole.FOLDER: (_PATH, "/secret"),
    ArgumentRole.AGENT: ('tools = ["*"]\nwhen.text = { contains = "deployer" }', "deployer"),
}
_KEYS: Mapping[str, Callable[[object], dict[str, object]]] = {
    "x": lambda value: {"x": value},
    "x?": lambda value: {"x": value},
    "a|x": lambda value: {"x": value},
    "o.x": lambda value: {"o": {"x": value}},
    "x[]": lambda value: {"x": [value]},
}


def _policy(when: str) -> AuthorizationPolicy:
    allow = '[[rule]]\nid = "all"\neffect = "allow"\ntools = ["*"]\n'
    return load_policy(f'schema = 1\n{allow}[[rule]]\nid = "no"\neffect = "block"\n{when}\n')


def _words(value: str | Sequence[str]) -> str:
    return value if isinstance(value, str) else " ".join(value)


def _containing(value: str | Sequence[str]) -> str:
    return f"when.text = {{ contains = {json.dumps(value if isinstance(value, str) else value[-1])} }}"


_POLICIES = {
    role: (_policy(when), _policy(f'tools = ["*"]\n{_containing(value)}')) for role, (when, value) in _BLOCKED.items()
}


def _verdicts(role: ArgumentRole, key: str, value: object) -> set[Verdict]:
    """Return what a rule about actions and one about texts make of an argument."""
    is_folder = role is ArgumentRole.FOLDER
    spec = ToolSpec("t", roles={key: role, **({"f": ArgumentRole.READ_PATH} if is_folder else {})})
    call = ToolCall("t", {**_KEYS[key](value), **({"f": "a"} if is_folder else {})})
    return {policy.decide(call, AuthContext(workspace="/w"), spec).verdict for policy in _POLICIES[role]}


def _cuts(text: str) -> st.SearchStrategy[list[str]]:
    """Return ways to cut a text into words: at some of its blanks, which are lost, as joining words lets expect."""
    words = text.split(" ")
    places = st.lists(st.booleans(), min_size=len(words) - 1, max_size=len(words) - 1)
    return places.map(lambda cuts: _cut(words, cuts))


def _cut(words: Sequence[str], cuts: Sequence[bool]) -> list[str]:
    found = [words[0]]
    for word, is_cut in zip(words[1:], cuts, strict=True):
        if is_cut:
            found.append(word)
        else:
            found[-1] += f" {word}"
    return found


def _wrong(value: str) -> st.SearchStrategy[object]:
    """Return values of other types, made of a text that is blocked."""
    lists: st.SearchStrategy[list[Any]] = _cuts(value)
    return st.one_of(
        lists, lists.map(lambda words: [words]), lists.map(lambda words: [[words]]),
        lists.map(lambda words: [*words, 7]), lists.map(lambda words: [words[0], words[1:]]),
        lists.map(lambda words: [*words, ""]), lists.map(lambda words: ["", *words]),
        lists.map(lambda words: {str(at): word for at, word in enumerate(words)}),
        st.sampled_from([{value: True}, {"x": {"y": [value]}}, f"b'{value}'", f'b"{value}"', 7, 0.5, True, False, {}]),
    )  # fmt: skip


@pytest.mark.parametrize("role", [role for role in ArgumentRole if role not in _HARMLESS])
@given(data=st.data())
def test_a_wrong_type_allows_nothing_that_was_blocked(role: ArgumentRole, data: st.DataObject) -> None:
    """For every role, and for every way to name the argument."""
    key = data.draw(st.sampled_from(sorted(_KEYS)))
    _, value = _BLOCKED[role]
    assert _verdicts(role, key, value) == {Verdict.BLOCK}
    wrong = data.draw(_wrong(_words(value)))
    # A list is of the right type for what starts one.
    is_argv = isinstance(wrong, list) and all(isinstance(word, str) for word in wrong)
    assume(not (role in (ArgumentRole.ARGV, ArgumentRole.COMMAND_OR_ARGV) and is_argv))
    assert Verdict.ALLOW not in _verdicts(role, key, wrong)
