"""What tests of several folders share: random shell commands, built as trees and printed in random spelling."""

import gc
import itertools
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import pytest
from hypothesis import HealthCheck, settings

import permitry.actions
from permitry.actions.command import Command, Redirection
from permitry.actions.programs.catalogue import compact
from permitry.core.action import Word
from permitry.store.chained_store import Store
from permitry.store.records import store_at
from tests.hermetic import clear_home, forbid_writes, keep_bytecode, set_environment
from tests.postgres import Cluster, cluster
from tests.whole_calls import EVERYTHING, PUSH

PROGRAMS = Path(permitry.actions.__file__).with_name("programs.json")
pytest_plugins = ("tests.rows", "pytester")

_HOME = pytest.StashKey[Path]()
_BYTECODE = pytest.StashKey[Path]()


def pytest_configure(config: pytest.Config) -> None:
    """Keep the tests to themselves, let signals arrive, and make the quick form of `programs.toml` as a build does."""
    if not PROGRAMS.is_file() or PROGRAMS.read_text(encoding="utf-8") != compact():
        PROGRAMS.write_text(compact(), encoding="utf-8")
    config.stash[_HOME] = Path(tempfile.mkdtemp(prefix="home-"))
    config.stash[_BYTECODE] = Path(tempfile.mkdtemp(prefix="bytecode-"))
    set_environment(config.stash[_HOME])
    keep_bytecode(config.stash[_BYTECODE])
    forbid_writes()
    _restore_signals()
    _load_profile(config)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the home of the tests, and what was compiled."""
    for folder in (config.stash[_HOME], config.stash[_BYTECODE]):
        shutil.rmtree(folder, ignore_errors=True)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Give each test an empty home."""
    clear_home(item.config.stash[_HOME])


def _load_profile(config: pytest.Config) -> None:
    """Choose the examples: a change is judged by the same ones in each run, and only a night looks for new ones."""
    # A busy machine is not a fault of a law, so nothing here looks at the clock.
    timeless = settings(deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
    settings.register_profile("small", timeless, max_examples=30, derandomize=True)
    # With more, a night's run takes longer than 90 minutes on two cores.
    settings.register_profile("large", timeless, max_examples=1_000, derandomize=False, print_blob=True)
    settings.load_profile("large" if config.getoption("markexpr") == "large" else "small")


def _restore_signals() -> None:
    """Let signals arrive: shells and `nohup` ignore some for what they start, and children inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the collected tests out of the garbage collector, which else walks all of them again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session")
def warm_program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a program that is `permitry` without its start: see `tests/warm.py`."""
    program = tmp_path_factory.mktemp("warm") / "permitry"
    command = [sys.executable, str(Path(__file__).parent / "warm.py"), str(program)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/", start_new_session=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        yield program
        server.stdin.close()
        assert server.wait(timeout=20) == 0


@pytest.fixture(scope="session")
def warm_python(warm_program: Path) -> str:
    """Return a Python that runs scripts, and has all of permitry imported."""
    link = warm_program.with_name("python")
    link.symlink_to(warm_program)
    return str(link)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    """Return a running PostgreSQL."""
    with cluster() as server:
        yield server


@pytest.fixture
def own_postgres() -> Iterator[Cluster]:
    """Return a running PostgreSQL that the test may stop."""
    with cluster() as server:
        yield server


@pytest.fixture
def closing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close afterwards what `permitry.guard.ledgers` opens."""
    opened: list[Store] = []

    def open_store(name: str | Path, **options: Any) -> Store:  # noqa: ANN401 -- those of `store_at`
        opened.append(store_at(name, **options))
        return opened[-1]

    monkeypatch.setattr("permitry.guard.ledgers.store_at", open_store)
    yield
    for store in opened:
        store.close()


@pytest.fixture(params=["sqlite", "postgres"])
def new_address(request: pytest.FixtureRequest, tmp_path: Path, closing: None) -> Callable[[], str]:
    """Return a maker of addresses of empty stores of each kind."""
    del closing
    cluster: Cluster | None = request.getfixturevalue("postgres") if request.param == "postgres" else None
    numbers = itertools.count()
    return lambda: cluster.new() if cluster else str(tmp_path / f"{next(numbers)}.db")


@pytest.fixture
def address(new_address: Callable[[], str]) -> str:
    """Return the address of an empty store."""
    return new_address()


@pytest.fixture(scope="session")
def all_but_push(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a rule file that allows all but `git push`."""
    file = tmp_path_factory.mktemp("rules") / "push.toml"
    file.write_text(EVERYTHING + PUSH, encoding="utf-8")
    return file


Environment: TypeAlias = dict[str, str]

_BARE = "abcz019-_.,:@%+="
_TEXT = f"{_BARE} \t\n'\"\\$`*?[]{{}}~#!;&|<>()^é"
_UNTOUCHED = ("*", "*.py", "?", "[a-c]", "{}", "@{1}")
_PROGRAMS = ("ls", "git", "a", "x1", "grep", "echo", "b-c.d", "in_", "if2")


@attrs.frozen
class Part:
    """A piece of a word: `text`, in any quotes; `bare`, never quoted; `variable`, of a loop; `home`, a tilde."""

    kind: str
    text: str
    needs_quotes: bool = False

    def value(self, environment: Environment) -> str:
        """Return what the program receives."""
        return environment[self.text] if self.kind == "variable" else self.text


Parts: TypeAlias = tuple[Part, ...]


@attrs.frozen
class Redirected:
    """A redirection as it is printed; `lines` are those of a here-document."""

    operator: str
    target: Parts = ()
    lines: tuple[str, ...] = ()

    def meaning(self, environment: Environment) -> Redirection:
        """Return what the reader is to report."""
        match self.operator:
            case ">&1" | ">&2":
                return Redirection(">", None)
            case "<<" | "<<-" | "<<<":
                return Redirection("<", None)
            case operator:
                meant = {">|": ">", "&>": ">", "&>>": ">>"}.get(operator, operator)
                return Redirection(meant, joined(self.target, environment), self.target[0].kind == "home")


def joined(parts: Parts, environment: Environment) -> str:
    """Return the text of a word."""
    return "".join(part.value(environment) for part in parts)


def word(parts: Parts, environment: Environment) -> Word:
    """Return the word the reader is to report."""
    is_glob = any(part.kind == "bare" and set(part.text) & set("*?[") for part in parts)
    return Word(joined(parts, environment), is_glob=is_glob, is_home=bool(parts) and parts[0].kind == "home")


@attrs.frozen
class Simple:
    """A simple command: its program, and the words and redirections behind it, in order."""

    assignments: tuple[tuple[str, Parts], ...]
    program: str
    behind: "tuple[Parts | Redirected, ...]"


@attrs.frozen
class Compound:
    """A subshell `(`, a group `{`, or a loop, which has a name and values."""

    opening: str
    body: "Listed"
    redirections: tuple[Redirected, ...]
    name: str = ""
    values: tuple[str, ...] = ()


@attrs.frozen
class Pipeline:
    """Commands joined by `|` or `|&`; `pipes` has one less than there are commands."""

    is_negated: bool
    commands: tuple[Simple | Compound, ...]
    pipes: tuple[str, ...]


@attrs.frozen
class Listed:
    """Pipelines joined by `&&`, `||` or `;`; `connectors` has one less than there are pipelines."""

    pipelines: tuple[Pipeline, ...]
    connectors: tuple[str, ...]


def meanings(redirections: Iterable[Redirected], environment: Environment) -> tuple[Redirection, ...]:
    """Return what the reader is to report for redirections."""
    return tuple(each.meaning(environment) for each in redirections)


# What a tree means ----------------------------------------------------------------------------------------------------


def of_list(tree: Listed, follows: str, within: tuple[str, ...], environment: Environment) -> list[Command]:
    """Return the commands of a list in order, without their places."""
    commands: list[Command] = []
    for before, pipeline in zip((follows, *tree.connectors), tree.pipelines, strict=True):
        inside = (*within, "!") if pipeline.is_negated else within
        for pipe, behind, command in zip(
            (before, *pipeline.pipes), (*pipeline.pipes, ""), pipeline.commands, strict=True
        ):
            found = of_command(command, "|" if pipe == "|&" else pipe, inside, environment)
            more = [Redirection(">", None)] if behind == "|&" else []
            commands += [attrs.evolve(each, redirections=(*each.redirections, *more)) for each in found]
    return commands


def of_command(
    tree: Simple | Compound, follows: str, within: tuple[str, ...], environment: Environment
) -> list[Command]:
    """Return the commands of a simple or compound one."""
    if isinstance(tree, Simple):
        arguments = [word(each, environment) for each in tree.behind if not isinstance(each, Redirected)]
        assignments = tuple((name, joined(value, environment)) for name, value in tree.assignments)
        redirections = meanings((each for each in tree.behind if isinstance(each, Redirected)), environment)
        words = (Word(tree.program), *arguments)
        return [Command(words, assignments, redirections, follows=follows, within=within)]
    inside = (*within, {"(": "(…)", "{": "{…}", "for": "for"}[tree.opening])
    commands: list[Command] = []
    for value in tree.values or ("",):
        entered = {**environment, tree.name: value} if tree.name else environment
        commands += of_list(tree.body, ";" if commands else follows, inside, entered)
    redirections = meanings(tree.redirections, environment)
    return [attrs.evolve(each, redirections=(*each.redirections, *redirections)) for each in commands]


# Growing a tree -------------------------------------------------------------------------------------------------------


@attrs.define
class Grower:
    """Grows random trees; `names` are the loops around, and whether their variables need quotes."""

    chance: random.Random
    names: dict[str, bool] = attrs.Factory(dict)
    depth: int = 0

    def text(self, letters: str, longest: int) -> str:
        """Return random text."""
        return "".join(self.chance.choices(letters, k=self.chance.randint(0, longest)))

    def parts(self, *, can_be_glob: bool = True) -> Parts:
        """Return a random word."""
        if self.chance.random() > 0.95:
            return (Part("home", "~"),)
        return tuple(self.part(can_be_glob=can_be_glob) for _ in range(self.chance.randint(1, 2)))

    def part(self, *, can_be_glob: bool) -> Part:
        """Return a random piece of a word."""
        kind = self.chance.random()
        if self.names and kind > 0.7:
            name = self.chance.choice(list(self.names))
            return Part("variable", name, self.names[name])
        if can_be_glob and 0.6 < kind < 0.7:
            return Part("bare", self.chance.choice(_UNTOUCHED))
        return Part("text", self.text(_TEXT, 5))

    def redirections(self) -> tuple[Redirected, ...]:
        """Return some redirections, most often none."""
        return tuple(self.redirection() for _ in range(self.chance.choice((0, 0, 0, 0, 1, 2))))

    def redirection(self) -> Redirected:
        """Return a random redirection."""
        operator = self.chance.choice(("<", ">", ">>", ">|", "&>", "&>>", ">&1", ">&2", "<<<", "<<", "<<-"))
        if operator in (">&1", ">&2"):
            return Redirected(operator)
        if operator in ("<<", "<<-"):
            # The hyphen keeps a line from being the end of the document, or empty.
            letters = _TEXT.replace("\n", "")
            lines = tuple(f"{self.text(letters, 4)}-" for _ in range(self.chance.randint(0, 2)))
            return Redirected(operator, lines=lines)
        return Redirected(operator, self.parts(can_be_glob=operator == "<<<"))

    def simple(self) -> Simple:
        """Return a random simple command."""
        names = self.chance.choices(("A", "B_2", "_"), k=self.chance.choice((0, 0, 0, 1, 2)))
        # A tilde is refused in an assignment, as bash looks for one behind each colon.
        assignments = tuple((name, tuple(part for part in self.parts() if part.kind != "home")) for name in names)
        behind: list[Parts | Redirected] = [
            *(self.parts() for _ in range(self.chance.randint(0, 3))),
            *self.redirections(),
        ]
        self.chance.shuffle(behind)
        # A word behind `&>` is refused: a plain `sh` takes it for another command.
        is_last = [isinstance(each, Redirected) and each.operator.startswith("&") for each in behind]
        end = is_last.index(True) if any(is_last) else len(behind)
        behind = [*behind[:end], *(each for each in behind[end:] if isinstance(each, Redirected))]
        return Simple(assignments, self.chance.choice(_PROGRAMS), tuple(behind))

    def compound(self) -> Compound:
        """Return a random compound command."""
        opening = self.chance.choice(("(", "{", "for"))
        name = ""
        values: tuple[str, ...] = ()
        if opening == "for":
            name = self.chance.choice([each for each in ("f", "x", "name1") if each not in self.names])
            is_odd = self.chance.random() > 0.7
            letters = _TEXT if is_odd else _BARE
            values = tuple(self.text(letters, 4) + "v" for _ in range(self.chance.randint(1, 3)))
            self.names = {**self.names, name: is_odd}
        self.depth += 1
        body = self.listed()
        self.depth -= 1
        self.names = {each: odd for each, odd in self.names.items() if each != name}
        return Compound(opening, body, self.redirections(), name, values)

    def pipeline(self) -> Pipeline:
        """Return a random pipeline."""
        count = self.chance.choice((1, 1, 1, 2, 3))
        commands = tuple(
            self.compound() if self.depth < 2 and self.chance.random() > 0.8 else self.simple() for _ in range(count)
        )
        pipes = tuple(self.chance.choice(("|", "|", "|&")) for _ in commands[1:])
        return Pipeline(self.chance.random() > 0.9, commands, pipes)

    def listed(self) -> Listed:
        """Return a random list."""
        pipelines = tuple(self.pipeline() for _ in range(self.chance.choice((1, 1, 2, 3))))
        return Listed(pipelines, tuple(self.chance.choice((";", ";", "&&", "||")) for _ in pipelines[1:]))


# Printing a tree ------------------------------------------------------------------------------------------------------


@attrs.define
class Printer:
    """Prints trees in random quoting and spacing; `pending` are here-documents whose body is still to come."""

    chance: random.Random
    out: list[str] = attrs.Factory(list)
    pending: list[str] = attrs.Factory(list)

    def write(self, *texts: str) -> None:
        """Print texts one behind the other."""
        self.out += texts

    def blank(self, *, is_needed: bool = True) -> None:
        """Print blanks, or none where none are needed."""
        self.write(self.chance.choice((" ", " ", "\t", "  ") if is_needed else ("", " ", "\t ")))

    def newline(self) -> None:
        """Print a newline, perhaps a comment before it, and the here-documents that begin."""
        self.write(self.chance.choice(("", "", " # a 'note; $(", "\t#")), "\n", *self.pending)
        self.pending = []

    def newlines(self) -> None:
        """Print newlines where any number of them may stand."""
        self.blank(is_needed=False)
        while self.chance.random() > 0.8:
            self.newline()
            self.blank(is_needed=False)

    def separator(self) -> None:
        """Print what is between two commands."""
        self.blank(is_needed=False)
        if self.chance.random() < 0.5:
            self.write(";")
            self.newlines()
        else:
            self.newline()
            self.newlines()

    def quoted(self, text: str) -> None:
        """Print text in one or several kinds of quotes."""
        if not text:
            self.write(self.chance.choice(("''", '""')))
        while text:
            cut = self.chance.randint(1, len(text)) if self.chance.random() > 0.7 else len(text)
            self.write(self.spelled(text[:cut]))
            text = text[cut:]

    def spelled(self, text: str) -> str:
        """Return text in one kind of quotes that can hold it."""
        kinds = ['"' + "".join(f"\\{char}" if char in '$`"\\' else char for char in text) + '"']
        if "'" not in text:
            kinds.append(f"'{text}'")
        if "\n" not in text:
            kinds.append("".join(char if char in _BARE else f"\\{char}" for char in text))
        return self.chance.choice(kinds)

    def parts(self, parts: Parts) -> None:
        """Print a word."""
        if not parts:
            self.write("''")
        for index, part in enumerate(parts):
            if part.kind in ("home", "bare"):
                self.write("\\" if part.kind == "home" and index else "", part.text)
            elif part.kind == "variable":
                kinds = [f'"${part.text}"', f'"${{{part.text}}}"']
                self.write(self.chance.choice(kinds if part.needs_quotes else [*kinds, f"${{{part.text}}}"]))
            else:
                self.quoted(part.text)

    def redirection(self, tree: Redirected) -> None:
        """Print a redirection."""
        # What comes before must not become a part of it: no digit, and no `{name}`.
        if self.out[-1][-1:] in ("'", '"', ")"):
            self.blank(is_needed=False)
        else:
            self.blank()
            self.write(self.chance.choice({"<": ("", "0"), ">": ("", "1", "2"), "&": ("",)}[tree.operator[0]]))
        self.write(tree.operator)
        if tree.operator in ("<<", "<<-"):
            self.here_document(tree)
        elif tree.target:
            self.blank(is_needed=False)
            self.parts(tree.target)

    def here_document(self, tree: Redirected) -> None:
        """Print the end of a here-document, and keep its lines for the next newline."""
        ends = ['"E"', "'E'", "\\E"]
        if not any(set(line) & set("$`\\") for line in tree.lines):
            ends.append("E")
        self.write(self.chance.choice(ends))
        tab = self.chance.choice(("", "\t")) if tree.operator == "<<-" else ""
        self.pending.append("".join(f"{tab}{line}\n" for line in (*tree.lines, "E")))

    def command(self, tree: Simple | Compound) -> None:
        """Print a simple or compound command."""
        if isinstance(tree, Compound):
            self.compound(tree)
            return
        for name, value in tree.assignments:
            self.write(name, "=")
            if value:
                self.parts(value)
            self.blank()
        self.quoted(tree.program)
        for each in tree.behind:
            if isinstance(each, Redirected):
                self.redirection(each)
            else:
                self.blank()
                self.parts(each)

    def compound(self, tree: Compound) -> None:
        """Print a compound command."""
        if tree.opening == "for":
            self.write("for")
            self.blank()
            self.write(tree.name)
            self.blank()
            self.write("in")
            for value in tree.values:
                self.blank()
                self.quoted(value)
            self.separator()
            if self.pending:
                self.newline()
            self.write("do")
            self.blank()
        else:
            self.write(tree.opening)
            # `((` would be arithmetic.
            self.blank(is_needed=tree.opening == "{" or isinstance(tree.body.pipelines[0].commands[0], Compound))
        self.newlines()
        self.list_of_commands(tree.body)
        if tree.opening != "(":
            self.separator()
            if self.pending and tree.opening == "for":
                self.newline()
        self.write({"(": ")", "{": "}", "for": "done"}[tree.opening])
        for each in tree.redirections:
            self.redirection(each)

    def list_of_commands(self, tree: Listed) -> None:
        """Print a list."""
        for connector, pipeline in zip(("", *tree.connectors), tree.pipelines, strict=True):
            if connector == ";":
                self.separator()
            elif connector:
                self.joint(connector)
            if pipeline.is_negated:
                self.write("!")
                self.blank()
            for pipe, command in zip(("", *pipeline.pipes), pipeline.commands, strict=True):
                if pipe:
                    self.joint(pipe)
                self.command(command)

    def joint(self, connector: str) -> None:
        """Print `&&`, `||`, `|` or `|&`."""
        self.blank(is_needed=False)
        self.write(connector)
        self.newlines()

    def script(self, tree: Listed) -> str:
        """Return a whole text."""
        self.newlines()
        self.list_of_commands(tree)
        if self.pending or self.chance.random() > 0.7:
            self.newline()
        return "".join(self.out)


ShellTree: TypeAlias = Callable[[random.Random], tuple[str, list[Command]]]


@pytest.fixture(scope="session")
def shell_tree() -> ShellTree:
    """Return a maker of shell texts: from chance to a text and the commands in it, in order and without places."""

    def make(chance: random.Random) -> tuple[str, list[Command]]:
        tree = Grower(chance).listed()
        return Printer(chance).script(tree), of_list(tree, "", (), {})

    return make
