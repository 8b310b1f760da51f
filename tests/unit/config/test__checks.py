"""What each word of a rule file must be; the words of each refusal are in `test_mistakes.py`."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic_core import PydanticCustomError
from tests.tables import for_each

from permitry.config import _checks
from permitry.rules import BUILT_IN_RULES

Check = Callable[[Any], object]


@for_each(
    ("check", "value"),
    [
        (_checks.check_version, 1),
        (_checks.check_id, "no-secrets-2"),
        (_checks.check_effect, "confirm"),
        (_checks.check_name, "mcp:server/*"),
        (_checks.check_name, "x" * 256),
        (_checks.check_example, "read_file"),
        (_checks.check_selector, "@shell"),
        (_checks.check_pattern, "read_*"),
        (_checks.not_empty, ["a"]),
        (_checks.check_selectors, None),
        (_checks.check_selectors, ["mcp:a/b", "mcp__a__b"]),
        (_checks.check_selectors, ["mcp__a__*", "mcp:a/*", "@shell"]),
        (_checks.not_blank, " a sentence "),
        (_checks.not_blank_word, "word"),
        (_checks.check_duration, "9999999d"),
        (_checks.check_traits, ["read_only", "open_world"]),
        (_checks.check_roles, {"items[].path|file?": "read_path"}),
    ],
)
def test_a_right_value_is_kept(check: Check, value: object) -> None:
    """As it is written."""
    assert check(value) == value


@for_each(
    ("check", "values"),
    [
        (_checks.check_version, [True, "1", 1.0, 0, 2, None]),
        (_checks.check_id, ["", "No", "a_b", "-a", "a-", "a--b", "é", BUILT_IN_RULES[0].id]),
        (_checks.check_effect, ["deny", "ALLOW", "", 1, None]),
        (_checks.check_name, ["", " ", " a", "a\n", "a\u200b", "a[b]", "a b", "re:a", "x" * 257]),
        (
            _checks.check_name,
            ["mcp__server__tool", "mcp:", "mcp:server", "mcp:/tool", "mcp:server/"],
        ),
        (_checks.check_example, ["", "read_*", "a?", "@shell", "a b"]),
        (_checks.check_selector, ["@shel", "@", ""]),
        (_checks.check_pattern, ["@shell", "a|b"]),
        (_checks.not_empty, [[], ["a", "a"]]),
        (_checks.check_selectors, [[], ["mcp__a__b"], ["mcp:a/b", "mcp__a__c"], ["mcp:a/*", "mcp__a__b"]]),
        (_checks.not_blank, ["", " \n"]),
        (_checks.not_blank_word, ["", " ", " a", "a\x00"]),
        (_checks.check_duration, ["", "0s", "1", "s", "1.5h", "-1s", "01s", "10000000s", "1w"]),
        (_checks.check_traits, [["readonly"], ["read_only", "read_only"]]),
        (
            _checks.check_roles,
            [{"a": "path"}, {"": "url"}, {"a..b": "url"}, {"a|": "url"}, {"a b": "url"}],
        ),
        (_checks.as_example, [{"text": "ls"}]),
    ],
)
def test_a_wrong_value_is_refused(check: Check, values: list[object]) -> None:
    """With a message and a hint; nothing is mended in silence."""
    for value in values:
        with pytest.raises(PydanticCustomError) as raised:
            check(value)
        assert set(raised.value.context or {}) == {"message", "hint"}


def test_a_name_of_one_tool_has_no_problem() -> None:
    """Any other has a message and a hint."""
    assert _checks.tool_name_problem("read_file") is None
    assert len(_checks.tool_name_problem("read_*") or ()) == 2


def test_one_word_may_be_written_without_its_list() -> None:
    """What is not a word is left to the type's own check."""
    assert (_checks.listed("a"), _checks.listed(["a"]), _checks.listed(5)) == (["a"], ["a"], 5)
    assert (_checks.as_example("ls"), _checks.as_example({"path": "a"})) == (
        {"text": "ls"},
        {"path": "a"},
    )


def test_nested_roles_have_dots_in_their_names() -> None:
    """However deep; what is not a table stays as it is."""
    assert _checks.flat_roles({"a": {"b": {"c": "url"}}, "d": 5}) == {"a.b.c": "url", "d": 5}
    assert _checks.flat_roles("url") == "url"
