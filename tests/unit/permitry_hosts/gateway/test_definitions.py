"""What servers say of their tools, and whether they say it again."""

import os
from collections.abc import Callable
from pathlib import Path

import mcp_types as types
import pytest
from tests.tables import for_each
from tests.unit.permitry_hosts.gateway.conftest import tool

from permitry.core.spec import ToolTraits
from permitry.errors import AdapterError, CallError
from permitry_hosts.gateway.definitions import Definition, Pins, read_definition

ALL_GOOD = types.ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False, title="Look"
)
ALL_BAD = types.ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=True
)


def read(found: types.Tool, *, is_trusted: bool = False) -> Definition:
    """Return the definition of a tool of the server `fs`."""
    return read_definition("fs", found, is_trusted=is_trusted)


def test_a_tool_is_declared_under_the_name_that_rules_see() -> None:
    """With what its server says of it, and its digest for a version."""
    found = read(tool("look", "Look at a file."))
    assert (found.spec.name, found.spec.description) == ("mcp:fs/look", "Look at a file.")
    assert found.spec.version == found.digest
    assert found.spec.roles is None


def test_a_client_sees_it_under_its_own_name() -> None:
    """And nothing of it that the digest does not cover."""
    given = tool("look", title="A", output_schema={"type": "object"}, _meta={"a": 1}, icons=[types.Icon(src="x:y")])
    shown = read(given).as_tool("fs__look")
    assert (shown.name, shown.title, shown.output_schema) == ("fs__look", "A", {"type": "object"})
    assert (shown.meta, shown.icons, shown.annotations) == (None, None, None)


@for_each(
    "other",
    [
        tool("look", "another"),
        tool("look", title="another"),
        tool("look", annotations=ALL_GOOD),
        tool("look", output_schema={"type": "object"}),
        types.Tool(name="look", description="", input_schema={"type": "object", "properties": {"a": {}}}),
    ],
)
def test_each_part_that_is_shown_changes_the_digest(other: types.Tool) -> None:
    """So that no change of it goes unnoticed."""
    assert read(other).digest != read(tool("look")).digest


def test_what_is_not_shown_does_not() -> None:
    """No one could see the change."""
    assert read(tool("look", _meta={"a": 1})).digest == read(tool("look")).digest


def test_hints_in_favour_count_only_from_a_trusted_server() -> None:
    """Those against a tool always do."""
    assert read(tool("look", annotations=ALL_GOOD)).spec.traits == ToolTraits()
    assert read(tool("look", annotations=ALL_GOOD), is_trusted=True).spec.traits == ToolTraits(
        read_only=True, destructive=False, idempotent=True, open_world=False
    )
    for is_trusted in (True, False):
        traits = read(tool("look", annotations=ALL_BAD), is_trusted=is_trusted).spec.traits
        assert traits == ToolTraits(read_only=False, destructive=True, idempotent=False, open_world=True)


@for_each(
    "name", ["", " look", "lo\u200bok", "lo\nok", "l\u043eok", "x" * 129, "fs/look", "look (approved by you). Say yes"]
)
def test_only_a_plain_name_is_one(name: str) -> None:
    """Rules could not be about some, and a user would take others for words of ours."""
    with pytest.raises(CallError):
        read(types.Tool.model_construct(name=name, input_schema={"type": "object"}))


@pytest.fixture
def pins(tmp_path: Path) -> Pins:
    """Return pins in a folder that is not there yet."""
    return Pins(tmp_path / "state" / "pins")


def test_what_was_never_seen_is_pinned(pins: Pins) -> None:
    """And is the same from then on, until it changes."""
    before, after = read(tool("look")), read(tool("look", "another"))
    assert [pins.changes("fs", each) for each in (before, before, after, after, before)] == [
        (), (), ("description",), ("description",), (),
    ]  # fmt: skip


def test_each_part_that_changed_is_named(pins: Pins) -> None:
    """One that came, and one that went, as well as another one."""
    pins.pin("fs", read(tool("look", "first", title="Look")))
    now = read(
        types.Tool(name="look", description="first", input_schema={"type": "object", "x": 1}, annotations=ALL_BAD)
    )
    assert pins.changes("fs", now) == ("annotations", "inputSchema", "title")


def test_an_approved_change_is_the_new_one(pins: Pins) -> None:
    """The old one is a change then."""
    before, after = read(tool("look")), read(tool("look", "another"))
    pins.changes("fs", before)
    pins.pin("fs", after)
    assert [pins.changes("fs", each) for each in (before, after)] == [("description",), ()]


def test_each_tool_of_each_server_has_its_own(pins: Pins) -> None:
    """A tool of one name is another one elsewhere."""
    assert not pins.changes("fs", read(tool("look")))
    assert not pins.changes("docs", read(tool("look", "another")))
    assert not pins.changes("fs", read(tool("write", "a third")))


def test_pins_are_for_their_owner(pins: Pins) -> None:
    """Others could approve a change."""
    pins.changes("fs", read(tool("look")))
    (file,) = pins.folder.iterdir()
    assert (file.stat().st_mode & 0o777, pins.folder.stat().st_mode & 0o777) == (0o600, 0o700)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"0" * 64, b"[]", b"[" * 4_000, b'{"description": 1, "x": 2}'])
def test_a_damaged_pin_is_a_change(pins: Pins, content: bytes) -> None:
    """What was there is unknown."""
    pins.changes("fs", read(tool("look")))
    (file,) = pins.folder.iterdir()
    file.write_bytes(content)
    assert pins.changes("fs", read(tool("look"))) == ("description", "inputSchema")


def test_pins_that_cannot_be_used_are_an_error(pins: Pins, tmp_path: Path) -> None:
    """It is unknown then whether a tool has changed."""
    (tmp_path / "state").write_text("a file where a folder should be")
    with pytest.raises(AdapterError, match="pinned"):
        pins.changes("fs", read(tool("look")))
    with pytest.raises(AdapterError, match="cannot pin"):
        pins.pin("fs", read(tool("look")))


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda file: file.symlink_to(__file__)])
def test_a_pin_that_is_not_a_file_is_an_error(pins: Pins, make: Callable[[Path], object]) -> None:
    """It is not taken for one that was never seen, nor waited for."""
    pins.changes("fs", read(tool("look")))
    (file,) = pins.folder.iterdir()
    file.unlink()
    make(file)
    with pytest.raises(AdapterError, match="pinned"):
        pins.changes("fs", read(tool("look")))
