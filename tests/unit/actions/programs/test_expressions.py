"""Expressions on a command line: only listed ones pass, and nothing that may become another."""

import pytest
from tests.tables import for_each

from permitry.actions.programs.catalogue import catalogue
from permitry.actions.programs.entries import Entry, RefusedError
from permitry.actions.programs.expressions import (
    check_find,
    check_printf,
    check_set,
    check_test,
    compares_texts,
    paths_in_condition,
)
from permitry.core.action import Word

FIND = catalogue()["find"]
GLOB, OPEN = Word("*", is_glob=True), Word("", is_open=True)


def _words(*texts: str | Word) -> tuple[Word, ...]:
    return tuple(text if isinstance(text, Word) else Word(text) for text in texts)


@for_each("texts")
def test_listed_tests_of_find_pass(texts: list[str]) -> None:
    """With values that begin with a hyphen where those are numbers, or modes."""
    check_find(_words(*texts), FIND)


@for_each(
    "texts",
    [
        [".", "-delete"],
        [".", "-exec", "rm"],
        ["-zzz"],
        [GLOB],
        [OPEN],
        ["-name", "-delete"],
        ["-perm", "-exec"],
    ],
)
def test_other_expressions_of_find_are_refused(texts: list[str | Word]) -> None:
    """Also in the place of a value: it may be none."""
    with pytest.raises(RefusedError):
        check_find(_words(*texts), FIND)


@for_each("text", ["-v", "-R", "a[$(id)]", OPEN, GLOB])
def test_a_test_that_evaluates_a_name_is_refused(text: str | Word) -> None:
    """Or one whose words may become such a one."""
    with pytest.raises(RefusedError):
        check_test(_words("x", text), Entry())
    check_test(_words("-f", "x", "-a", "1", "-lt", "2"), Entry())


@for_each("texts", [["-v", "x", "y"], ["%n"], ["a %d %n"], ["%(%Y)x"], ["%(%Y"], ["%"], [OPEN]])
def test_a_printf_that_may_set_a_variable_is_refused(texts: list[str | Word]) -> None:
    """Or one whose format is not known."""
    with pytest.raises(RefusedError):
        check_printf(_words(*texts), Entry())


@for_each("texts", [[], ["--"], ["%s\n", OPEN], ["%5.2f%%"], ["%(%Y)T"], ["--", "-v"]])
def test_a_printf_that_prints_passes(texts: list[str | Word]) -> None:
    """Its arguments may be anything."""
    check_printf(_words(*texts), Entry())


@for_each("texts", [["x"], ["-"], ["-a"], ["-o", "allexport"], ["-eo", OPEN], ["+e"], [OPEN]])
def test_a_set_that_does_more_is_refused(texts: list[str | Word]) -> None:
    """Than to end at the first error, or to print what is run."""
    with pytest.raises(RefusedError):
        check_set(_words(*texts), Entry())
    check_set(_words("-eux", "-o", "pipefail", "-o"), Entry())


@for_each(("text", "paths"))
def test_only_operators_of_files_name_paths_in_a_condition(text: str, paths: str) -> None:
    """The other words are texts; one that looks like an operator may be one."""
    words = [Word(each) for each in ("[[", *text.split(), "]]")]
    assert " ".join(word.text for word in paths_in_condition(words)) == paths


@for_each(
    ("words", "are_texts"),
    [(["a"], True), (["$x"], True), (["-n", "$x"], True), (["-f", "$x"], False), (["$x", "$y"], False)],
)
def test_one_word_is_a_text(words: list[str], *, are_texts: bool) -> None:
    """As is what `-n` and `-z` look at."""
    operands = [Word(text, is_open="$" in text, is_single="$" in text) for text in words]
    assert compares_texts([Word("test"), *operands]) is are_texts
