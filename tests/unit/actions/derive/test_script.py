"""From shell text to actions: the strict reading is certain, the lenient one only possible."""

import pytest
from tests.tables import for_each

from permitry.actions.derive.given import touches_of_patch
from permitry.actions.derive.recursive import read_recursively
from permitry.actions.derive.script import ShellReading, read_argv, read_command
from permitry.actions.folders import Folder
from permitry.actions.reading.lenient import LooseReading
from permitry.core.action import Access, Action, Connect, Run, Touch, Unknown, phrase

WORK, HOME = "/nowhere/me/work", "/nowhere/me"
HERE = Folder((WORK,), HOME)
PATCH = "*** Begin Patch\n*** Add File: a\n+x\n*** Delete File: b\n*** End Patch"


def _read(text: str) -> ShellReading:
    return read_command(text, HERE)


def _told(actions: tuple[Action, ...]) -> list[str]:
    return [phrase(action) for action in actions]


def _runs(actions: tuple[Action, ...]) -> list[str]:
    return [phrase(action) for action in actions if isinstance(action, Run)]


def _touched(action: Action) -> list[tuple[Access, str]]:
    assert isinstance(action, Run)
    return [(touch.access, touch.place.text) for touch in action.operands.touches]


# What is certain --------------------------------------------------------------------------------------------------


@for_each(
    ("text", "is_doubtful"),
    [
        ("git log --oneline $(git merge-base HEAD main)..HEAD", False),
        ("head -n $(nproc) a", False),
        ("find $(pwd) -name a", False),
        ("git diff $(git rev-parse HEAD)..", False),
        ("git $(hostname) a", True),
        ("git log --output=$(date +%F)", True),
        ("sed $(hostname)x a", True),
        ("cd x; git log $(git rev-parse HEAD)..", True),
        ("find . $(basename a/-delete)", True),
    ],
)
def test_a_word_that_is_known_may_leave_no_doubt(text: str, *, is_doubtful: bool) -> None:
    """One number, the name of a commit, or a value, but no script, no sub-command and no option."""
    assert (_read(text).doubt is not None) is is_doubtful


@for_each("text", ["ls", "ls -l; pwd", "cat a | sort", "ls && ls || ls", "cat <a", "ls >/dev/null 2>&1"])
def test_a_command_that_only_reads_leaves_no_doubt(text: str) -> None:
    """Nor does it anything else."""
    reading = _read(text)
    assert (reading.doubt, reading.possible) == (None, ())


def test_commands_are_told_in_order() -> None:
    """Each with its own doubt; the first one stands for the whole."""
    reading = _read("ls; rm a; mv b c")
    assert _told(reading.certain) == ["ls", "rm a", "mv b c"]
    assert [run.doubt is None for run in reading.certain if isinstance(run, Run)] == [True, False, False]
    assert reading.doubt == "`rm` deletes files"


def test_a_command_knows_where_it_stands() -> None:
    """Its place in the text, and what is around it."""
    text = "ls; (rm a)"
    run = _read(text).certain[1]
    assert isinstance(run, Run)
    assert (text[run.start : run.end], run.within) == ("rm a", ("(…)",))


def test_operands_are_named_when_somebody_asks() -> None:
    """Paths in the folder of the command, and addresses that are never certain."""
    run = _read("cp -r a b && curl https://example.com/x").certain
    assert set(_touched(run[0])) >= {(Access.READ, "a"), (Access.WRITE, "b")}
    assert isinstance(run[1], Run)
    [connect] = run[1].operands.connects
    assert (connect.host, connect.is_certain) == ("example.com", False)


@for_each(
    ("text", "access", "path", "origin"),
    [
        ("cat <a", Access.READ, f"{WORK}/a", "< a"),
        ("ls >a", Access.WRITE, f"{WORK}/a", "> a"),
        ("ls >>a", Access.WRITE, f"{WORK}/a", ">> a"),
        ("ls &>a", Access.WRITE, f"{WORK}/a", "> a"),
        ("ls >|a", Access.WRITE, f"{WORK}/a", "> a"),
        ("ls 2>~/a", Access.WRITE, f"{HOME}/a", "> ~/a"),
        ("ls >'~/a'", Access.WRITE, f"{WORK}/~/a", "> ~/a"),
        ("cd sub && ls >a", Access.WRITE, f"{WORK}/sub/a", "> a"),
    ],
)
def test_a_redirection_touches_its_file(text: str, access: Access, path: str, origin: str) -> None:
    """Certain, with the words that say so; a tilde in quotes is a plain one."""
    reading = _read(text)
    touch = reading.certain[-1]
    assert isinstance(touch, Touch)
    assert (touch.access, touch.origin) == (access, origin)
    assert path in touch.place.names
    assert (reading.doubt is None) is (access is Access.READ)


@for_each("text", ["ls 2>&1", "ls >/dev/null", "cat <<<x", "cat <<E\nx\nE"])
def test_a_redirection_to_no_file_touches_none(text: str) -> None:
    """Another descriptor, the void, and text."""
    assert len(_read(text).certain) == 1


@for_each("kind", ["tcp", "udp"])
def test_a_redirection_may_open_a_connection(kind: str) -> None:
    """To bash these files are addresses; to no permission a certain one."""
    reading = _read(f"cat </dev/{kind}/evil.com/80")
    connect = reading.certain[-1]
    assert isinstance(connect, Connect)
    assert (connect.host, connect.port, connect.is_certain) == ("evil.com", 80, False)
    assert reading.doubt == f"`/dev/{kind}/evil.com/80` opens a network connection"


def test_where_the_call_has_moved_git_is_doubtful() -> None:
    """As behind a `cd`."""
    assert read_command("git status", HERE).doubt is None
    assert read_command("git status", HERE, has_moved=True).doubt is not None
    assert read_argv(["git", "status"], HERE, has_moved=True).doubt is not None
    assert read_command("ls", HERE, has_moved=True).doubt is None


# Arguments without a shell ----------------------------------------------------------------------------------------


def test_no_shell_reads_a_list_of_words() -> None:
    """What would be special in a text is plain."""
    [run] = read_argv(["rm", "*", "~", ";", "$x"], HERE).certain
    assert isinstance(run, Run)
    assert not any(word.is_glob or word.is_home or word.is_open for word in run.words)
    assert (Access.DELETE, "*") in _touched(run)


@for_each("argv", [[], [""], ["", "x"], ["a\0b"], ["ls", "\0"]])
def test_words_that_name_no_program_are_unknown(argv: list[str]) -> None:
    """Nor can a program receive the end of its own text."""
    reading = read_argv(argv, HERE)
    assert reading == ShellReading((Unknown(" ".join(argv), "no program is named"),), doubt="no program is named")


def test_a_shell_among_the_words_is_looked_into() -> None:
    """The common way to hand over a text."""
    reading = read_argv(["bash", "-lc", "ls && rm x"], HERE)
    assert _told(reading.certain) == ["ls", "rm x"]
    assert "bash -lc 'ls && rm x'" in _runs(reading.possible)


# Programs that run others -----------------------------------------------------------------------------------------


@for_each(("text", "certain", "wrapper"))
def test_a_wrapper_is_taken_off_and_told_as_possible(text: str, certain: list[str], wrapper: str) -> None:
    """A restriction may be about the wrapper itself; its commands are still there."""
    reading = _read(text)
    assert _told(reading.certain) == certain
    assert wrapper in _runs(reading.possible)
    assert set(certain) <= set(_runs(reading.possible))


def test_a_wrapper_around_what_reads_leaves_no_doubt() -> None:
    """What is possible besides makes nothing doubtful."""
    reading = _read("timeout 5 ls")
    assert (reading.doubt, bool(reading.possible)) == (None, True)


@for_each(("text", "inner"))
def test_what_a_program_runs_besides_itself_is_certain(text: str, inner: str) -> None:
    """Law 3: it must be permitted as well."""
    certain = _read(text).certain
    assert inner in _told(certain)
    [run] = [action for action in certain if isinstance(action, Run) and phrase(action) == inner]
    assert run.doubt == "it is not read with certainty"


@for_each(
    "text", ["ssh host rm -rf x", "docker run img rm -rf x", "podman exec c rm -rf x", "kubectl exec p -- rm -rf x"]
)
def test_what_runs_elsewhere_is_only_a_guess(text: str) -> None:
    """A rule on `ssh` or `docker` permits it; a restriction on what is inside still sees it."""
    reading = _read(text)
    assert _told(reading.certain) == [text]
    assert "rm -rf x" in _runs(reading.guessed)


def test_what_only_reads_runs_nothing_besides_itself() -> None:
    """Words that look like a command are no command."""
    assert _read("echo rm x && grep 'sudo rm' a").possible == ()
    assert _runs(_read("echo rm x").certain) == ["echo rm x"]


@for_each("text", ["BASH_ENV=x ls", "env -S ls", "echo 'rm x' | sh", "sh <<E\nrm x\nE"])
def test_a_wrapper_that_is_refused_is_unknown(text: str) -> None:
    """What runs is not certain, and what it may be is possible."""
    reading = _read(text)
    [unknown] = [action for action in reading.certain if isinstance(action, Unknown)]
    assert unknown.text in text
    assert reading.doubt == unknown.reason
    assert {"ls", "rm x"} & set(_runs(reading.possible))


def test_a_refused_command_tells_its_own_place() -> None:
    """The rest is as certain as ever."""
    reading = _read("ls; env -C A pwd; rm x")
    one, two, three = reading.certain
    assert (phrase(one), phrase(three)) == ("ls", "rm x")
    assert two == Unknown("env -C A pwd", "`env -C` changes the folder", 4)


def test_what_runs_too_deep_is_unknown() -> None:
    """No one looks through a hundred wrappers."""
    reading = _read(f"{'sudo ' * 200}rm x")
    assert any(isinstance(action, Unknown) for action in (*reading.certain, *reading.possible))


# Patches ----------------------------------------------------------------------------------------------------------


@for_each(
    "text", [f"apply_patch '{PATCH}'", f"apply_patch <<'E'\n{PATCH}\nE\n", f"cd . && apply_patch <<E\n{PATCH}\nE\n"]
)
def test_a_patch_in_a_command_touches_what_it_names(text: str) -> None:
    """As an argument, or as a here-document."""
    run = _read(text).certain[-1]
    assert isinstance(run, Run)
    assert _touched(run) == [(Access.WRITE, "a"), (Access.DELETE, "b")]
    assert run.operands.is_listed


def test_a_patch_from_a_file_is_not_known() -> None:
    """Its operands are not all."""
    run = _read("apply_patch <f").certain[0]
    assert isinstance(run, Run)
    assert not run.operands.is_listed


def test_a_patch_that_cannot_be_read_is_not_known() -> None:
    """What it names may not be all."""
    run = _read("apply_patch 'rubbish *** Begin Patch'").certain[0]
    assert isinstance(run, Run)
    assert not run.operands.is_listed
    assert touches_of_patch("rubbish", HERE) == ((), "no header of a file was found")


def test_a_patch_is_seen_where_only_the_lenient_reader_goes() -> None:
    """A restriction on the file holds it."""
    reading = _read(f"$x; apply_patch <<'E'\n{PATCH}\nE\n")
    assert isinstance(reading.certain[0], Unknown)
    touched = [each for run in reading.possible if isinstance(run, Run) for each in _touched(run)]
    assert (Access.DELETE, "b") in touched


# What is only possible --------------------------------------------------------------------------------------------


@for_each(("text", "offset", "possible"))
def test_what_the_strict_reader_refuses_is_one_unknown(text: str, offset: int, possible: str) -> None:
    """With the place where it stopped; the lenient reader says what may happen."""
    reading = _read(text)
    [unknown] = reading.certain
    assert isinstance(unknown, Unknown)
    assert (unknown.text, unknown.offset, unknown.reason) == (text, offset, reading.doubt)
    assert possible in _runs(reading.possible)


def test_a_text_is_read_leniently_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many of its programs are asked about their here-documents."""
    texts: list[str] = []

    def count(text: str) -> LooseReading:
        texts.append(text)
        return read_recursively(text)

    monkeypatch.setattr("permitry.actions.derive.recursive.read_recursively", count)
    text = "python - <<'E'\nprint(1)\nE\nsed -f - f <<'E'\np\nE"
    reading = read_command(text, HERE)
    assert [phrase(action) for action in reading.certain] == ["python -", "sed -f - f"]
    assert texts == [text]


def test_a_program_with_too_many_arguments_is_unknown() -> None:
    """As many as are allowed are read."""
    assert isinstance(read_argv(["echo", *["w"] * 4_095], HERE).certain[0], Run)
    reading = read_argv(["echo", *["w"] * 4_096], HERE)
    [unknown] = reading.certain
    assert isinstance(unknown, Unknown)
    assert (unknown.reason, reading.doubt) == ("more than 4096 arguments", "more than 4096 arguments")


@for_each("text", ["git status", "for a in 1 2 3 4 5 6 7 8 9; do ls " + "x" * 600 + "; done"])
def test_a_text_that_is_read_again_gives_the_same_actions(text: str) -> None:
    """Short readings are kept, by the text and by whether the folder was changed before it."""
    moved = read_command(text, HERE, has_moved=True)
    assert _read(text) == _read(text)
    assert read_command(text, HERE, has_moved=True) == moved
    assert (moved == _read(text)) is (text != "git status")


@for_each("text")
def test_what_an_assignment_changes_has_it(text: str) -> None:
    """Nested commands and redirections as well, wherever it is; one that changes nothing is left out."""
    reading = _read(text.replace("LD_PRELOAD", "CI=1 LD_PRELOAD"))
    found = [each for each in (*reading.certain, *reading.possible) if isinstance(each, Run | Touch)]
    about = [each for each in found if each.words and each.words[0].text == "cat"]
    assert about
    assert all(set(each.sets) == {"LD_PRELOAD=./e.so"} for each in about)
