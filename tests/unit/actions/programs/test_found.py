"""Where the names come from that a command prints, and which commands print one word."""

from tests.tables import for_each

from permitry.actions.programs.found import found_by, prints_plain
from permitry.actions.reading.strict import read_strictly
from permitry.core.words import Found


def _found(text: str) -> Found | None:
    found: Found | None = None
    for command in read_strictly(text):
        found = found_by(command, found)
    return found


@for_each(
    ("text", "tops"),
    [
        ("find src lib", "src lib"),
        ("/usr/bin/find src", "src"),
        ("git ls-files src", "."),
        ("git grep -l x", "."),
        ("rg -l x", "."),
        ("rg -l x src lib", "src lib"),
        ("rg -l -e x src", "src"),
        ("grep -rl x src", "src"),
        ("fd x src", "src"),
        ("fd", "."),
        ("ls", "."),
        ("ls src", ". src"),
        ("find src | sort | head -3", "src"),
    ],
)
def test_where_names_come_from(text: str, tops: str) -> None:
    """`ls` prints names without their folder, so that they are looked for in the current one."""
    found = _found(text)
    assert found is not None
    assert " ".join(top.text for top in found.tops) == tops


@for_each(
    "text",
    [
        "./find src", "find src | ./sort", "X=1 find src", "git ls-files ../x", "git ls-files :/", "git ls-files /x",
        "git ls-files --full-name", "git ls-files --recurse-submodules", "git grep -l x main", "git diff --name-only",
        "rg -L -l x", "rg -f x -l", "grep -R -l x", "fd -L x", "ls -a", "ls --all", "ls -f", "ls src lib", "ls $x",
        "rg -l x $y", "find src | xargs grep -l x", "cat x",
    ],
)  # fmt: skip
def test_where_that_is_not_known(text: str) -> None:
    """Names from elsewhere, from the top of a work tree, or by a search that follows links."""
    assert _found(text) is None


@for_each(
    ("text", "is_apart"),
    [
        ("find -print0", True),
        ("git ls-files -z", True),
        ("rg -0l x", False),
        ("find", False),
        ("find -print0 | sort", False),
    ],
)
def test_what_separates_names(text: str, *, is_apart: bool) -> None:
    """A filter may cut a name at a newline in it."""
    found = _found(text)
    assert found is not None
    assert found.is_apart is is_apart


@for_each(
    ("text", "is_plain"),
    [
        ("nproc", True), ("id -u", True), ("date +%Y-%m-%d", True), ("wc -l < f", True),
        ("git merge-base HEAD main", True),
        ("git rev-parse --short HEAD", True), ("uname -m", True), ("date +a/%d", False), ("date +.env", False),
        ("wc -l f", False), ("git rev-parse x", False), ("git merge-base HEAD $x", False), ("X=1 nproc", False),
        ("./nproc", False), ("echo a", False), ("nproc < f", False), ("nproc > f", False),
    ],
)  # fmt: skip
def test_what_prints_one_word(text: str, *, is_plain: bool) -> None:
    """A number, a date or a hash, in which there is no slash."""
    (command,) = read_strictly(text)
    assert prints_plain(command) is is_plain
