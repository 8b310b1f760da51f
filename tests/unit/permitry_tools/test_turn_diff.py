"""What a turn changed: the same text as `git diff` of the turn in a repository, within bounds, whatever did it."""

import os
import shutil
import subprocess
from pathlib import Path

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from permitry.core.call import ToolCall
from permitry.core.result import ToolResult
from permitry.errors import PermitryError
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry_tools import _git_diff, workspace_tools
from permitry_tools.turn_diff import TurnDiffTracker

PLAIN = {
    "HOME": "/nonexistent",
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


def git(root: Path, *words: str | bytes) -> bytes:
    """Return what git prints in a repository, without any settings of this machine."""
    done = subprocess.run(["git", *words], cwd=root, env=PLAIN, capture_output=True, check=True)
    return done.stdout


@attrs.define
class Repository:
    """A workspace that is a repository, and a tracker that knows nothing of that."""

    root: Path
    tracker: TurnDiffTracker
    tree: str = ""

    def begin(self) -> None:
        """Begin a turn for both."""
        git(self.root, "add", "-A", ".")
        self.tree = git(self.root, "write-tree").decode().strip()
        self.tracker.begin()

    def expected(self, *options: str) -> str:
        """Return the diff between the turn's beginning and now by git."""
        git(self.root, "add", "-A", ".")
        return git(self.root, "diff", "--cached", *options, self.tree).decode(errors="replace")

    def unstaged(self) -> str:
        """Return the diff by git as a user sees it who stages nothing: new files are only made known to it."""
        new = [name for name in git(self.root, "ls-files", "-o", "-z").split(b"\0") if name]
        if new:
            git(self.root, "add", "-N", "--", *new)
        return git(self.root, "diff").decode(errors="replace")


@pytest.fixture
def repository(root: Path) -> Repository:
    """Return an empty repository."""
    git(root, "init", "-q")
    return Repository(root, TurnDiffTracker(root))


@pytest.fixture
def files(root: Path) -> Path:
    """Return the workspace with some files in it."""
    (root / "src").mkdir()
    code = "".join(f"def f{number}():\n    return {number}\n\n" for number in range(20))
    (root / "src" / "code.py").write_text(code)
    (root / "notes.txt").write_text("one\ntwo\nthree\n")
    (root / "no end.txt").write_text("no newline")
    (root / "latin.txt").write_bytes(b"caf\xe9\n")
    (root / "picture.bin").write_bytes(bytes(range(256)))
    (root / "run.sh").write_text("#!/bin/sh\necho hello\n")
    (root / "link").symlink_to("notes.txt")
    return root


# Equal to `git diff` -------------------------------------------------------------------------------------------------

CHANGES = {
    "edit": "sed -i s/two/TWO/ notes.txt",
    "several hunks": "sed -i -e s/f1\\(\\)/g1/ -e s/return.17/return/ src/code.py",
    "new file": "echo new > new.txt",
    "new empty file": ": > empty",
    "new executable": "echo x > tool; chmod +x tool",
    "delete": "rm notes.txt src/code.py",
    "empty a file": ": > notes.txt",
    "end without a newline": "printf one > notes.txt; echo >> 'no end.txt'",
    "not UTF-8": "printf 'th\\351\\n' >> latin.txt",
    "binary": "printf x >> picture.bin; head -c 100 /dev/zero > zero",
    "carriage returns": "printf 'a\\r\\nb\\rc\\n' > notes.txt",
    "mode": "chmod +x run.sh",
    "mode and content": "chmod +x run.sh; echo more >> run.sh",
    "move": "mv notes.txt moved.txt",
    "move and edit": "mv src/code.py src/other.py; echo more >> src/other.py; chmod +x src/other.py",
    "move a folder": "mkdir lib; mv src lib/inner",
    "move a binary": "mv picture.bin p.bin",
    "copy": "cp notes.txt copy.txt",
    "link": "ln -s nowhere dangling; ln -sf src link",
    "link becomes file": "rm link; echo text > link",
    "file becomes link": "rm run.sh; ln -s notes.txt run.sh",
    "file becomes folder": "rm notes.txt; mkdir notes.txt; echo x > notes.txt/x",
    "folder becomes file": "rm -r src; echo x > src",
    "names": "echo a > 'a b'; echo b > é; printf 'x' > $'t\\tn\\nq\"\\\\'; echo c > $'\\xff'; echo d > -d",
    "names of git": "echo ignored > .gitignore; mkdir x; echo y > x/.gitmodules; echo z > .gitx",
    "renamed with odd names": "mv notes.txt 'ü \"x\"'",
    "swap": "mv notes.txt t; mv run.sh notes.txt; mv t run.sh",
    "nothing": "touch notes.txt; chmod go-r notes.txt; mkdir -p empty/folder; cp notes.txt x; rm x",
}


@pytest.mark.parametrize("kind", CHANGES)
def test_the_diff_is_that_of_git(repository: Repository, files: Path, kind: str) -> None:
    """For every kind of change, whatever made it."""
    repository.begin()
    subprocess.run(["bash", "-ec", CHANGES[kind]], cwd=files, check=True)
    text = repository.tracker.diff()
    # Git's index has no room for both a file and a folder of its name.
    assert kind in ("file becomes folder", "folder becomes file") or text == repository.unstaged()
    assert text == repository.expected()
    assert bool(text) == (kind != "nothing")


def test_a_turn_begins_where_the_last_one_ended(repository: Repository, files: Path) -> None:
    """Each diff is about its own turn, and grows while the turn goes on."""
    for number in range(3):
        repository.begin()
        for text in ("first\n", "second\n"):
            (files / f"{number}.txt").write_text(text)
            assert f"\n+{text}" in repository.tracker.diff()
        assert repository.tracker.diff() == repository.expected()
    repository.begin()
    assert repository.tracker.diff() == ""


PATCH = """*** Begin Patch
*** Add File: added.txt
+new
*** Update File: notes.txt
*** Move to: docs/notes.md
@@
 one
-two
+2
 three
*** Delete File: run.sh
*** End Patch"""


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("write_file", {"path": "deep/er/new.txt", "content": "one\ntwo"}),
        ("edit_file", {"path": "notes.txt", "old_text": "two", "new_text": "2"}),
        ("apply_patch", {"patch": PATCH}),
        ("run_shell", {"command": "sed -i s/two/2/ notes.txt"}),
        ("run_shell", {"command": "mv notes.txt src/"}),
        ("run_shell", {"command": "rm -r src"}),
        ("run_shell", {"command": "chmod +x run.sh"}),
        ("run_shell", {"command": "ln -s notes.txt new-link"}),
        ("shell", {"command": ["sh", "-c", "echo x >> notes.txt"]}),
    ],
    ids=lambda each: each if isinstance(each, str) else None,
)
def test_what_tools_do_is_in_the_diff(
    repository: Repository, files: Path, tool: str, arguments: dict[str, object]
) -> None:
    """Through the handler, with the shipped tools."""
    with workspace_tools(files) as registry:
        handler = ToolHandler(Session(yolo_mode=True), registry=registry, tracker=repository.tracker)
        assert handler.handle(ToolCall("read_file", {"path": "notes.txt"})).ok
        repository.begin()
        handler.begin_turn()
        result: ToolResult = handler.handle(ToolCall(tool, arguments))
        assert result.ok, result.text
        text = handler.turn_diff()
    assert text
    assert text == repository.expected()


def test_a_handler_without_a_tracker_knows_of_no_changes() -> None:
    """Its host may ask all the same."""
    handler = ToolHandler()
    handler.begin_turn()
    assert handler.turn_diff() is None


def test_a_turn_must_have_begun(root: Path) -> None:
    """There is nothing to compare with."""
    with pytest.raises(PermitryError, match="no turn has begun"):
        TurnDiffTracker(root).diff()


NAMES = st.sampled_from(["a", "b", "c d", "é", "x\ty", 'q"', "f/a", "f/b", "f/g/h", "z.txt"])
LINES = st.lists(st.sampled_from(["one\n", "two\n", "three\n", "  x = 1\n", "\n", "caf\udce9\n", "r\r\n"]), max_size=30)
TEXTS = st.one_of(
    LINES.map("".join), LINES.map(lambda lines: "".join(lines).removesuffix("\n")), st.just("\0binary"), st.just("")
)
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), NAMES, TEXTS),
        st.tuples(st.just("append"), NAMES, TEXTS),
        st.tuples(st.just("delete"), NAMES, st.none()),
        st.tuples(st.just("move"), NAMES, NAMES),
        st.tuples(st.just("execute"), NAMES, st.booleans()),
        st.tuples(st.just("link"), NAMES, st.sampled_from(["a", "/etc", "nowhere\n"])),
    ),
    max_size=8,
)


def remove(path: Path) -> None:
    """Remove whatever is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def perform(root: Path, kind: str, name: str, value: object) -> None:
    """Change something; what does not fit is skipped."""
    path = root / name
    if any((root / each).is_symlink() or (root / each).is_file() for each in Path(name).parents if each.name):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    is_file = path.is_file() and not path.is_symlink()
    match kind:
        case "write" | "link":
            remove(path)
            if kind == "link":
                path.symlink_to(str(value))
            else:
                path.write_bytes(os.fsencode(str(value)))
        case "append" if is_file:
            path.write_bytes(path.read_bytes() + os.fsencode(str(value)))
        case "delete":
            remove(path)
        case "execute" if is_file:
            path.chmod(0o755 if value else 0o644)
        case "move" if (
            path.exists()
            and not (root / str(value)).exists()
            and (root / str(value)).parent.is_dir()
            and name not in str(value)
        ):
            path.rename(root / str(value))


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=OPERATIONS, after=OPERATIONS)
def test_random_turns_are_those_of_git(
    tmp_path_factory: pytest.TempPathFactory,
    before: list[tuple[str, str, object]],
    after: list[tuple[str, str, object]],
) -> None:
    """Any tree, and any changes."""
    root = tmp_path_factory.mktemp("turn")
    git(root, "init", "-q")
    repository = Repository(root, TurnDiffTracker(root))
    for operation in before:
        perform(root, *operation)
    repository.begin()
    for operation in after:
        perform(root, *operation)
    assert repository.tracker.diff() == repository.expected()


# Without git ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def without_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let git be missing for the tracker."""
    monkeypatch.setattr(_git_diff, "find_git", lambda _: None)


@pytest.mark.usefixtures("without_git")
@pytest.mark.parametrize("kind", [each for each in CHANGES if "move" not in each and each != "swap"])
def test_without_git_the_diff_is_the_same_but_for_renames(repository: Repository, files: Path, kind: str) -> None:
    """The same headers and hunks; only the function behind `@@` is not named."""
    repository.begin()
    subprocess.run(["bash", "-ec", CHANGES[kind]], cwd=files, check=True)
    text = repository.tracker.diff()
    expected = repository.expected("--no-renames").split("\n")
    assert text.split("\n") == [line[: line.rfind("@@") + 2] if line.startswith("@@") else line for line in expected]
