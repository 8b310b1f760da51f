"""What counts as only reading, program by program."""

import itertools
import json
import time
from collections.abc import Iterator
from pathlib import Path

from tests.tables import for_each, stored_rows

from permitry.actions.command import Command, Redirection
from permitry.actions.derive.unwrap import Classified, Refused, classify, why_not_reading, why_not_reading_all
from permitry.actions.programs.catalogue import catalogue, compact, record_of
from permitry.actions.programs.entries import Entry
from permitry.actions.reading.strict import UnreadableError, read_strictly
from permitry.core.action import Word

INSERTED = stored_rows(__file__, "INSERTED")


WRAPPERS = (
    ("xargs -n 1", ("-i", "-p", "--interactive", "rm", "sh", "-e", "--arg-file")),
    ("env LC_ALL=C", ("-S", "-i", "-u", "-C", "-", "--split-string=x", "PATH=.", "touch", "sh")),
    ("timeout -k 1 5", ("rm", "sh", "--foo", "*")),
    ("nice -n 5", ("rm", "--foo", "-x", "*")),
    ("stdbuf -oL", ("rm", "--foo", "-x", "*")),
    ("command", ("rm", "-p", "--foo", "*")),
)
"""What runs the command that follows, and what must not stand before that command."""


def why(text: str) -> str | None:
    """Return why a script does not only read."""
    return why_not_reading_all(read_strictly(text))


def plain(words: list[str]) -> str | None:
    """Return why a command of bare words does not only read; a `*` is an unquoted one."""
    return why_not_reading(Command(tuple(Word(word, is_glob="*" in word) for word in words)))


def reads(text: str) -> bool:
    """Return whether a script is readable and only reads."""
    return is_readable(text) and why(text) is None


def is_readable(text: str) -> bool:
    """Return whether the strict reader knows every command of a script."""
    try:
        read_strictly(text)
    except UnreadableError:
        return False
    return True


def stored(name: str) -> list[str]:
    """Return the commands of a file next to this one; a `⏎` in a line is a newline of the command."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return [line.replace("⏎", "\n") for line in text.splitlines()]


def test_ordinary_commands_only_read() -> None:
    """What agents and developers type all day to look at things, in all its spellings, comes out as reading."""
    commands = stored("commands_reading.txt")
    assert len(commands) > 2_000
    assert [command for command in commands if not reads(command)] == []


def test_dangerous_commands_never_read() -> None:
    """What may write, execute or connect, one word away from reading or known as a bypass elsewhere, never reads."""
    commands = stored("commands_dangerous.txt")
    assert len(commands) > 1_500
    assert [command for command in commands if reads(command)] == []
    refused = [command for command in commands if not is_readable(command)]
    assert len(refused) < 28, "few are refused before what they do is looked at"


def test_an_open_word_may_be_anything() -> None:
    """An expansion at any place of a harmless command makes it one that may do more, but behind `--`."""
    word = Word("$x", is_open=True)
    for command, named, _ in INSERTED:
        words = [Word(text) for text in command.split()]
        for at in range(named, len(words) + 1):
            assert why_not_reading(Command((*words[:at], word, *words[at:]))) is not None, (command, at)
    for attached in ("-k$x", "--key=$x", "-$x"):
        assert why_not_reading(Command((Word("sort"), Word(attached, is_open=True)))) is not None
    assert why_not_reading(Command((Word("cat", is_open=True),))) is not None
    for command in ("sort --", "git log --", "cat", "echo", "printf %s"):
        words = [Word(text) for text in command.split()]
        assert why_not_reading(Command((*words, word))) is None


def insertions() -> Iterator[tuple[list[str], list[str]]]:
    """Yield each harmless command and each form it takes when one dangerous word is put into it."""
    for command, named, dangers in INSERTED:
        words = command.split()
        for danger, at in itertools.product(dangers, range(named, len(words) + 1)):
            yield words, [*words[:at], danger, *words[at:]]


def test_a_dangerous_word_is_dangerous_anywhere() -> None:
    """Putting a dangerous word at any place of a harmless command makes it one that does not only read."""
    assert [words for words, _ in insertions() if plain(words) is not None] == []
    assert [changed for _, changed in insertions() if plain(changed) is None] == []


def test_a_dangerous_word_is_dangerous_within_a_wrapper() -> None:
    """Putting a dangerous word among those of a wrapper is no way round either."""
    for wrapper, dangers in WRAPPERS:
        words = wrapper.split()
        assert plain([*words, "ls"]) is None
        for danger, at in itertools.product(dangers, range(1, len(words) + 1)):
            changed = [*words[:at], danger, *words[at:], "ls"]
            assert plain(changed) is not None, changed


def test_a_dangerous_word_behind_two_hyphens_is_an_operand() -> None:
    """Behind `--` an option is a name, and a pattern cannot become an option."""
    for command in ("sort -- -o", "rg foo -- --pre=sh", "git diff -- --output=x", "git log -- -O *", "sort -- *.md"):
        assert why(command) is None


@for_each("wrapper", ["timeout 5", "nice", "nice -n 5", "env", "env LC_ALL=C", "command", "stdbuf -oL"])
def test_wrappers_hide_nothing(wrapper: str) -> None:
    """What is behind a wrapper is judged as if it stood alone, for harmless and dangerous commands alike."""
    for command, _, dangers in INSERTED:
        if command.startswith(("env", "set", "timeout", "xargs")):
            continue
        words = [*wrapper.split(), *command.split()]
        assert plain(words) is None, words
        assert plain([*words, dangers[0]]) is not None, words


@for_each("danger", ["sort -o x", "rm x", "ls > x", "cd x && git log", "sed -i p f", "FOO=1 ls"])
def test_shells_hide_nothing(danger: str) -> None:
    """A text behind `sh -c` is read strictly and judged, however deep it lies."""
    text = danger
    for _ in range(4):
        quoted = text.replace("\\", "\\\\").replace('"', '\\"')
        text = f'sh -c "{quoted}"'
        assert why(text) is not None


def test_shells_are_read_four_deep() -> None:
    """Shells and wrappers around a command are taken off up to four times."""
    four = "timeout 5 nice env sh -c ls"
    assert why(four) is None
    assert why(f"nice {four}") is not None


def test_only_a_literal_text_of_a_shell_is_read() -> None:
    """Anything but `-c` or `-lc` and one text is refused, whatever it is."""
    assert why("bash -c ls") is None
    assert why("bash -lc ls") is None
    for command in ("bash -c ls x", "bash -e -c ls", "bash --norc -c ls", "bash ls", "bash -cls", "bash", "zsh -c ls"):
        assert why(command) is not None


def test_git_behind_cd_is_refused_wherever_they_stand() -> None:
    """A repository that lies embedded in the workspace executes what its configuration says."""
    assert why("git log; cd x; ls") is None
    for script in ("cd x; git log", "cd x && ls && git log", "sh -c 'cd x'; git log", "env cd x; nice git log"):
        assert why(script) is not None
    assert why_not_reading(read_strictly("sh -c 'cd x; git log'")[0]) is not None


@for_each("operator", ["<", ">", ">>"])
def test_redirections_to_the_network(operator: str) -> None:
    """Bash opens a connection for `/dev/tcp` and `/dev/udp`, in either direction."""
    for target in ("/dev/tcp/example.com/80", "/dev/udp/example.com/53"):
        command = Command((Word("cat"),), redirections=(Redirection(operator, target),))
        assert why_not_reading(command) is not None


def test_redirections_of_files() -> None:
    """A file may be read; only /dev/null and other descriptors may be written."""
    assert why("cat < a.txt > /dev/null 2>&1 >&2") is None
    for target in ("out", "/dev/stdout", "/dev/null/../out", "", "/dev/nullx", "/DEV/NULL"):
        assert why_not_reading(Command((Word("ls"),), redirections=(Redirection(">", target),))) is not None


@for_each("word", ["*", "?.md", "[a-z]", "-*", "--*", "*.py"])
def test_patterns_that_may_become_options(word: str) -> None:
    """A pattern that may become an option is refused unless every option of the program is harmless."""
    for program in ("ls", "cat", "grep x", "wc", "jq ."):
        assert why(f"{program} {word}") is None
    for program in ("sort", "rg x", "git diff", "sed p", "find", "diff a", "awk 1", "fd x", "sort -k 1 -t"):
        assert why(f"{program} {word}") is not None


@for_each("command", ["rg --glob=*.py x", "rg -g*.py x", "rg x src/*.py", "git diff src/*", "sort a*"])
def test_patterns_that_cannot_become_options(command: str) -> None:
    """A pattern whose beginning is fixed can only become what it begins with."""
    assert why(command) is None


@for_each("command")
def test_patterns_that_may_become_several_words(command: str) -> None:
    """Where the number of words matters, a pattern is refused whatever it begins with."""
    assert why(command) is not None


@for_each("value", ["-o", "--output=x", "--", "-*"])
def test_values_never_look_like_options(value: str) -> None:
    """A word behind an option that takes a value is refused if it looks like an option; a number does not."""
    assert why(f"sort -k {value} a") is not None
    assert why("date -d '-1 day' +%F") is None
    assert why("sort -t - a") is None


@for_each("script")
def test_sed_scripts_that_print(script: str) -> None:
    """Addresses, the plain commands, substitutions without a file and jumps only change what is printed."""
    assert plain(["sed", "-n", script, "f"]) is None
    assert plain(["sed", "-e", script, f"--expression={script}", "f"]) is None


@for_each("script")
def test_sed_scripts_that_are_refused(script: str) -> None:
    """A command that writes, executes or reads, an odd text, and what two kinds of sed read differently are refused."""
    assert plain(["sed", "-n", script, "f"]) is not None
    assert plain(["sed", "-e", "p", "-e", script, "f"]) is not None


@for_each("program")
def test_awk_programs_that_print(program: str) -> None:
    """Patterns, fields, arithmetic, strings, arrays and own functions only change what is printed."""
    assert plain(["awk", "-F", ",", program, "f"]) is None


@for_each("program")
def test_awk_programs_that_are_refused(program: str) -> None:
    """Pipes, redirections, foreign functions, and every slash that two kinds of awk read differently are refused."""
    assert plain(["awk", program, "f"]) is not None


def test_printf_formats() -> None:
    """Every conversion but `%n` prints."""
    for text in ("%s\\n", "100%%", "%-5.2f|%+d|%05x", "%(%F %T)T|%s", "%b%q%c", "plain", "%%n"):
        assert plain(["printf", text, "x"]) is None
        assert plain(["printf", "--", text, "x"]) is None
    for text in ("%n", "%%%n", "%5%%n", "%hn", "%", "%(%F", "%(%F)x", "%(x)T%n", "%y", "-v", "-"):
        assert plain(["printf", text, "x"]) is not None
    assert plain(["printf"]) is None
    assert why("printf '%*d' 3 x") is None
    assert why("printf %*d 3 x") is not None


@for_each("command", ["awk", "sed", "rg -e", "find . -name", "env LC_ALL=C", "nice", "command -v x* y"])
def test_commands_that_lack_something(command: str) -> None:
    """A program that would only complain about a missing word reads."""
    assert why(command) is None


@for_each("command", ["xxd -p* a", "ip -b* addr", "timeout 5* ls", "timeout -s K* 5 ls", "xargs -d a* ls", "git l*"])
def test_patterns_where_words_are_counted(command: str) -> None:
    """A pattern among the words of a wrapper, of whole-word options or in place of a sub-command is refused."""
    assert why(command) is not None


def test_long_options_are_matched_whole() -> None:
    """Every true prefix of a long option is unknown, harmless or not, with and without a value."""
    for option in ("--output", "--compress-program", "--reverse", "--key"):
        for end in range(3, len(option)):
            assert why(f"sort {option[:end]}=x a") is not None
            assert why(f"sort {option[:end]} x a") is not None


def test_an_unknown_option_is_never_harmless() -> None:
    """For every program with listed options, an option that is not listed is refused in every spelling."""
    for name, entry in catalogue().items():
        if not entry.any_option and entry.script not in ("test", "printf"):
            for option in ("--permitry", "--permitry=x", "-é"):
                assert plain([name, option]) is not None, name


def everything() -> Iterator[tuple[str, Entry]]:
    """Yield every entry of the data, those of sub-commands as well."""
    waiting = list(catalogue().items())
    while waiting:
        name, entry = waiting.pop()
        yield name, entry
        waiting += [(f"{name} {command}", inner) for command, inner in entry.commands.items()]


def test_the_data_names_many_programs() -> None:
    """At least 130 programs may be used to read, and many more are known not to."""
    never = [name for name, entry in catalogue().items() if entry.does]
    assert sum(entry.is_known for entry in catalogue().values()) - len(never) >= 130
    assert len(never) >= 100


def test_what_programs_do_is_said_in_a_few_words() -> None:
    """Each with a phrase, of which a reason is made; none is of no program."""
    said = {word: phrase for _, entry in everything() for word, phrase in entry.does.items()}
    assert said == json.loads(compact())["does"]
    assert record_of("npm").reason == "may write its cache and runs code of the workspace"
    assert record_of("cat").reason == ""


def test_the_data_names_each_option_once() -> None:
    """No option is of two kinds, listed and refused, or a pattern; and letters are single letters."""
    for name, entry in everything():
        kinds = (entry.options.plain, entry.options.valued, entry.options.attached, entry.options.separate)
        known = [option for kind in kinds for option in kind]
        assert len(known) == len(set(known)), name
        assert not set(known) & entry.refused.keys(), name
        assert not set("*?[") & set("".join(known)), name
        assert entry.whole_words or all(option[:2] == "--" or len(option) == 2 for option in known), name


def test_reasons_are_one_line_for_a_human() -> None:
    """A reason names what is refused, in one line without a final period."""
    assert why("sort -o x a") == "`sort -o` writes a file"
    assert why("sort --outp=x a") == "`sort` with the unknown option `--outp`"
    assert why("rm x") == "`rm` deletes files"
    assert why("curl x") == "`curl` opens network connections"
    assert why("kubectl -n x get pods") == "`kubectl` opens network connections"
    assert why("./x") == "`./x` is named by its path"
    assert why("ls > out") == "writes `out`"
    assert why("git st") == "`git st` is not known to only read"


def test_judged_says_of_each_program_why_it_may_do_more() -> None:
    """Every program behind its wrappers comes out with its own doubt, and redirections are left to the caller."""
    commands = read_strictly("nice ls > out; sh -c 'cat a | sort -o b'; env -S x; cd x; git log")
    results = classify(commands)
    assert [(one.command.argv[0], one.doubt) for one in results if isinstance(one, Classified)] == [
        ("ls", None),
        ("cat", None),
        ("sort", "`sort -o` writes a file"),
        ("cd", None),
        ("git", "`git` behind `cd` may find a repository that runs programs"),
    ]
    assert [one for one in results if isinstance(one, Refused)] == [
        Refused(commands[2], "`env -S` splits a text into a command")
    ]


def test_an_assignment_is_a_doubt() -> None:
    """A variable that may change what a program does, wherever it is set."""
    for text in ("PATH=. ls", "sh -c 'ls; LD_PRELOAD=x ls'", "env PATH=. ls", "PATH=. sh -c ls"):
        last = classify(read_strictly(text))[-1]
        assert isinstance(last, Classified)
        assert last.doubt is not None
        assert last.command.argv == ("ls",)
    assert classify(read_strictly("LC_ALL=C ls")) == tuple(Classified(one) for one in read_strictly("LC_ALL=C ls"))


@for_each(
    "text",
    [
        "awk '" + "/[a/" * 9_000 + "'",
        "awk '" + "(" * 30_000 + "'",
        "awk '" + "x(" * 15_000 + "'",
        "sed '" + "s/[[:/x/;" * 4_000 + "'",
        "sed " + "-e p " * 9_000,
        "printf '" + "%(" * 15_000 + "'",
        "find " + "-name x " * 7_000,
        "git log " + "%x" * 20_000,
        "env " * 12_000 + "ls",
        "sort " + "-" + "b" * 40_000,
        "ls; " * 990 + "ls",
        "sh -c 'ls'; " * 990 + "ls",
    ],
    ids=lambda text: text[:12],
)
def test_long_commands_take_no_time(text: str) -> None:
    """Every check is linear: 64 KiB of the worst text are judged without an explosion."""
    commands = read_strictly(text)
    begin = time.process_time()
    why_not_reading_all(commands)
    assert time.process_time() - begin < 8
