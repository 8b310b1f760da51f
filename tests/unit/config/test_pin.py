"""A pin holds for exactly the bytes, names and places of a project's rule files."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.tables import for_each

from permitry.config.pin import PROJECT_FILE, Pin, ProjectFile, file_digest, read_project, real_path
from permitry.errors import ConfigError

ALLOW = '[[rule]]\nid = "permits"\neffect = "allow"\ntools = ["tool"]\n'
BLOCK = '[[rule]]\nid = "restricts"\neffect = "block"\ntools = ["tool"]\n'
TEMPLATE = '[template.mine]\nallow_tools = ["tool"]\n'
TOOL = '[tool.http_get]\ntraits = ["read_only"]\n'
MAIN, MORE = str(PROJECT_FILE), ".permitry/more.toml"


def _write(root: Path, name: str, *parts: str) -> str:
    """Write a rule file below `root` and return its SHA-256."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    content = "\n".join(["schema = 1", *parts]).encode()
    path.write_bytes(content)
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return the folder of a project that extends a second file of its own."""
    folder = tmp_path / "work"
    _write(folder, MAIN, 'extends = ["more.toml"]', ALLOW, TEMPLATE, TOOL)
    _write(folder, MORE, BLOCK)
    return folder


def _message(root: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        read_project(root)
    return caught.value.problems[0].message


def test_a_project_is_every_file_it_reaches_with_its_bytes(root: Path) -> None:
    """What is read are the files, in the order they are opened, each with its counts and its SHA-256."""
    first = hashlib.sha256((root / MAIN).read_bytes()).hexdigest()
    second = hashlib.sha256((root / MORE).read_bytes()).hexdigest()
    assert read_project(root).files == (
        ProjectFile(MAIN, first, permissions=1, templates=1, tools=1, restrictions=0),
        ProjectFile(MORE, second, permissions=0, templates=0, tools=0, restrictions=1),
    )


def test_a_shipped_set_is_counted_and_not_pinned(root: Path) -> None:
    """Its permissions will count too, so they are shown; its bytes change with permitry."""
    _write(root, MAIN, 'extends = ["permitry:coding-agent"]')
    project = read_project(root)
    shipped = {file.name: file for file in project.files}["permitry:coding"]
    assert (shipped.digest, shipped.templates) == (None, 2)
    assert set(project.pin.digests) == {MAIN}


def test_a_pin_holds_while_nothing_changes(root: Path) -> None:
    """The same bytes in the same places."""
    assert read_project(root).pin.holds()


@pytest.mark.parametrize("name", [MAIN, MORE])
def test_a_changed_byte_breaks_the_pin(root: Path, name: str) -> None:
    """Also in a file that is only extended, and also in a comment."""
    pin = read_project(root).pin
    with (root / name).open("a") as stream:
        stream.write("#")
    assert not pin.holds()


@pytest.mark.parametrize("name", [MAIN, MORE])
def test_a_file_that_is_gone_breaks_the_pin(root: Path, name: str) -> None:
    """Less is another project as well."""
    pin = read_project(root).pin
    (root / name).unlink()
    assert not pin.holds()


@pytest.mark.parametrize("name", [MAIN, MORE])
def test_a_link_in_place_of_a_file_breaks_the_pin(root: Path, name: str) -> None:
    """What a link leads to can change later, so the same bytes at its end are not enough."""
    pin = read_project(root).pin
    (root / name).rename(root / "aside.toml")
    (root / name).symlink_to(root / "aside.toml")
    assert not pin.holds()


def test_a_folder_swapped_for_a_link_breaks_the_pin(root: Path) -> None:
    """The real file is pinned, not the way to it."""
    pin = read_project(root).pin
    (root / ".permitry").rename(root / "moved")
    (root / ".permitry").symlink_to("moved")
    assert not pin.holds()


@pytest.mark.parametrize("replace", [os.mkfifo, Path.mkdir], ids=["pipe", "folder"])
def test_what_is_no_file_any_more_breaks_the_pin(root: Path, replace: Callable[[Path], None]) -> None:
    """No one waits for a pipe that no one fills."""
    pin = read_project(root).pin
    (root / MORE).unlink()
    replace(root / MORE)
    assert not pin.holds()


def test_a_link_inside_the_project_pins_what_it_leads_to(root: Path) -> None:
    """The name in the pin is that of the real file, and swapping the link breaks it."""
    (root / ".permitry").rename(root / "settings")
    (root / ".permitry").symlink_to("settings")
    pin = read_project(root).pin
    assert set(pin.digests) == {"settings/rules.toml", "settings/more.toml"}
    assert pin.holds()
    _write(root, "other/rules.toml", ALLOW)
    (root / ".permitry").unlink()
    (root / ".permitry").symlink_to("other")
    assert not pin.holds()


@pytest.mark.parametrize("extends", ["../../outside.toml", "link.toml"])
def test_a_project_that_reaches_outside_is_refused(root: Path, extends: str) -> None:
    """By path or by link."""
    _write(root.parent, "outside.toml", ALLOW)
    (root / ".permitry" / "link.toml").symlink_to(root.parent / "outside.toml")
    _write(root, MAIN, f'extends = ["{extends}"]')
    assert "lies outside the project" in _message(root)


def test_a_project_whose_folder_leads_outside_is_refused(root: Path) -> None:
    """Who may write there may be anybody."""
    (root / ".permitry").rename(root.parent / "elsewhere")
    (root / ".permitry").symlink_to(root.parent / "elsewhere")
    assert "lies outside the project" in _message(root)


def test_what_reaches_outside_is_not_shown(root: Path) -> None:
    """A mistake in a file outside is not shown."""
    (root.parent / "secret").write_text("password\n")
    _write(root, MAIN, 'extends = ["../../secret"]')
    with pytest.raises(ConfigError) as caught:
        read_project(root)
    assert "password" not in str(caught.value)


def test_a_folder_without_a_project_is_told(tmp_path: Path) -> None:
    """The way out names what is looked for."""
    assert _message(tmp_path) == f"there is no file `{PROJECT_FILE}` in it"


def test_a_circle_of_links_is_told(tmp_path: Path) -> None:
    """It is not a project either."""
    (tmp_path / "circle").symlink_to("circle")
    assert _message(tmp_path / "circle") == f"there is no file `{PROJECT_FILE}` in it"


def test_a_project_that_does_not_load_is_refused(root: Path) -> None:
    """All of its mistakes are reported."""
    _write(root, MORE, "[[rule]]", 'id = "x"', 'effect = "deny"')
    assert _message(root) == "unknown effect `deny`"


@pytest.mark.parametrize("text", [b"\xff", b"rule = 1", b"rule = [1]", b"tool = 1", None])
def test_a_file_that_changes_while_it_is_read_is_refused(
    root: Path, monkeypatch: pytest.MonkeyPatch, text: bytes | None
) -> None:
    """What is pinned has been read once, whole and sound."""
    monkeypatch.setattr("permitry.config.pin._content", lambda _: text)
    assert _message(root) == "the file changed while it was read"


def test_the_one_digest_depends_on_names_and_bytes() -> None:
    """Two files that swap their bytes make another digest; the order they are read in does not."""
    root, one, two = Path("/"), "1" * 64, "2" * 64
    assert Pin(root, {"a": one, "b": two}).digest == Pin(root, {"b": two, "a": one}).digest
    others = [{"a": two, "b": one}, {"a": one}, {"a": one, "c": two}]
    assert Pin(root, {"a": one, "b": two}).digest not in {Pin(root, other).digest for other in others}


@for_each(("size", "is_read"), [(0, True), (256 * 1024, True), (256 * 1024 + 1, False)])
def test_a_file_of_any_sensible_size_has_a_digest(tmp_path: Path, size: int, *, is_read: bool) -> None:
    """What is larger than a rule file may be is not read at all."""
    path = tmp_path / "file"
    path.write_bytes(b"x" * size)
    assert file_digest(path) == (hashlib.sha256(b"x" * size).hexdigest() if is_read else None)


def test_what_cannot_be_read_has_no_digest(tmp_path: Path) -> None:
    """No file, a folder, a pipe."""
    os.mkfifo(tmp_path / "pipe")
    assert [file_digest(path) for path in (tmp_path / "none", tmp_path, tmp_path / "pipe")] == [None] * 3


def test_a_real_path_follows_links_and_need_not_exist(tmp_path: Path) -> None:
    """Links on the way are followed, what is not there stays as it is written."""
    (tmp_path / "link").symlink_to("folder")
    assert real_path(tmp_path / "link" / "none") == real_path(tmp_path) / "folder" / "none"
