"""Conditions: what a permission is sure of a restriction sees, and damage is never a plain "no"."""

import contextlib
import fnmatch
import functools
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from tests.matching import is_graded

from permitry.actions.patches import paths_of
from permitry.conditions._argv import MAX_GAPS
from permitry.conditions.args import argument_condition
from permitry.conditions.command import ArgvPattern
from permitry.conditions.match import Match
from permitry.core.action import Word
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Request
from permitry.errors import RuleError, UnevaluableError

# Commands ---------------------------------------------------------------------------------------------------------

_texts = st.sampled_from(
    ("a", "b", "A", "ab", "-a", "-ab", "-ba", "--a", "x/a", "~/a", "*", "?", "a*", "[a]", "", "-*", ".")
)
_words = st.builds(Word, _texts, st.booleans(), st.booleans(), st.sampled_from((False, False, False, True)))
_tokens = st.sampled_from(
    ("a", "b", "*", "**", "?", "a*", "*a", "-a", "-ab", "--a", "{a,b}", "x/{a,b*}", "'*'", "\\?", "''", "~/a", "[a]")
)


@settings(max_examples=5 * settings().max_examples)
@given(st.lists(_tokens, min_size=1, max_size=5), st.lists(_words, max_size=5))
@example(["a*b"], [Word("a/xb")])
def test_what_holds_may_hold(tokens: list[str], words: list[Word]) -> None:
    """No pattern lets a command pass as a permission that it would not certainly stop as a restriction."""
    assume(tokens[0] != "**" and tokens.count("**") <= MAX_GAPS)
    pattern = ArgvPattern(" ".join(tokens))
    assert is_graded(functools.partial(pattern.match_words, words, (), ()))


def _expansions(word: Word) -> st.SearchStrategy[list[Word]]:
    """Return what a shell may make of a word: any words, names that fit, a path below a home folder, or itself."""
    if word.is_open:
        return st.lists(_texts.map(Word), max_size=3)
    text = f"/h{word.text[1:]}" if word.is_home and word.text.startswith("~") else word.text
    names = [name for name in ("a", "ab", "-a", "-ab", "x/a", "/h/a", ".") if fnmatch.fnmatchcase(name, text)]
    return st.lists(st.sampled_from(names).map(Word), max_size=3) if word.is_glob and names else st.just([Word(text)])


@settings(max_examples=5 * settings().max_examples)
@given(st.lists(_tokens, min_size=1, max_size=4), st.lists(_words, min_size=1, max_size=4), st.data())
def test_an_expansion_hides_nothing(tokens: list[str], words: list[Word], data: st.DataObject) -> None:
    """Whatever the shell makes of the words, a restriction that would fire for the result fires before."""
    assume(tokens[0] != "**")
    pattern = ArgvPattern(" ".join(tokens))
    result = [part for word in words for part in data.draw(_expansions(word))]
    assert pattern.match_words(words) is not Match.NO or pattern.match_words(result) is Match.NO


@settings(max_examples=5 * settings().max_examples)
@given(st.lists(_tokens, min_size=1, max_size=4), st.lists(_words, min_size=1, max_size=4), st.data())
def test_a_block_is_no_guess(tokens: list[str], words: list[Word], data: st.DataObject) -> None:
    """What must fit fits as one word whatever the shell makes of each word that it may change."""
    assume(tokens[0] != "**")
    pattern = ArgvPattern(" ".join(tokens))
    names = [data.draw(_texts) if word.is_open or word.is_glob else word.text for word in words]
    plain = [Word(name) for name in names]
    assume(not any(name.startswith("-") != word.text.startswith("-") for name, word in zip(names, words, strict=True)))
    assert pattern.match_words(plain) is not Match.NO or pattern.match_words(words) < Match.ALIKE


@given(st.text("ab*?{},'\"\\ |;$-", max_size=12))
def test_any_text_is_a_pattern_or_a_mistake(text: str) -> None:
    """No text makes anything but a pattern, or a mistake of the rule."""
    with contextlib.suppress(RuleError):
        assert ArgvPattern(text) == ArgvPattern(text)


# Arguments --------------------------------------------------------------------------------------------------------

_scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from((0.5, 1.0)), st.text("ab", max_size=2)
)
_values = st.recursive(
    _scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=1), inner, max_size=2)
)
_operands = st.one_of(st.booleans(), st.integers(-3, 3), st.just(0.5), st.text("ab", min_size=1, max_size=2))
_texts_of = st.text("ab", min_size=1, max_size=2)
_leaves = st.one_of(
    st.tuples(st.sampled_from(("eq", "ne")), _operands),
    st.tuples(st.sampled_from(("eq", "ne")), st.lists(_operands, max_size=2)),
    st.tuples(
        st.sampled_from(("in", "not_in")), st.lists(st.integers(-3, 3), min_size=1) | st.lists(_texts_of, min_size=1)
    ),
    st.tuples(st.sampled_from(("lt", "le", "gt", "ge")), st.integers(-3, 3) | _texts_of),
    st.tuples(st.sampled_from(("glob", "prefix", "suffix", "contains")), _texts_of),
    st.tuples(st.just("glob"), st.text("ab*?", min_size=1, max_size=3)),
    st.tuples(st.just("regex"), st.sampled_from(("a.*", "[ab]+", ".*"))),
)
_tables = st.recursive(
    st.lists(_leaves, min_size=1, max_size=2).map(dict),
    lambda inner: st.tuples(st.sampled_from(("any", "all")), inner).map(lambda pair: dict([pair])),
    max_leaves=3,
)
_KINDS = {
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
    type(None): "null",
}


def _answer(table: object, arguments: dict[str, Any]) -> bool | None:
    try:
        return argument_condition("x", table).holds(Request(ToolCall("tool", arguments), AuthContext()))
    except UnevaluableError:
        return None


@settings(max_examples=5 * settings().max_examples)
@given(_tables, _values, _values)
def test_another_type_is_never_a_plain_no(table: dict[str, Any], value: object, damaged: object) -> None:
    """A test that holds is true of, or has no answer to, a value of another type."""
    assume(_KINDS[type(value)] != _KINDS[type(damaged)])
    if _answer(table, {"x": value}) is True:
        assert _answer(table, {"x": damaged}) is not False


@given(_tables)
def test_deletion_is_never_a_plain_no(table: dict[str, Any]) -> None:
    """A test has no answer to an argument that is not there, whatever it says of one that is."""
    assert _answer(table, {}) is None


@given(_tables, _scalars)
def test_a_wrapped_value_is_never_a_plain_no(table: dict[str, Any], value: object) -> None:
    """Putting a value into a list, or taking it out of one, lifts no restriction, whichever types are taken."""
    inside, outside = _answer(table, {"x": [value]}), _answer(table, {"x": value})
    assert not (inside is True and outside is False)
    assert not (outside is True and inside is False)


@given(_tables, _values)
def test_what_is_optional_may_be_left_out_and_nothing_else(table: dict[str, Any], value: object) -> None:
    """Absent, null, an empty text and an empty list pass; all else is tested as it was."""
    optional = {**table, "optional": True}
    assert _answer(optional, {}) is _answer(optional, {"x": None}) is _answer(optional, {"x": ""}) is True
    assert _answer(optional, {"x": []}) is True
    if value not in (None, "", []):
        assert _answer(optional, {"x": value}) is _answer(table, {"x": value})


@given(_tables, st.lists(_values, max_size=3))
def test_each_is_all_and_takes_a_bare_value(table: dict[str, Any], values: list[object]) -> None:
    """An element alone is tested as in a list of one; a list is tested as by `all`."""
    assert _answer({"each": table}, {"x": values}) is _answer({"all": table}, {"x": values})
    for value in values:
        if not isinstance(value, list):
            assert _answer({"each": table}, {"x": value}) is _answer({"each": table}, {"x": [value]})
    assert _answer({"each": table}, {}) is None


@pytest.mark.parametrize("name", ["ne", "not_in"])
@given(operand=_operands, value=_values)
def test_a_denial_says_nothing_of_another_type(name: str, operand: object, value: object) -> None:
    """What is not even of the type of the operand is not said to be unequal to it."""
    assume(_KINDS[type(value)] != _KINDS[type(operand)])
    assert _answer({name: operand if name == "ne" else [operand]}, {"x": value}) is None


# Patches ----------------------------------------------------------------------------------------------------------

_LINES = (
    "*** Begin Patch",
    "*** End Patch",
    "*** Add File: a",
    "--- a/x",
    "+++ b/x",
    "@@ -1 +1 @@",
    "+x",
    "",
    "\r",
    " *** ",
    "diff --git ",
)


@given(st.lists(st.sampled_from(_LINES) | st.text(max_size=6)).map("\n".join))
def test_a_patch_never_raises(text: str) -> None:
    """Any text is read; what names no path leaves a doubt."""
    reading = paths_of(text)
    assert reading.touched or reading.doubt
