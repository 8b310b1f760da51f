"""Where commands stand: what `cd` makes of the folder of a call."""

from pathlib import Path

from tests.tables import for_each

from permitry.actions.derive.script import read_command
from permitry.actions.folders import Folder
from permitry.core.action import Access, Descent, Run, Touch, Word

WORK, HOME = "/nowhere/me/work", "/nowhere/me"
HERE = Folder((WORK,), HOME)


def _files(text: str, folder: Folder = HERE) -> dict[str, tuple[set[str], bool]]:
    """Return, for each file that `cat` reads for certain, the names it may have and whether that is certain."""
    found: dict[str, tuple[set[str], bool]] = {}
    for action in read_command(text, folder).certain:
        if isinstance(action, Run) and action.argv[0] == "cat":
            for touch in action.operands.touches:
                found[touch.place.text] = (set(touch.place.names), touch.place.is_certain)
    return found


def _in(*folders: str, is_certain: bool = True) -> dict[str, tuple[set[str], bool]]:
    """Return that `x` is read in one of these folders, below the workspace if they are relative."""
    return {
        "x": (
            {f"{folder}/x" if folder[:1] == "/" else f"{WORK}/{folder}/x".replace("//", "/") for folder in folders},
            is_certain,
        )
    }


LOST: dict[str, tuple[set[str], bool]] = {"x": (set(), False)}
"""It may be read anywhere, so a restriction cannot tell and a permission does not hold."""


# One step ---------------------------------------------------------------------------------------------------------


@for_each(
    ("words", "bases", "is_certain"),
    [
        ([Word("sub")], (f"{WORK}/sub",), True),
        ([Word("/tmp")], ("/tmp",), True),  # noqa: S108 -- a name
        ([Word("..")], (HOME,), True),
        ([Word("~", is_home=True)], (HOME,), True),
        ([], (HOME,), True),
        ([Word("--")], (HOME,), True),
        ([Word("-P"), Word("--"), Word("sub")], (f"{WORK}/sub",), True),
        ([Word("sub"), Word("more")], (), False),
        ([Word("-")], (), False),
        ([Word("s*", is_glob=True)], (), False),
        ([Word("$x", is_open=True)], (), False),
    ],
)
def test_a_step_leads_to_another_folder(words: list[Word], bases: tuple[str, ...], is_certain: bool) -> None:  # noqa: FBT001 -- a parameter of the test
    """Where its one operand says; anything else is not certain."""
    moved = HERE.moved(words)
    assert (moved.bases, moved.is_certain, moved.home) == (bases, is_certain, HOME)


def test_without_a_home_a_step_home_leads_nowhere() -> None:
    """Then relative names may be anywhere."""
    moved = Folder((WORK,), None).moved([])
    assert (moved.bases, moved.is_certain) == ((), False)


def test_a_step_from_a_folder_that_is_not_certain_is_not_certain() -> None:
    """Unless it leads to an absolute one, and even then nothing is gained."""
    assert not Folder((WORK,), HOME, is_certain=False).moved([Word("sub")]).is_certain


def test_a_step_through_a_link_is_not_certain(tmp_path: Path) -> None:
    """A shell goes by the names: `..` leads back to where the link stands, not as the kernel goes."""
    (tmp_path / "far" / "target").mkdir(parents=True)
    (tmp_path / "link").symlink_to("far/target")
    moved = Folder((str(tmp_path),), None).moved([Word("link")])
    assert set(moved.bases) == {str(tmp_path / "far" / "target"), str(tmp_path / "link")}
    assert not moved.is_certain


def test_either_of_two_folders_is_certain_when_both_are() -> None:
    """Each is kept once."""
    one, two = Folder(("/a", "/b"), HOME), Folder(("/b", "/c"), HOME)
    assert one.joined(two) == Folder(("/a", "/b", "/c"), HOME)
    assert not one.joined(Folder(("/b",), HOME, is_certain=False)).is_certain


def test_too_many_folders_are_not_certain() -> None:
    """Sixteen are followed; behind one more it may be any."""
    many = Folder(tuple(f"/{i}" for i in range(16)), HOME)
    assert many.joined(Folder(("/0",), HOME)).is_certain
    more = many.joined(Folder(("/x",), HOME))
    assert (more.bases, more.is_certain) == ((), False)


@for_each(
    ("word", "is_certain"),
    [(Word("a"), True), (Word("*", is_glob=True), False), (Word("$x", is_open=True), False), (Word("*"), True)],
)
def test_a_word_is_a_place_in_the_folder(*, word: Word, is_certain: bool) -> None:
    """One that may become others is none in particular."""
    touch = HERE.place_of(word, Access.WRITE, origin="why")
    assert (touch.access, touch.origin, touch.place.is_certain) == (Access.WRITE, "why", is_certain)
    assert touch.place.lexical == (f"{WORK}/{word.text}",)
    assert isinstance(touch, Touch)
    assert HERE.place_of(word, Access.READ, descent=Descent.ALL).place.is_tree


# A whole script ---------------------------------------------------------------------------------------------------


@for_each(
    ("text", "files"),
    [
        ("cat x", _in("")),
        ("cd a && cat x", _in("a")),
        ("cd a && ls && cat x", _in("a")),
        ("cd a && cd b && cat x", _in("a/b")),
        ("cd ~ && cat x", _in(HOME)),
        ("cd && cat x", _in(HOME)),
        ("cd /etc && cat x", _in("/etc")),
        ("command cd a; cat x", _in("", "a")),
        ("cd a; cat x", _in("", "a")),
        ("cd a\ncat x", _in("", "a")),
        ("cd a || cat x", _in("", "a")),
        ("cd a && ls; cat x", _in("", "a")),
        ("cd a && ls || cat x", _in("", "a")),
        ("ls || cd a && cat x", _in("", "a")),
        ("cd a; cd b; cat x", _in("", "a", "b", "a/b")),
        ("cd a | cat x", _in("", "a")),
        ("cd a | ls && cat x", _in("", "a")),
        ("ls | cd a && cat x", _in("", "a")),
        ("cd a && ls | cat x", _in("", "a")),
        ("! cd a && cat x", _in("", "a")),
        ("(cd a); cat x", _in("", "a")),
        ("(cd a) && cat x", _in("", "a")),
        ("cd a && (cat x)", _in("", "a")),
        ("for f in a; do cd $f; done; cat x", _in("", "a")),
        ("cd -; cat x", LOST),
        (". .venv/bin/activate; cat x", _in("", is_certain=False)),
        ("source a; cat x", LOST),
        ("source */bin/activate; cat x", LOST),
        ("source .venv/bin/activate a; cat x", LOST),
        ("cd - && cat x", LOST),
        ("cd a b; cat x", LOST),
        ("cd a*; cat x", LOST),
        ("popd; cat x", LOST),
        ("pushd a; cat x", LOST),
        ("popd; cd a; cat x", LOST),
        ("popd; cd /etc && cat x", _in("/etc", is_certain=False)),
    ],
)
def test_a_script_is_followed(text: str, files: dict[str, tuple[set[str], bool]]) -> None:
    """Only right behind `cd x &&`, as far as the `&&` go, a command is surely in the new folder."""
    assert _files(text) == files


@for_each(
    "text",
    [
        "(cd a) && (cat x)",
        "(cd a && ls) && (ls && cat x)",
        "((cd a)) && ((cat x))".replace("((", "( (").replace("))", ") )"),
        "bash -c 'cd a' && bash -c 'cat x'",
        "bash -c '(cd a) && (cat x)'",
        "bash -c \"bash -c 'cd a' && bash -c 'cat x'\"",
        "! cd a && ! cat x",
        "bash -c '! cd a && ! cat x'",
    ],
)
def test_a_step_inside_one_construct_moves_nobody_inside_another(text: str) -> None:
    """A subshell ends with its folder, and behind `!` the step has failed: the old folder is one of those it may be."""
    names, _ = _files(text)["x"]
    assert f"{WORK}/x" in names


@for_each("text")
def test_whatever_changes_the_folder_is_followed(text: str) -> None:
    """A restriction on the file sees that it may be there, or that it may be anywhere."""
    names, _ = _files(text)[".ssh/id"]
    assert not names or f"{HOME}/.ssh/id" in names


def test_a_long_walk_ends_in_doubt() -> None:
    """Each `cd x;` doubles the folders it may be in."""
    text = "; ".join(f"cd d{i}" for i in range(6)) + "; cat x"
    names, is_certain = _files(text)["x"]
    assert (names, is_certain) == (set(), False)


def test_an_absolute_path_is_certain_in_whatever_folder() -> None:
    """Where a `cd` has led does not matter to it."""
    files = _files('cd "$X"; cat /srv/a b')
    assert (files["/srv/a"], files["b"]) == (({"/srv/a"}, True), (set(), False))


@for_each("folder", [HERE, HERE.lost(), Folder((WORK,), HOME, is_certain=False)])
def test_no_path_is_certain_where_any_command_may_run_first(folder: Folder) -> None:
    """Neither is an absolute one: `find` runs `cat` again after `ln` has made a link of what is on its way."""
    text = "find . -exec cat /a/x ';' -exec ln -s /etc /a ';'"
    assert _files(text, folder) == {"/a/x": ({"/a/x"}, False)}
    assert _files("find . -exec cat /a/x ';'", folder) == {"/a/x": ({"/a/x"}, True)}


def test_the_top_of_a_work_tree_is_found(tmp_path: Path) -> None:
    """Where git itself would find it; a folder that is not known, or without a repository above it, is its own."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    folder = Folder((str(tmp_path / "a"),), None)
    assert folder.top_of(Word("b")) == (Word(str(tmp_path)), "a/b")
    assert folder.top_of(Word("..")) == (Word(".."), "")
    for word in (Word("$x", is_open=True), Word("/")):
        assert folder.top_of(word) == (word, "")
