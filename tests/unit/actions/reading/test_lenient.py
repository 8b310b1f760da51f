"""The lenient reader finds what a text might run, through every nesting and every mistake."""

import time

from tests.tables import for_each

from permitry.actions.reading.lenient import LONGEST, read_leniently

HIDDEN = (
    "rm x", "(rm x)", "{ rm x; }", "! rm x", "a && rm x", "a || rm x", "a & rm x", "a |& rm x", "a;rm x", "a\nrm x",
    "if a; then rm x; fi", "if rm x; then a; fi", "while rm x; do :; done", "until a; do rm x; done",
    "for i in a; do rm x; done", "for ((i=0;i<1;i++)); do rm x; done", "select i in a; do rm x; done",
    "case a in a) rm x;; esac", "f() { rm x; }", "function f { rm x; }", "$(rm x)", "`rm x`", 'echo "$(rm x)"',
    "cat <(rm x)", "cat <<E\n$(rm x)\nE", "cat <<E\n`rm x`\nE", "cat <<-E\n\t${x:-$(rm x)}\n\tE", "x=$(rm x)",
    "x=(a $(rm x))", "export A=$(rm x)", "echo ${a:-$(rm x)}", "echo ${a:-`rm x`}", "echo $((1+$(rm x)))",
    "[[ -n $(rm x) ]]", '[ -n "$(rm x)" ]', "(( $(rm x) ))", ">out rm x", "2>&1 rm x", "rm 2>/dev/null x", "rm>out x",
    "\\rm x", "'rm' x", 'r""m x', "$'rm' x", "$'\\x72m' x", '$"rm" x', "{rm,x}", "r{m..m} x", "r\\\nm x", "r\0m x",
    "ls\rrm x", "rm\rx", "`echo \\`rm x\\``", "ls (; rm x", "fi; rm x", "ls ;; rm x", "for f in; rm x",
    "ls `echo; rm x",
    "echo é; rm x", "ls #\\\nrm x", "a=b rm x", "((rm x))", "cat <<E; rm x\nE", "cat <<E\nE\nrm x",
)  # fmt: skip
BOMBS = ("(", "$(", "`", "{ ", "'", '"', "<<E", "<<E\n", "${", "a|", "a=(", "x() ", "a;", "\\`", "$", ">", "a\r", "a ")


@for_each("text", HIDDEN)
def test_the_hidden_command_is_found(text: str) -> None:
    """However it is nested, quoted or spelled, the command is among what is found."""
    assert ("rm", "x") in {command.argv for command in read_leniently(text).commands}


@for_each("text", ["echo 'a; rm x'", "echo a\\; rm x", "cat <<'E'\nrm x\nE\nls", "ls # rm x"])
def test_literal_text_is_no_command(text: str) -> None:
    """What is in quotes, a comment or a here-document runs nothing."""
    assert "rm" not in {command.argv[0] for command in read_leniently(text).commands}


def test_words_behind_a_redirection_belong_to_the_command() -> None:
    """The grammar files them under the redirection."""
    (command,) = read_leniently("find . 2>/dev/null -delete <in").commands
    assert command.argv == ("find", ".", "-delete")
    assert (command.reads, command.writes) == (("in",), ("/dev/null",))


def test_an_expansion_makes_a_word_open() -> None:
    """What it becomes depends on the machine; the word is given as it is written."""
    (command,) = read_leniently('ls "a$b" c').commands
    assert [(word.text, word.is_open) for word in command.words] == [("ls", False), ("a$b", True), ("c", False)]


def test_here_documents_and_strings_are_kept() -> None:
    """They may be fed to a shell."""
    (command,) = read_leniently("a <<E <<<'b c'\nrm x\nE").commands
    assert command.stdin == ("rm x\n", "b c")


def test_constructs_are_named_outermost_first() -> None:
    """A human reads where a command was found."""
    found = {command.argv: command.within for command in read_leniently("for i in a; do echo $(rm x); done").commands}
    assert found["rm", "x"] == ("for", "$(…)")


@for_each("text", ["é; rm x", "a\0; rm x", "日本\r\nrm x"])
def test_places_count_the_characters_of_the_original(text: str) -> None:
    """Dropped and wide characters move nothing."""
    command = next(command for command in read_leniently(text).commands if command.argv == ("rm", "x"))
    assert text[command.start : command.end] == "rm x"


def test_a_redirection_alone_is_reported() -> None:
    """It writes though no program runs."""
    assert {command.writes for command in read_leniently("(ls) > out").commands} == {(), ("out",)}


def test_a_long_text_is_read_in_part() -> None:
    """What is beyond the limit is not read, and the reading says so."""
    reading = read_leniently("rm x #" + "a" * LONGEST)
    assert ("rm", "x") in {command.argv for command in reading.commands}
    assert not reading.is_complete


@for_each("piece", BOMBS)
def test_time_is_bounded(piece: str) -> None:
    """No repetition makes the reader slow; the processor is measured, as the machine may be busy."""
    begin = time.process_time()
    read_leniently((piece * LONGEST)[:LONGEST])
    assert time.process_time() - begin < 8


@for_each("piece", ["a?", "a@", "a)", "a|", "<<A\n", "if if ==$==$"])
def test_what_the_grammar_takes_too_long_for_is_read_in_part(piece: str) -> None:
    """A few of these are read, thousands are not, and in good time; the reading says so, and finds the command."""
    assert read_leniently(f"rm x; {piece}").is_complete
    begin = time.process_time()
    reading = read_leniently(f"rm x; {piece * (LONGEST // len(piece) - 10)}")
    assert time.process_time() - begin < 4
    assert ("rm", "x") in {command.argv for command in reading.commands}
    assert not reading.is_complete


MERE_GUESSES = frozenset([
    "ls\rrm x", "rm\rx", "`echo \\`rm x\\``", "for f in; rm x", "((rm x))", "cat <<E; rm x\nE",
])  # fmt: skip
"""Where the grammar sees no command, and readings of a text that are not those of bash."""


@for_each("text", HIDDEN)
def test_a_command_where_it_runs_is_no_guess(text: str) -> None:
    """A restriction is certain of it, through every nesting."""
    found = [command for command in read_leniently(text).commands if command.argv == ("rm", "x")]
    assert any(not command.is_guess for command in found) is (text not in MERE_GUESSES)


@for_each(("text", "piped"))
def test_what_stands_behind_a_pipe_is_marked(text: str, piped: list[str]) -> None:
    """Its input is what the command before it prints."""
    commands = read_leniently(text).commands
    assert sorted({each.argv[0] for each in commands if each.is_piped and not each.is_guess}) == piped


@for_each(("text", "is_plain"), [("ls a", True), ("ls (", False), ("a " * LONGEST, False)])
def test_a_text_is_plain_if_all_of_it_was_read_in_one_way(text: str, *, is_plain: bool) -> None:
    """Behind a limit there may be more commands."""
    assert read_leniently(text).is_plain is is_plain
