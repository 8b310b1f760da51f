"""The lists of a session: frozen, checked, and taken over whole."""

import pickle
from typing import Any

import pytest
from tests.tables import for_each

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.lists import Lists, lists_in, lists_of
from permitry.core.policy import AuthorizationPolicy
from permitry.errors import RuleError


def test_lists_are_read_as_a_mapping_of_tuples() -> None:
    """What the host changes in its own list afterwards changes nothing here."""
    given = ["ann", "bob"]
    lists = Lists({"colleagues": given, "limits": (1, 2.5)})
    given.append("eve")
    assert dict(lists) == {"colleagues": ("ann", "bob"), "limits": (1, 2.5)}
    assert len(lists) == 2
    assert repr(lists) == "Lists({'colleagues': ('ann', 'bob'), 'limits': (1, 2.5)})"


def test_lists_pickle() -> None:
    """A context goes to other processes with its lists."""
    assert pickle.loads(pickle.dumps(Lists({"a": ["x"]}))) == Lists({"a": ["x"]})  # noqa: S301 -- our own bytes


@for_each("values", ["ann", 7, None])
def test_a_list_of_another_type_is_refused(values: Any) -> None:  # noqa: ANN401 -- wrong on purpose
    """One text would become its letters."""
    with pytest.raises(TypeError, match="the list `colleagues` is a list of texts or numbers, not"):
        Lists({"colleagues": values})


@for_each("value", [True, None, ["ann"]])
def test_a_value_of_another_type_is_refused(value: Any) -> None:  # noqa: ANN401 -- wrong on purpose
    """Only texts and numbers can be in a list."""
    with pytest.raises(TypeError, match=r"the list `colleagues` has .*, which is neither a text nor a number"):
        Lists({"colleagues": [value]})


def test_lists_that_are_frozen_already_stay_as_they_are() -> None:
    """A policy is kept for the very object, so that a session does not have it made again for every call."""
    lists = Lists({"a": ["x"]})
    assert lists_of(lists) is lists
    assert lists_of({"a": ["x"]}) == lists
    assert lists_of(None) is None
    assert AuthContext(lists=lists).lists is lists


class _Rule:
    """A rule of the host's own, with a field that is called `lists` by chance."""

    id = "own"
    lists = ("a",)

    def priority(self) -> int:
        """Return a place among the permissions."""
        return 200

    def should_allow_without_confirmation(self, _tool: str, _context: AuthContext) -> bool:
        """Return False."""
        return False


def test_a_rule_of_another_class_uses_no_list() -> None:
    """Only a rule that can be filled says which lists it uses."""
    assert lists_in(_Rule()) == frozenset()
    with pytest.raises(RuleError, match=r"no rule uses the list `a`; it is for `\[list.a\]` of a rule file"):
        AuthorizationPolicy([_Rule()]).decide(ToolCall("x"), AuthContext(lists=Lists({"a": ["x"]})))
