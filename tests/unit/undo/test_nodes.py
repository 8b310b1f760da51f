"""What is at a path, and its extended attributes."""

import os
import stat
from pathlib import Path

import pytest

from permitry.undo import nodes
from permitry.undo.nodes import Kind, Node, attributes_of, kind_of, set_attributes


def test_a_node_is_the_same_from_json(tmp_path: Path) -> None:
    """Every field, also of a name that is not UTF-8."""
    made = Node.of(str(tmp_path), tmp_path.stat(), attributes={"user.x": "eA=="}, data="copies", offset=3)
    odd = Node(os.fsdecode(b"/\xff"), Kind.LINK, text="t", same="/a")
    for node in (made, odd, Node("/x", Kind.ABSENT)):
        again = Node.from_dict(node.to_dict())
        assert (again, again.mtime, again.data, again.offset) == (node, node.mtime, node.data, node.offset)


def test_the_time_of_a_file_or_link_counts_and_that_of_a_folder_does_not() -> None:
    """A folder gets another one with everything that changes in it."""
    for kind, counts in ((Kind.FILE, True), (Kind.FOLDER, False), (Kind.LINK, True)):
        assert (Node("/x", kind, mtime=1).state != Node("/x", kind, mtime=2).state) is counts
    assert Node("/x", Kind.FILE, data="a").state == Node("/x", Kind.FILE, data="b", offset=1).state


def test_only_files_folders_and_links_are_known() -> None:
    """A pipe, a socket and a device could not be brought back."""
    assert [kind_of(each) for each in (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK)] == [
        Kind.FILE, Kind.FOLDER, Kind.LINK,
    ]  # fmt: skip
    assert [kind_of(each) for each in (stat.S_IFIFO, stat.S_IFSOCK, stat.S_IFCHR, stat.S_IFBLK)] == [None] * 4


class _System:
    """Stands for `os`, with extended attributes in memory."""

    def __init__(self, **values: bytes) -> None:
        self.values = {name.replace("__", "."): value for name, value in values.items()}

    def listxattr(self, _: int) -> list[str]:
        return list(self.values)

    def getxattr(self, _: int, name: str) -> bytes:
        return self.values[name]

    def setxattr(self, _: int, name: str, value: bytes) -> None:
        self.values[name] = value

    def removexattr(self, _: int, name: str) -> None:
        del self.values[name]


def test_extended_attributes_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are there, with their values; others are removed. The label of the system is its own matter."""
    system = _System(user__a=b"1", security__selinux=b"s")
    monkeypatch.setattr(nodes, "os", system)
    kept = attributes_of(3)
    assert kept == {"user.a": "MQ=="}
    system.values = {"user.a": b"2", "user.b": b"3"}
    set_attributes(3, kept)
    assert system.values == {"user.a": b"1"}
    set_attributes(3, kept)


def test_an_attribute_that_cannot_be_set_again_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as a capability, which only root gives."""
    monkeypatch.setattr(nodes, "os", _System(security__capability=b"x"))
    with pytest.raises(PermissionError, match=r"security\.capability"):
        attributes_of(3)


def test_without_extended_attributes_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a system, or a file system, that has none."""
    monkeypatch.setattr(nodes, "os", object())
    assert attributes_of(3) == {}
    system = _System()
    monkeypatch.setattr(system, "listxattr", lambda _: open("/missing/file"), raising=True)  # noqa: SIM115, PTH123 -- it fails
    monkeypatch.setattr(nodes, "os", system)
    assert attributes_of(3) == {}
