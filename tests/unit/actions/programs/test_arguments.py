"""The arguments of a program: options that are known, and a refusal for each that may be another one."""

from collections.abc import Sequence

import attrs
import pytest
from tests.tables import for_each

from permitry.actions.programs.arguments import (
    Parts,
    is_cluster,
    read_options,
    sub_command,
    unbundle,
    with_values,
)
from permitry.actions.programs.entries import Entry, Options, RefusedError
from permitry.actions.reading.strict import read_strictly
from permitry.core.action import Word

OPTIONS = Options(
    plain=frozenset({"-a", "-b", "--all"}),
    valued=frozenset({"-n", "--name"}),
    attached=frozenset({"-c", "--colour"}),
    doubled=frozenset({"--pair"}),
)
ENTRY = Entry(options=OPTIONS)
GLOB, OPEN = Word("*", is_glob=True), Word("", is_open=True)


def _words(*texts: str | Word) -> Sequence[Word]:
    return tuple(text if isinstance(text, Word) else Word(text) for text in texts)


def _read(*texts: str | Word, entry: Entry = ENTRY) -> Parts:
    return read_options(_words(*texts), entry, name="p")


@for_each(
    ("texts", "found", "operands"),
    [
        ([], [], []),
        (["-ab", "x"], [("-a", None), ("-b", None)], ["x"]),
        (["-an5", "x"], [("-a", None), ("-n", "5")], ["x"]),
        (["-n", "5", "x"], [("-n", "5")], ["x"]),
        (["-n"], [("-n", None)], []),
        (["--name=5", "--all"], [("--name", "5"), ("--all", None)], []),
        (["--name", "5"], [("--name", "5")], []),
        (["--colour", "x"], [("--colour", None)], ["x"]),
        (["-c", "x"], [("-c", None)], ["x"]),
        (["--pair", "k", "v"], [("--pair", "v")], []),
        (["-", "--", "-z"], [], ["-", "-z"]),
        (["-n", "-5"], [("-n", "-5")], []),
    ],
)
def test_options_take_what_they_are_listed_with(
    texts: list[str], found: list[tuple[str, str | None]], operands: list[str]
) -> None:
    """A value in the same word or in the next one, or none; behind `--` all are operands."""
    parts = _read(*texts)
    assert [(name, value and value.text) for name, value in parts.found] == found
    assert [word.text for word in parts.operands] == operands


@for_each(
    "texts",
    [
        ["-z"],
        ["-az"],
        ["--zzz"],
        ["--all=5"],
        ["-n", "-z"],
        ["-n", "--"],
        ["-5"],
        [GLOB],
        [OPEN],
        ["-n", OPEN],
    ],
)
def test_what_is_not_listed_is_refused(texts: list[str | Word]) -> None:
    """And so is a word that may become an option, or a value that may be one."""
    with pytest.raises(RefusedError):
        _read(*texts)


def test_a_refused_option_says_why() -> None:
    """In the words of the catalogue."""
    with pytest.raises(RefusedError, match=r"^`p -z` deletes$"):
        _read("-z", entry=attrs.evolve(ENTRY, refused={"-z": "deletes"}))


def test_numbers_are_options_where_they_are_known() -> None:
    """As of `head -5`."""
    assert _read("-5", entry=Entry(options=Options(has_numbers=True))).names == {"-5"}


def test_options_end_at_the_first_operand_of_some_programs() -> None:
    """What follows belongs to another program."""
    parts = _read("-a", "x", "-z", entry=attrs.evolve(ENTRY, options_first=True))
    assert ([word.text for word in parts.operands], parts.before) == (["x", "-z"], 2)


def test_a_pattern_in_place_of_a_value_is_noted() -> None:
    """What follows may be something else than it seems."""
    assert _read("-n", Word("a*", is_glob=True)).is_spread
    assert not _read("-n", "a").is_spread


def test_a_cluster_is_of_letters_without_values() -> None:
    """Nothing in it can be hidden behind a value."""
    assert is_cluster(Word("-ab"), OPTIONS)
    for text in ("-", "ab", "-an", "-az", "--all"):
        assert not is_cluster(Word(text), OPTIONS)
    assert not is_cluster(Word("-ab", is_glob=True), OPTIONS)


def test_a_sub_command_is_found_behind_options() -> None:
    """With its own entry, and the words behind it."""
    entry = Entry(options=OPTIONS, commands={"run": Entry(bare=True)})
    found = sub_command(_words("-n", "5", "run", "-z"), entry, "p")
    assert found is not None
    assert (found[0], found[1], tuple(found[2])) == ("p run", Entry(bare=True), _words("-z"))
    assert sub_command(_words("-a"), entry, "p") is None


@for_each("texts", [["walk"], ["--", "run"], [GLOB], ["-n", Word("a*", is_glob=True), "run"]])
def test_an_unknown_sub_command_is_refused(texts: list[str | Word]) -> None:
    """And one that may be another, or is not one to the program."""
    with pytest.raises(RefusedError):
        sub_command(_words(*texts), Entry(options=OPTIONS, commands={"run": Entry()}), "p")


def test_the_first_word_of_tar_lacks_its_hyphen() -> None:
    """Only with one `f` at its end, whose value is the next word."""
    assert [word.text for word in unbundle(_words("xzf", "a.tar"))] == ["-xzf", "a.tar"]
    assert unbundle(_words("-xf", "a")) == _words("-xf", "a")
    assert unbundle(()) == ()
    for text in ("xfz", "xf f", "x", "ff"):
        with pytest.raises(RefusedError):
            unbundle(_words(text))


@for_each(
    ("text", "values"),
    [
        ('git commit -m "$x" "$x"', [3]), ('git commit -m a -m "b$x" -F "$y"', [5, 7]), ("git commit -m $x", []),
        ('git commit --message="$x"', []), ('git commit --unknown "$x"', []), ('git unknown -m "$x"', []),
        ('head -n "$x" a', [2]), ('head "$y" -n "$x"', []), ('unknown -n "$x"', []), ('head -- -n "$x"', []),
    ],
)  # fmt: skip
def test_the_values_of_options_are_marked(text: str, values: list[int]) -> None:
    """So that a pattern does not take them for options; not behind what may be another option."""
    words = with_values(read_strictly(text)[0].words)
    assert [at for at, word in enumerate(words) if word.is_value] == values
