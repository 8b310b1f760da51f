"""Problems are placed, clipped to their line, and given a way out."""

import tomllib

import pytest
from tests.tables import for_each

from permitry.config.diagnostics import SourceText, nearest, syntax_problem, unreadable_problem

TEXT = 'schema = 1\n\n[[rule]]\nid = "a"\ntools = [\n  "x",\n]\n'


@pytest.fixture
def source() -> SourceText:
    """Return a small rule file."""
    return SourceText("rules.toml", TEXT)


def _syntax_error(text: str) -> tomllib.TOMLDecodeError:
    with pytest.raises(tomllib.TOMLDecodeError) as caught:
        tomllib.loads(text)
    return caught.value


def test_a_problem_points_at_the_value(source: SourceText) -> None:
    """Without more, the carets stand under the value."""
    assert source.problem(("rule", 0, "id"), "m", "h") == ("rules.toml", 4, 6, 3, "m", "h", 'id = "a"')


def test_a_problem_points_at_the_key_when_told_to(source: SourceText) -> None:
    """The key is underlined when the key is what is wrong."""
    assert source.problem(("rule", 0, "id"), "m", key=True) == ("rules.toml", 4, 1, 2, "m", "", 'id = "a"')


def test_a_problem_of_a_value_over_many_lines_is_underlined_on_its_first(source: SourceText) -> None:
    """The carets end where the line ends."""
    problem = source.problem(("rule", 0, "tools"), "m")
    assert (problem.line, problem.column, problem.span, problem.text) == (5, 9, 1, "tools = [")


def test_a_problem_of_a_part_that_has_no_place_points_at_what_holds_it(source: SourceText) -> None:
    """A path that is not in the text falls back to the nearest one that is."""
    assert source.problem(("rule", 0, "when", "mode"), "m", key=True)[1:4] == (3, 1, 8)


def test_a_problem_in_an_empty_file_has_a_place_and_no_line() -> None:
    """Line 1, column 1, and at least one caret, though there is nothing to show."""
    source = SourceText("rules.toml", "")
    assert source.problem(("schema",), "m") == ("rules.toml", 1, 1, 1, "m", "", "")


def test_a_source_is_the_line_of_the_header(source: SourceText) -> None:
    """A rule is known by the file and the line of its `[[rule]]`."""
    assert source.source(("rule", 0)) == "rules.toml:3"


@for_each(("text", "line"))
def test_a_rule_has_the_line_of_its_header_however_that_is_written(text: str, line: int) -> None:
    """Counted where that is sure, and else looked up."""
    assert SourceText("r.toml", text, 2).source(("rule", 1)) == f"r.toml:{line}"
    assert SourceText("r.toml", text).source(("rule", 1)) == f"r.toml:{line}"


def test_a_file_that_is_nested_too_deeply_to_look_up_a_place_is_named_by_its_first_line() -> None:
    """`tomllib` gives up first, or nearly so."""
    assert SourceText("r.toml", f"a = {'[' * 5_000}{']' * 5_000}\nb = 1\n").source(("b",)) == "r.toml:1"


def test_a_syntax_problem_stands_where_tomllib_says() -> None:
    """Line and column come from the parser, the message without them."""
    text = "schema = 1\nid =\n"
    problem = syntax_problem("rules.toml", text, _syntax_error(text))
    assert problem[:5] == ("rules.toml", 2, 5, 1, "not valid TOML: invalid value")
    assert problem.text == "id ="


def test_a_syntax_problem_at_the_end_stands_past_the_last_character() -> None:
    """The end of the document is a place as well."""
    text = 'schema = 1\nid = """a'
    problem = syntax_problem("rules.toml", text, _syntax_error(text))
    assert (problem.line, problem.column, problem.text) == (2, 10, 'id = """a')


def test_a_syntax_error_without_a_place_is_put_at_the_end() -> None:
    """A parser that says no place still gives a problem, in house style."""
    error = tomllib.TOMLDecodeError.__new__(tomllib.TOMLDecodeError, "Odd.")
    problem = syntax_problem("rules.toml", "a\nbc", error)
    assert (problem.line, problem.column, problem.message) == (2, 3, "not valid TOML: odd")


@for_each(("text", "hint"))
def test_a_syntax_problem_has_a_hint_for_its_kind(text: str, hint: str) -> None:
    """Repeated keys, open texts, backslashes, words without quotes and the rest each have their own way out."""
    assert syntax_problem("rules.toml", text, _syntax_error(text)).hint == hint


@for_each(("text", "message"))
def test_what_stands_twice_is_named_and_underlined(text: str, message: str) -> None:
    """The carets stand under the second key or header, not behind its value."""
    problem = syntax_problem("rules.toml", text, _syntax_error(text))
    length = message.index("`", 1) - 1
    assert problem[1:5] == (2, 3, length, f"not valid TOML: {message}")


def test_what_stands_twice_and_cannot_be_read_is_not_named() -> None:
    """A quote within a key is too much for the carets: they stay where the parser stopped."""
    text = '"a\\"b" = 1\n"a\\"b" = 2\n'
    problem = syntax_problem("rules.toml", text, _syntax_error(text))
    assert problem[1:5] == (2, 11, 1, "not valid TOML: a key occurs twice")


def test_a_syntax_problem_shows_no_line_end_of_windows() -> None:
    """A carriage return at the end of a line belongs to the line end."""
    text = "schema = 1\r\nid =\r\n"
    assert syntax_problem("rules.toml", text, _syntax_error(text)).text == "id ="


def test_nearest_names_the_nearest_word() -> None:
    """A slip of the pen is recognised."""
    assert nearest("efect", ["id", "effect"], otherwise="no") == "did you mean `effect`?"


def test_nearest_says_something_else_when_nothing_is_near() -> None:
    """The caller's own hint comes before a list."""
    assert nearest("zzz", ["id", "effect"], otherwise="look again") == "look again"


def test_nearest_lists_what_there_is_in_order() -> None:
    """Without a hint of the caller's the known words are listed, sorted."""
    assert nearest("zzz", ["id", "effect"]) == "known: effect, id"


def test_nearest_shows_what_all_words_have_in_common_and_does_not_compare_it() -> None:
    """A common prefix makes no word nearer."""
    assert nearest("bsae", ["base", "plan"], prefix="permitry:") == "did you mean `permitry:base`?"
    assert nearest("zzzz", ["base", "plan"], prefix="permitry:") == "known: permitry:base, permitry:plan"


@for_each(
    ("error", "message"),
    [
        (b"a\xff", "byte 0xff is not UTF-8"), (RecursionError(), "lists or tables are nested too deeply"),
        (ValueError("digits"), "a number has too many digits"),
        (OSError(2, "No such file"), "cannot be read: no such file"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_one_problem(error: Exception | bytes, message: str) -> None:
    """Each kind says what to do."""
    if isinstance(error, bytes):
        with pytest.raises(UnicodeDecodeError) as caught:
            error.decode()
        error = caught.value
    problem = unreadable_problem("rules.toml", "", error)
    assert problem.message == message
    assert problem.hint
