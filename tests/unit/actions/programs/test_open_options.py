"""Which open words may be options, by what is known of a program's options."""

from tests.tables import for_each

from permitry.actions.programs.entries import Options
from permitry.actions.programs.open_options import may_be_options, may_start
from permitry.actions.reading.strict import read_strictly

OPTIONS = Options(
    plain=frozenset({"-a", "--all"}), valued=frozenset({"-n", "--num", "-word"}), attached=frozenset({"-j", "--jobs"})
)


def _found(text: str, options: Options | None = OPTIONS) -> list[str]:
    return [word.text for word in may_be_options(read_strictly(text)[0].words, options)]


@for_each("text")
def test_an_open_word_is_certainly_none(text: str) -> None:
    """It begins with literal text, comes after `--`, or is the value of an option."""
    assert _found(text) == []


@for_each("text")
def test_an_open_word_may_be_one(text: str) -> None:
    """An option that is not known may take what comes after it for its value, `--` as well."""
    assert len(_found(text)) == 1


def test_nothing_is_known_of_another_program() -> None:
    """Not even what `--` means."""
    assert _found('x -- "$b"', None) == ["$b"]
    assert _found('x "a$b"', None) == []


def test_an_option_with_a_command_has_no_harmless_value() -> None:
    """As of `sort --compress-program`, and of `strace -o`."""
    assert _found('sort --compress-program "$b"') == ["$b"]
    assert _found('sort "--compress-program=$b"') == ["--compress-program=$b"]
    assert _found('strace -n "$b"') == ["$b"]


def test_a_literal_word_is_not_open() -> None:
    """It is what it is."""
    assert not any(map(may_start, read_strictly("ls -a")[0].words))
