"""Nested commands: what each program runs, by its own options and operands; where that is open, every reading."""

from collections.abc import Iterable

from tests.tables import for_each

from permitry.actions.programs.catalogue import catalogue, record_of
from permitry.actions.programs.nested import MOST_INNER, RUNNERS, dash_c, only_checks, ssh, wrapped, xargs
from permitry.actions.programs.running import Inner
from permitry.core.action import Word


def _words(*texts: str) -> tuple[Word, ...]:
    return tuple(map(Word, texts))


def _argvs(inners: Iterable[Inner]) -> list[tuple[str, ...]]:
    return [tuple(word.text for word in inner.words) for inner in inners]


@for_each(("text", "command"))
def test_a_wrapper_runs_what_follows_its_options(text: str, command: str) -> None:
    """And the operands of its own."""
    assert tuple(command.split()) in _argvs(wrapped(_words(*text.split())))


def test_behind_an_unknown_option_both_readings_count() -> None:
    """It may take the next word as its value, or not."""
    assert _argvs(wrapped(_words("sudo", "--zzz", "a", "rm"))) == [("a", "rm"), ("rm",)]


def test_what_is_no_wrapper_runs_nothing() -> None:
    """Nor does a wrapper without operands."""
    assert list(wrapped(_words("cat", "rm"))) == []
    assert list(wrapped(_words("sudo"))) == []
    assert list(wrapped(_words("docker", "ps", "rm"))) == []


def test_readings_have_a_bound() -> None:
    """Past it there is one more, so that the caller sees that there are too many."""
    unknown = [f"--z{number}" for number in range(500)]
    assert len(list(wrapped(_words("sudo", *unknown, *["a"] * 500)))) == MOST_INNER + 1


def test_xargs_adds_words_that_are_not_known() -> None:
    """At the end, and wherever its replace string is."""
    _, added = xargs(_words("xargs", "-I", "%", "rm", "a%"))
    assert [(word.text, word.is_open) for word in added.words] == [("rm", False), ("a%", True), ("{}", True)]


@for_each(
    ("text", "checks"),
    [
        ("bash -n f", True), ("bash -en f", True), ("bash f", False), ("bash -n -i f", False), ("bash -n +n f", False),
        ("fish -n f", False), ("cat -n f", False), ("bash --norc -n f", False),
    ],
)  # fmt: skip
def test_a_shell_only_checks_with_no_other_option(text: str, *, checks: bool) -> None:
    """Any other one may undo it."""
    assert only_checks(_words(*text.split())) is checks


def test_an_expansion_may_be_an_option_of_a_shell() -> None:
    """Then it certainly does not only check."""
    assert not only_checks((*_words("bash", "-n"), Word("", is_open=True)))


@for_each("text", ["su -c id", "su --command id", "su --command=id", "su -cid", "su -lc id"])
def test_a_text_follows_an_option_in_every_spelling(text: str) -> None:
    """As `su`, `script` and `flock` have it."""
    assert "id" in [inner.text for inner in dash_c(_words(*text.split()))]


def test_ssh_runs_words_and_their_text() -> None:
    """The shell on the other side reads them again."""
    words, text = ssh(_words("ssh", "-p", "22", "host", "rm", "x"))
    assert (_argvs([words]), text.text) == ([("rm", "x")], "rm x")


@for_each(
    ("texts", "found"),
    [
        (("eval", "rm", "x"), "rm x"),
        (("trap", "rm x", "EXIT"), "rm x"),
        (("alias", "a=rm x"), "rm x"),
        (("env", "-S", "rm x", "y"), "rm x y"),
        (("env", "-S-i rm", "x"), "env -i rm x"),
        (("read", "a[$(rm)]"), "a[$(rm)]"),
        (("parallel", "rm", ":::", "x"), "x"),
        (("pwsh", "-Command", "rm", "x"), "rm x"),
        (("bind", '"x":rm'), "rm"),
        (("adb", "shell", "rm", "x"), "rm x"),
        (("hyperfine", "-w", "rm x"), "rm x"),
    ],
)
def test_other_programs_hand_a_text_to_a_shell(texts: tuple[str, ...], found: str) -> None:
    """Each in its own way."""
    assert found in [inner.text for inner in RUNNERS[record_of(texts[0]).runner](_words(*texts))]


@for_each("name", sorted(name for name, record in catalogue().items() if record.runner))
def test_a_program_alone_hands_over_nothing_known(name: str) -> None:
    """Without operands no reader fails, and none finds a command."""
    assert not [inner for inner in RUNNERS[record_of(name).runner](_words(name)) if inner.text or inner.words]
