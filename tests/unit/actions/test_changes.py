"""What a call changes, as far as that is certain."""

from pathlib import Path

import pytest
from tests.tables import for_each

from permitry.actions.changes import Change, Changes, changes_of
from permitry.actions.extract import ReadActions
from permitry.core.action import Access, Actions, Connect, Delegate, Operands, Place, Run, Touch, Unknown, Word
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.spec import ArgumentRole, ToolSpec, ToolTraits
from permitry.core.well_known import WELL_KNOWN, well_known

_TRAITS = {"read_only": False, "open_world": False, "spawns_agent": False}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a file, a link to it, and a folder with a file."""
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "x").touch()
    (tmp_path / "a").touch()
    (tmp_path / "link").symlink_to("a")
    return tmp_path


def _changes(folder: Path, command: str) -> Changes:
    call = ToolCall("bash", {"command": command})
    tool = well_known(call)
    return changes_of(ReadActions("/home/me")(call, AuthContext(workspace=str(folder)), tool), tool)


@pytest.mark.parametrize(
    ("command", "changed"),
    [
        ("ls -l", ""),
        ("cat a | head", ""),
        ("rm a", "a/"),
        ("rm -r d", "d/"),
        ("rm link", "link/ a/"),
        ("mv a d", "a/ d/a/"),
        ("mv a b", "a/ b/ b/a/"),
        ("sed -i s/a/b/ a", "a"),
        ("gsed -i s/a/b/ a", "a"),
        ("grm a", "a/"),
        ("link a c", "a c"),
        ("echo x > a", "a"),
        ("echo x >> link", "a"),
        ("echo x | tee b", "b"),
        ("mkdir -p n/m", "n/m"),
        ("chmod -R u+w d", "d/"),
        ("cd d && rm x", "d/x/"),
        ("for f in a d/x; do rm $f; done", "a/ d/x/"),
        ("timeout 5 rm a", "a/"),
    ],
)
def test_all_that_a_command_changes_is_known(folder: Path, command: str, changed: str) -> None:
    """By name, with links followed as the command follows them; a slash: with all that is below."""
    expected = [Change(str(folder / name), name.endswith("/")) for name in changed.split()]
    assert set(_changes(folder, command).paths) == set(expected)
    assert _changes(folder, command).doubt is None


@pytest.mark.parametrize(
    ("command", "doubt"),
    [
        ("unknown-thing a", "it is not known what `unknown-thing a` changes"),
        ("rm *.o", "it is not known what `rm *.o` changes"),
        ("rm $X", "it is not known what `rm $X` changes"),
        ("rm .", "`.` is not certain"),
        ("echo x > $X", "`$X` is not certain"),
        ("tar xf a", "it is not known what `tar xf a` changes"),
        ("mv -b a d/x", "it is not known what `mv -b a d/x` changes"),
        ("PATH=. rm a", "it is not known what `rm a` changes"),
        ("rm a; python3 x.py", "it is not known what `python3 x.py` changes"),
        ("curl -o a https://a.example/", "it is not known what `curl -o a https://a.example/` changes"),
        ("git push", "it is not known what `git push` changes"),
        ("kill 3", "it is not known what `kill 3` changes"),
    ],
)
def test_what_is_not_known_of_a_command_is_a_doubt(folder: Path, command: str, doubt: str) -> None:
    """One such part is enough, and then no path is given."""
    assert _changes(folder, command) == Changes((), doubt)


def test_text_that_is_not_a_command_is_a_doubt(folder: Path) -> None:
    """Its reason is that of the reader."""
    doubt = _changes(folder, "rm a; $(").doubt
    assert doubt is not None


def _touch(access: Access = Access.WRITE, **rest: object) -> Touch:
    return Touch(access, Place("a", ("/w/a",), ("/w/a",), **rest))  # type: ignore[arg-type]  # the fields of a place


def _tool(traits: ToolTraits | None = None) -> ToolSpec:
    roles = {"path": ArgumentRole.WRITE_PATH}
    return ToolSpec("t", traits=ToolTraits(**_TRAITS) if traits is None else traits, roles=roles)


def test_what_a_tool_does_to_a_folder_is_not_known() -> None:
    """It may write anything below it, so that all of it counts; a redirection does not."""
    assert changes_of(Actions((_touch(),)), _tool()) == Changes((Change("/w/a", True),))
    redirection = Touch(Access.WRITE, _touch().place, words=(Word("echo"),))
    assert changes_of(Actions((redirection,)), WELL_KNOWN["bash"]) == Changes((Change("/w/a"),))


@for_each("place", [{"is_certain": False}, {"is_open": True}, {"is_glob": True, "text": "*"}, {"real": ()}], ids=str)
def test_a_path_that_may_be_another_is_a_doubt(place: dict[str, object]) -> None:
    """Whatever makes it so; unless it is only read."""
    fields = {"text": "a", "lexical": ("/w/a",), "real": ("/w/a",), **place}
    unsure = Place(**fields)  # type: ignore[arg-type]  # the fields of a place
    for access in (Access.WRITE, Access.DELETE):
        assert changes_of(Actions((_touch(), Touch(access, unsure))), _tool()).doubt is not None
    reads = Actions((_touch(), Touch(Access.READ, unsure)))
    assert changes_of(reads, _tool()) == Changes((Change("/w/a", True),))


def test_what_may_be_written_counts_as_written() -> None:
    """A program that reads a path, or writes it instead."""
    touch = Touch(Access.READ, _touch().place, instead=frozenset({Access.WRITE}))
    assert changes_of(Actions((touch,)), _tool()).paths == (Change("/w/a", True),)


@for_each("action", [Unknown("x", "why"), Connect("https://a.example"), Delegate("other")], ids=str)
def test_what_is_not_on_the_disk_cannot_be_undone(action: Unknown | Connect | Delegate) -> None:
    """A connection, an agent, and what is not known."""
    assert changes_of(Actions((_touch(), action)), _tool()).doubt is not None


def test_a_program_that_connects_cannot_be_undone() -> None:
    """Even where it is said to only read."""
    run = Run((Word("cat"),), read_operands=lambda: Operands(connects=(Connect("https://a.example"),)))
    assert changes_of(Actions((run,)), WELL_KNOWN["bash"]).doubt == "`cat` cannot be undone"


def test_a_wrapper_changes_nothing_by_itself() -> None:
    """What it runs is an action of its own."""
    run = Run((Word("timeout"),), doubt="it runs another program", is_wrapper=True)
    assert changes_of(Actions((run,)), WELL_KNOWN["bash"]) == Changes()


@for_each(
    ("tool", "doubt"),
    [
        (None, "it is not declared what the tool changes"),
        (ToolSpec("t", traits=ToolTraits(**_TRAITS)), "it is not declared what the tool changes"),
        (_tool(ToolTraits()), "the tool may change something outside of this machine"),
        (_tool(ToolTraits(open_world=False)), "the tool may start an agent"),
    ],
)
def test_a_tool_that_may_do_more_is_a_doubt(tool: ToolSpec | None, doubt: str) -> None:
    """Only its traits and roles together say that it changes nothing but the paths it is given."""
    assert changes_of(Actions((_touch(),)), tool) == Changes((), doubt)


def test_a_tool_that_changes_what_it_does_not_name_is_a_doubt() -> None:
    """It is known not to only read, and no argument says what it writes; a tool that only reads changes nothing."""
    assert changes_of(Actions(), WELL_KNOWN["update_plan"]).doubt == "it is not declared what the tool changes"
    assert changes_of(Actions(), WELL_KNOWN["read_file"]) == Changes()
