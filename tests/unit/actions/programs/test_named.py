"""What operands and options name: each by the role that the catalogue gives it."""

from typing import Any

import attrs
import pytest
from tests.tables import for_each

from permitry.actions.programs.entries import RefusedError, Shape
from permitry.actions.programs.named import Collector, Named
from permitry.core.action import Access, Descent, Word

A, B, HERE = Word("a"), Word("b"), Word(".")
READ, WRITE, DELETE = Access.READ, Access.WRITE, Access.DELETE


def _collector(*roles: str, here: str = "", is_remote: bool = False, **sets: str) -> Collector:
    words: dict[str, Any] = {name: frozenset(text.split()) for name, text in sets.items()}
    return Collector(attrs.evolve(Shape(roles, here=here, remote=is_remote), **words), frozenset())


@for_each(
    ("role", "named"),
    [
        ("text", []),
        ("read", [Named(READ, A)]),
        ("write", [Named(WRITE, A)]),
        ("delete", [Named(DELETE, A, is_entry=True)]),
        ("below", [Named(WRITE, A, is_tree=True, is_entry=True, is_filled=True, descent=Descent.NEW)]),
        ("kept", [Named(READ, A, is_entry=True, is_filled=True)]),
        ("read/delete", [Named(READ, A), Named(DELETE, A, is_entry=True)]),
    ],
)
def test_an_operand_is_what_its_role_says(role: str, named: list[Named]) -> None:
    """One that is both is named twice."""
    collector = _collector(role)
    collector.operand(role, A)
    assert collector.paths == named


def test_what_may_be_either_says_so() -> None:
    """It is read or written, and each says what it may be in place of that."""
    collector = _collector("any")
    collector.operand("any", A)
    assert [(each.access, each.instead) for each in collector.paths] == [
        (READ, frozenset({WRITE})),
        (WRITE, frozenset({READ})),
    ]


def test_the_value_of_an_option_is_named_by_the_shape() -> None:
    """An option without a value, or of another kind, names nothing."""
    collector = _collector(reads="-r", writes="-w", connects="-c", at="-d", folders="-t")
    for name, value in (
        ("-r", A),
        ("-w", B),
        ("-c", Word("host")),
        ("-d", Word("@f")),
        ("-x", A),
        ("-r", None),
    ):
        collector.option(name, value)
    assert collector.paths == [Named(READ, A), Named(WRITE, B), Named(READ, Word("f"))]
    assert collector.hosts == [Word("host")]


def test_an_address_that_is_a_file_is_refused() -> None:
    """It is not a connection, and nothing here reads what it names."""
    with pytest.raises(RefusedError, match="is a file"):
        _collector().operand("host", Word("FILE:///etc/passwd"))


def test_an_operand_of_another_machine_is_a_host() -> None:
    """Where the program takes such ones; a path before the colon is a path."""
    collector = _collector("read", is_remote=True)
    for text in ("host:/etc", "./a:b"):
        collector.operand("read", Word(text))
    assert [word.text for word in collector.hosts] == ["host"]
    assert collector.paths == [Named(READ, Word("./a:b"))]


def test_an_operand_is_a_name_with_its_value() -> None:
    """As of `dd`; one without a value is refused."""
    collector = _collector(writes="of")
    collector.operand("pair", Word("of=a"))
    assert collector.paths == [Named(WRITE, A)]
    with pytest.raises(RefusedError):
        collector.operand("pair", A)


@for_each(
    ("here", "operands", "named"),
    [
        ("write", [], [Named(WRITE, HERE, is_tree=True, is_entry=True, is_filled=True, descent=Descent.NEW)]),
        ("read", [], [Named(READ, HERE)]),
        ("read", [A], [Named(READ, A)]),
        ("trees", [], []),
        ("", [], []),
    ],
)
def test_without_an_operand_the_current_folder_is_meant(here: str, operands: list[Word], named: list[Named]) -> None:
    """By programs that take it then; of its trees only with an option for them."""
    collector = _collector("read*", here=here, trees="-r")
    for word in operands:
        collector.operand("read", word)
    collector.here()
    assert collector.paths == named


def test_a_copy_has_its_sources_and_its_target() -> None:
    """Below a folder that an option names, or that several sources need."""
    one, two = _collector("read+", "into"), _collector("read+", "into")
    one.operand("read", A)
    two.operand("read", A)
    two.operand("read", B)
    for collector in (one, two):
        collector.operand("into", Word("to"))
    (first,), (second,) = one.copies(), two.copies()
    assert (first.sources, first.target, first.is_below) == ((A,), Word("to"), None)
    assert (second.sources, second.is_below) == ((A, B), True)
    assert list(_collector("read").copies()) == []
