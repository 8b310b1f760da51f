"""The strict reader: what it reads, exactly, and what it refuses, with a reason and a place."""

import contextlib
import time

import pytest
from tests.tables import for_each

from permitry.actions.command import Command, Redirection
from permitry.actions.reading.strict import UnreadableError, read_strictly
from permitry.core.action import Word


def argvs(text: str) -> list[tuple[str, ...]]:
    """Return the arguments of every command."""
    return [command.argv for command in read_strictly(text)]


def only(text: str) -> Command:
    """Return the one command of a text."""
    (command,) = read_strictly(text)
    return command


# Lists and pipelines --------------------------------------------------------------------------------------------------


@for_each(("text", "follows"))
def test_a_command_follows_a_connector(text: str, follows: list[str]) -> None:
    """Each command carries what is before it, the first of a group what is before the group."""
    assert [command.follows for command in read_strictly(text)] == follows


@for_each(
    ("text", "within"),
    [
        ("a", [()]),
        ("! a | b && c", [("!",), ("!",), ()]),
        ("(a) | b", [("(…)",), ()]),
        ("(a; { b; }); c", [("(…)",), ("(…)", "{…}"), ()]),
        ("for x in 1; do ! (a); done; b", [("for", "!", "(…)"), ()]),
    ],
)
def test_a_command_stands_within_constructs(text: str, within: list[tuple[str, ...]]) -> None:
    """The constructs around a command are named, outermost first."""
    assert [command.within for command in read_strictly(text)] == within


def test_a_command_has_a_place() -> None:
    """A command says where it stands, without the blanks before it."""
    first, second = read_strictly("ls -l &&  pwd")
    assert (first.start, first.end, second.start, second.end) == (0, 6, 10, 13)


@for_each("text", ["a;", "a # x; y", "\n\na\n", "# x\na", "a;#x\n", "(a)#x", "( # x\na )", "a|#x\nb"])
def test_comments_and_separators_are_no_commands(text: str) -> None:
    """Comments, empty lines and a last separator leave no trace."""
    assert argvs(text)[0] == ("a",)


@for_each(
    "text", ["", " ", "# x", "a &&", "a |", "a ;;", "a ; ; b", "&& a", "a &; b", "& a", "| a", "a |&& b", "a ;& b"]
)
def test_a_list_must_be_whole(text: str) -> None:
    """A missing command, and what is between commands elsewhere, is refused."""
    with pytest.raises(UnreadableError):
        read_strictly(text)


# Words ----------------------------------------------------------------------------------------------------------------


@for_each(("text", "words"))
def test_words_are_what_the_program_receives(text: str, words: list[str]) -> None:
    """Quotes are taken off, escapes resolved, all else stays."""
    assert list(only(text).argv) == words


@for_each(
    ("text", "word"),
    [
        ("a *.py", Word("*.py", is_glob=True)),
        ("a '*.py'", Word("*.py")),
        ("a \\*", Word("*")),
        ("a x[12]", Word("x[12]", is_glob=True)),
        ("a ~/x", Word("~/x", is_home=True)),
        ("a ~", Word("~", is_home=True)),
        ("a '~'/x", Word("~/x")),
    ],
)
def test_patterns_and_the_home_folder_are_marked(text: str, word: Word) -> None:
    """What depends on the machine is marked, but not where it is quoted."""
    assert only(text).words[1] == word


@for_each(
    "text",
    [
        "a $(b", "a `b", "a `b\\`", "a `\\\\`", "a `\\$b`", 'a `\\"`', "a `b\\\nc`", "a `b \\`c\\``",
        "a $((x))", "a $((1)", "a $[1]", "a $'\\x62'", 'a $"b"', "a ${x", "a ${!x}",
        "a ${x@P}", "a ${x:=b}", "a ${x[b]}", "a ${x:y}", "a ${x:-'b'}", "a ${}", "a $()", "a $x" + "${x:-" * 11,
        "a {b,c}{", "a {b,{c,d}}", "a {1..x}", "a {1..99}", "a {b,$x}", "a {,}", "a {01..3}", "a " + "{b,c}" * 7,
        "a {", "a }", "a ~b", "a x=~", "a x:~", "a 'b", 'a "b', 'a "b\\', "a \\", "a b\\\nc",
        'a "\\\nb"', "a(b)", "a b(c)", "a b<(c)", "a <(b)c", "a <(b)<(c)", "<(a)", "a\rb", "a\0b", "a\u200bb", "a\xa0b",
    ],
)  # fmt: skip
def test_what_bash_would_change_is_refused(text: str) -> None:
    """Expansions, braces, other homes, open quotes, continued lines and invisible characters are refused."""
    with pytest.raises(UnreadableError):
        read_strictly(text)


@for_each("text")
def test_other_programs_and_constructs_are_refused(text: str) -> None:
    """Every reserved word but those of constructs that are whole, and a program that is not named plainly."""
    with pytest.raises(UnreadableError):
        read_strictly(text)


@for_each("text", ["'if' a", "a if", "i\\f a", "'!' a", "a ! b", "'{' a"])
def test_a_quoted_reserved_word_is_a_program(text: str) -> None:
    """Only a plain word at the beginning is reserved."""
    assert len(argvs(text)) == 1


# Assignments ----------------------------------------------------------------------------------------------------------


def test_assignments_stand_before_the_program() -> None:
    """Names and values are reported apart from the words; one behind the program is a word."""
    command = only("A=1 B_2='x y' C= env D=4")
    assert command.assignments == (("A", "1"), ("B_2", "x y"), ("C", ""))
    assert command.argv == ("env", "D=4")


@for_each(
    "text", ["A=1 >f", "A=~ b", "A=x:~ b", "A+=1 b", "A[0]=1 b", "A=(1) b", "A={1,2} b", "RANDOM=x", "declare -i a=b"]
)
def test_assignments_of_another_kind_are_refused(text: str) -> None:
    """No arrays, no appending, nothing that bash evaluates, and no redirection without a command."""
    with pytest.raises(UnreadableError):
        read_strictly(text)


# Redirections ---------------------------------------------------------------------------------------------------------


@for_each(
    ("text", "redirection"),
    [
        ("a <f", Redirection("<", "f")),
        ("a 0< f", Redirection("<", "f")),
        ("a >f", Redirection(">", "f")),
        ("a 2>>'f g'", Redirection(">>", "f g")),
        ("a >|f", Redirection(">", "f")),
        ("a &>f", Redirection(">", "f")),
        ("a&>> f", Redirection(">>", "f")),
        ("a 2>&1", Redirection(">", None)),
        ("a >&2", Redirection(">", None)),
        ("a >~/f", Redirection(">", "~/f", is_home=True)),
        ("a >'~/f'", Redirection(">", "~/f")),
        ("a <<<'x y'", Redirection("<", None)),
        ("a <<< *", Redirection("<", None)),
        ("a <<E\nx\nE", Redirection("<", None)),
        ("a |& b", Redirection(">", None)),
    ],
)
def test_redirections_are_told(text: str, redirection: Redirection) -> None:
    """Each kind of redirection comes out as reading, writing or appending, with its file."""
    assert read_strictly(text)[0].redirections == (redirection,)


def test_redirections_may_stand_anywhere() -> None:
    """Before the program, among its arguments and behind them; the words stay together."""
    command = only("<f a 2>&1 b >g c")
    assert command.argv == ("a", "b", "c")
    assert command.redirections == (Redirection("<", "f"), Redirection(">", None), Redirection(">", "g"))


def test_a_digit_that_belongs_to_a_word_is_no_descriptor() -> None:
    """Only a word of one digit before the operator is a descriptor."""
    assert only("a x2>f").argv == ("a", "x2")


@for_each("text")
def test_other_redirections_are_refused(text: str) -> None:
    """Other descriptors, patterns, expansions and missing targets are refused."""
    with pytest.raises(UnreadableError):
        read_strictly(text)


# Here-documents -------------------------------------------------------------------------------------------------------


@for_each(
    ("text", "after"),
    [
        ("a <<E; b\nx; y\nE\nc", [("b",), ("c",)]),
        ("a <<'E'\n$x `y`\nE\nc", [("c",)]),
        ("a <<E <<F\n1\nE\n2\nF\nc", [("c",)]),
        ("a <<-E\n\tx\n\t\tE\nc", [("c",)]),
        ("(a <<E)\nx\nE\nc", [("c",)]),
        ("a <<E |\nx\nE\nc", [("c",)]),
        ("a <<'E F'\nE\nE F\nc", [("c",)]),
    ],
)
def test_here_documents_are_no_commands(text: str, after: list[tuple[str, ...]]) -> None:
    """The lines up to the end are stepped over, wherever the command goes on."""
    assert argvs(text) == [("a",), *after]


@for_each("text")
def test_here_documents_without_an_end_are_refused(text: str) -> None:
    """The end must come, unindented unless `<<-`, and whatever is expanded before it must be whole."""
    with pytest.raises(UnreadableError):
        read_strictly(text)


# Groups and loops -----------------------------------------------------------------------------------------------------


def test_ten_constructs_may_stand_around_a_command() -> None:
    """One more is refused, with its place."""
    assert argvs("( " * 10 + "a" + " )" * 10) == [("a",)]
    with pytest.raises(UnreadableError, match="more than 10 constructs around a command at character 21"):
        read_strictly("( " * 11 + "a" + " )" * 11)


def test_the_redirections_of_a_group_are_those_of_its_commands() -> None:
    """A file a group writes is written by each command in it."""
    first, second = read_strictly("{ a <f; b; } >g 2>&1")
    assert first.redirections == (Redirection("<", "f"), Redirection(">", "g"), Redirection(">", None))
    assert second.redirections == (Redirection(">", "g"), Redirection(">", None))


@for_each(
    "text",
    [
        "(a", "a)", "()", "( )", "{ }", "{ a }", "{ a;", "{a;}", "(a) b", "{ a; } b", "(a))", "a (b)", ">f (a)",
        "A=1 (a)", "(a && )", "{ (a) }", "((a);b)", "{ a; }b", "(a;; b)", "(a)(b)", "{ a; }2>f",
    ],
)  # fmt: skip
def test_groups_must_be_whole(text: str) -> None:
    """A group without its end, without a command, too deep, or with a word behind it is refused."""
    with pytest.raises(UnreadableError):
        read_strictly(text)


@for_each(
    ("text", "expected"),
    [
        ("for f in x y; do a $f; done", [("a", "x"), ("a", "y")]),
        ('for f in x \'y z\'; do a "$f" "<${f}>"; done', [("a", "x", "<x>"), ("a", "y z", "<y z>")]),
        ("for f in x\ndo\na ${f}s; b\ndone; c", [("a", "xs"), ("b",), ("c",)]),
        ("for f in x y; do for g in 1 2; do a $f$g; done; done", [("a", "x1"), ("a", "x2"), ("a", "y1"), ("a", "y2")]),
        ("for f in x; do for g in $f z; do a $g; done; done", [("a", "x"), ("a", "z")]),
        ("for f in do done; do a '$f' \\$f; done", [("a", "$f", "$f"), ("a", "$f", "$f")]),
        ("for f in -x; do a $f; done", [("a", "-x")]),
        ("for f in x y; do a <<E; done\nx\nE", None),
        ("for f in x y; do a <<E\n1\nE\ndone", [("a",), ("a",)]),
    ],
)
def test_a_loop_is_its_body_once_for_each_word(text: str, expected: list[tuple[str, ...]] | None) -> None:
    """The variable is the word, quoted or not; a here-document must end in the loop."""
    if expected is None:
        with pytest.raises(UnreadableError):
            read_strictly(text)
    else:
        assert argvs(text) == expected


@for_each("text", ["find a \\! -b 'c\\d' -e \\;", "a b\\ c | d '\\(' \\)", "a '\\L\\&'"])
def test_a_backslash_in_backticks_is_one(text: str) -> None:
    """As in `$(…)`, where the character behind it is none that backticks take for themselves."""
    assert argvs(f"x `{text}`")[:-1] == argvs(text)
    assert argvs(f'x "`{text}`"')[:-1] == argvs(text)


def test_a_loop_is_not_read_for_longer_than_the_longest_text() -> None:
    """A long body counts once for each word."""
    text = f"for f in {'x ' * 20}; do a {'b' * 4_000}; done"
    with pytest.raises(UnreadableError, match="too many commands"):
        read_strictly(text)


def test_a_loop_may_choose_a_file() -> None:
    """The variable stands for its word in a redirection as well."""
    commands = read_strictly("for f in x y; do a >$f.txt; done")
    assert [command.redirections[0].target for command in commands] == ["x.txt", "y.txt"]


@for_each(
    "text",
    [
        "for f in 'x ?'; do a $f; done", "for f in '*'; do a $f; done", "for f in ''; do a $f; done",
        "for f in '\\x'; do a $f; done",
    ],
)  # fmt: skip
def test_a_variable_that_may_become_other_words_is_open_without_quotes(text: str) -> None:
    """Patterns, backslashes and nothing at all do not stay one word."""
    assert only(text).words[1] == Word("$f", is_open=True)


def test_a_known_value_is_split_at_blanks() -> None:
    """Where it stands alone, and each part is plain."""
    assert argvs("x='-x push'; git $x a$x \"$x\"")[1:] == [("git", "-x", "push", "a$x", "-x push")]


@for_each(
    "text",
    [
        "for f in; do a; done", "for f in *; do cd $f; done", "for f in x & do a; done",
        "for f; do a; done", "for f do a; done", "for ((;;)); do a; done", "for f in x do a; done",
        "for f in x; { a; }",
        "for f in x; do a", "for f in x; do done", "for f in x; do a; done b", "for f in x(y); do a; done",
        "for f in x && do a; done", "for f in x;; do a; done", "for f in x >y; do a; done", "for f\nin x; do a; done",
        "for f in x y; do a <<E; done\nx\nE\nc\nE", "a <<E; for f in x y; do\nx\nE\nb; done",
        "for f in x y; do " + "a; " * 101 + "done", "a; do b; done",
    ],
)  # fmt: skip
def test_other_loops_are_refused(text: str) -> None:
    """Missing pieces, a folder that changes each time, and too many commands are refused."""
    with pytest.raises(UnreadableError):
        read_strictly(text)


@for_each("name", ["PATH", "IFS", "GH_HOST", "http_proxy", "_", "histchars", "f-g", "é", "'f'"])
def test_a_loop_sets_no_variable_that_means_something(name: str) -> None:
    """None that programs or bash look at."""
    with pytest.raises(UnreadableError):
        read_strictly(f"for {name} in x; do a; done")


@for_each(
    "body",
    [
        "read f", "read -r f <<<rm", "export f=rm", "declare f=rm", "printf -v f rm", "eval f=rm", "f=2 a", "unset f",
        "for f in y; do a; done", "mapfile f", "getopts x f", ". x", "command read f",
    ],
)  # fmt: skip
def test_a_variable_that_may_change_is_open(body: str) -> None:
    """If anything in the text may give it another value, neither a loop nor an assignment says what it is."""
    for text in (f"for f in x; do {body}; ls $f; done", f"f=x; {body}; ls $f", f"f=x; ls $f; {body}"):
        try:
            commands = read_strictly(text)
        except UnreadableError:
            continue
        assert all(command.words[-1].is_open for command in commands if command.argv[0] == "ls"), text


@for_each("body")
def test_a_variable_names_no_program_and_is_not_evaluated(body: str) -> None:
    """Its value could be any command, in a subscript as well."""
    with pytest.raises(UnreadableError):
        read_strictly(f"for f in x; do {body}; ls $f; done")


@for_each(
    "text", ["a && f=x; ls $f", "(f=x); ls $f", "f=x | a; ls $f", "f=x & ls $f", "{ f=x; }; ls $f", "f=x a; ls $f",
             "if a; then f=x; fi; ls $f", "f=$y; ls $f", "ls $f; f=x", "f=*; ls $f", "a $(f=x); ls $f"],
)  # fmt: skip
def test_only_a_plain_assignment_is_followed(text: str) -> None:
    """It must certainly have run, in the same shell, before the variable is used."""
    assert [command.words[-1].is_open for command in read_strictly(text) if command.argv[0] == "ls"] == [True]


def test_a_variable_ends_with_its_loop() -> None:
    """Behind the loop its variable is an expansion like any other."""
    assert read_strictly("for f in x; do a $f; done; b $f")[1].words[1].is_open


@for_each("before")
def test_nothing_beside_a_loop_changes_its_words(before: str) -> None:
    """What stands before a loop may split or alter its variable just as well."""
    with contextlib.suppress(UnreadableError):
        assert read_strictly(f"{before}; for f in a-b; do ls $f; done")[-1].words[-1].is_open


@for_each("first")
def test_nothing_changes_how_the_rest_is_read(first: str) -> None:
    """Options and aliases under which the same text means something else may only stand at the end."""
    assert argvs(first)
    with pytest.raises(UnreadableError, match="may mean something else"):
        read_strictly(f"{first}\nls")


@for_each("first", ["set -e", "set -euo pipefail", "set +x", "set -o nounset"])
def test_ordinary_options_are_read(first: str) -> None:
    """Options that only say when to stop, or what to print, change nothing of what is read."""
    assert argvs(f"{first}; for f in a; do ls $f; done")[1:] == [("ls", "a")]


# Refusals -------------------------------------------------------------------------------------------------------------


@for_each(
    ("text", "reason", "offset"),
    [
        ("ls ${!x}", "an expansion of an unusual kind", 3),
        ("ls 'x", "a quote without its end", 3),
        ("if a", "no `then` for what begins", 2),
        ("done", "the reserved word `done`", 0),
        ("a; (b", "no `)` for what begins", 4),
        ("a \u200b", "an invisible character (U+200B)", 2),
        ("x" * 65_537, "longer than 65536 characters", 65_536),
    ],
)
def test_a_refusal_has_a_reason_and_a_place(text: str, reason: str, offset: int) -> None:
    """The error says why reading stopped, and where."""
    with pytest.raises(UnreadableError) as caught:
        read_strictly(text)
    assert (caught.value.reason, caught.value.offset) == (reason, offset)
    assert str(caught.value) == f"{reason} at character {offset + 1}"


# Time -----------------------------------------------------------------------------------------------------------------

AWKWARD = (
    "'", '"', "''", '"" ', "( ", "(", "{ ", "{a", "{}", "<<E ", "<<E <<F\n", "a <<E\n", "for f in x y;", "! ", "\\",
    "\\a", "$", "$f", "~", "x=", "A=1 ", "a;", "a&&", "a|&", "#", "\n", "1", "1>", "&>f ", "<<<a ", "${f", "é", "*",
    "for f in x; do a; ", "$x ", '"$x"', "${x:-", "$(a ", "`a` ", "$((1+", "{a,b} ", "<(a) ", "if a; then ",
    "while a; do ",
    "case x in a) ", "a & ", "x=a; ", "x=$x;", "[[ a ", "\\\n ",
)  # fmt: skip
BEFORE = ("a ", "a '", "a <<E\n", "for f in 1 2 3; do a ", "( a; ")


def spent(text: str) -> float:
    """Return the shortest time of three, in seconds of this thread."""
    shortest = float("inf")
    for _ in range(3):
        begin = time.thread_time()
        with contextlib.suppress(UnreadableError):
            read_strictly(text)
        shortest = min(shortest, time.thread_time() - begin)
    return shortest


@for_each("before", BEFORE)
@for_each("piece", AWKWARD)
def test_twice_the_text_takes_about_twice_the_time(before: str, piece: str) -> None:
    """Time grows with the length of the text, whatever is repeated; four times would be its square."""
    half, whole = (before + piece * (length // len(piece)) for length in (4_000, 8_000))
    assert any(spent(whole) < 4 * spent(half) + 0.002 for _ in range(3))


@for_each("text", ["[", "a[", "]a[", "'['a]", "[a']'", "\\[a]"])
def test_a_bracket_that_nothing_closes_is_a_letter(text: str) -> None:
    """As to bash: `[ -f x ]` names its program."""
    assert not only(f"echo {text}").words[1].is_glob
    assert only("echo a[b]c").words[1].is_glob
