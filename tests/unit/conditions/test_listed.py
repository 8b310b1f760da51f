"""Words that refer to named lists, and lists without values."""

import copy
import pickle

from tests.matching import matches
from tests.tables import for_each

from permitry.conditions.listed import EmptyList, ListedValues, list_name, unknown_list
from permitry.conditions.match import Match
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Request


@for_each(("word", "name"), [("@a", "a"), ("@our-hosts_2", "our-hosts_2")])
def test_a_name_after_an_at_sign_is_a_reference(word: str, name: str) -> None:
    """It is the whole word."""
    assert list_name(word) == name


@for_each("word", ["@", "a", "@types/node", "@a.b", "@ a", "a@b", "@-", "@-a", "@{u}", "@a\n", 7, None, ["@a"]])
def test_any_other_word_is_literal(word: object) -> None:
    """So are the names of packages, files after an at sign, and addresses."""
    assert list_name(word) is None


def test_an_unknown_list_is_reported_with_the_name_that_is_most_alike() -> None:
    """Otherwise with a way out."""
    assert str(unknown_list("colleages", ["b", "colleagues"], None)).endswith("; did you mean `colleagues`?")
    assert str(unknown_list("a", ["zzz"], None)) == "unknown list `@a`; define `[list.a]`"
    assert str(unknown_list("a", [], "./@a")).endswith("; define `[list.a]`, or write `./@a` for the word itself")


def test_the_values_of_a_list_keep_its_name() -> None:
    """Explanations name the list, in other processes as well."""
    values = ListedValues.of("a", ["x"])
    copies = copy.copy(values), pickle.loads(pickle.dumps(values))  # noqa: S301 -- our own bytes
    assert [(each, each.name) for each in copies] == [(("x",), "a")] * 2


def test_an_empty_list_fits_nothing() -> None:
    """Neither in doubt nor for certain; the near miss shows the words as they are written."""
    condition, request = EmptyList(("@a", "git push @b")), Request(ToolCall("x"), AuthContext())
    assert not matches(condition, request, Match.ALIKE)
    assert not matches(condition, request)
    assert condition.fact(request) == "@a, git push @b = []"
