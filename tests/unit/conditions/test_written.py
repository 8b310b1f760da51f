"""What conditions share: how the value of a key is read, and what follows from one condition."""

import functools
import subprocess
import sys
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import attrs
import pytest
from tests.tables import for_each

from permitry.conditions.written import PlainCondition, Words, WrittenPattern, bare_type, sorted_repr
from permitry.core.action import Access
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Request


@attrs.frozen
class _Colour(PlainCondition):
    key: ClassVar[str] = "colour"
    table: ClassVar[Any] = Words
    description: ClassVar[str] = "A colour."

    words: tuple[str, ...]

    def holds(self, request: Request) -> bool:
        return request.call.tool in self.words

    def fact(self, request: Request) -> str:  # noqa: ARG002 -- the protocol's
        return "colour = red"


@attrs.frozen
class _Pattern(WrittenPattern):
    key: ClassVar[str] = "letters"
    description: ClassVar[str] = "Letters."

    text: str


@for_each(("table", "bare"), [(int, (int, ())), (Annotated[int, "x", 2], (int, ("x", 2)))])
def test_metadata_is_taken_off_a_type(table: object, bare: object) -> None:
    """Without any the type is as it was."""
    assert bare_type(table) == bare


def test_the_value_of_a_key_is_one_condition() -> None:
    """It is read whole, and its place is that of the key."""
    assert [_Colour.read(place, part) for place, part in _Colour.parts(("red", "blue"))] == [_Colour(("red", "blue"))]
    assert [place for place, _ in _Colour.parts(("red",))] == [()]


def test_each_pattern_of_a_key_is_read_alone() -> None:
    """With its number as its place."""
    parts = list(_Pattern.parts(("a*", "b*")))
    assert parts == [((0,), "a*"), ((1,), "b*")]
    assert [_Pattern.read(*part) for part in parts] == [_Pattern("a*"), _Pattern("b*")]
    assert _Pattern.has_wildcards


def test_a_condition_implies_an_equal_one_alone() -> None:
    """Unless its class knows better."""
    assert _Colour(("red",)).implies(_Colour(("red",)))
    assert not _Colour(("red",)).implies(_Colour(("blue",)))


def test_an_example_needs_no_context() -> None:
    """Unless the class says which."""
    fields: Mapping[str, Any] = _Colour.context("red", {})
    assert (_Colour.example, fields) == (None, {})


def test_a_set_reads_the_same_in_every_process() -> None:
    """Its order depends on the hashes of a process, and the version of a policy is made of the text."""
    assert sorted_repr({Access.WRITE, Access.READ}) == f"{{{Access.READ!r}, {Access.WRITE!r}}}"
    for when in ('traits = ["read_only", "open_world", "idempotent"]', 'path = "/**"\nwhen.access = ["read", "write"]'):
        rules = f"schema = 1\n[[rule]]\nid = 'a'\neffect = 'block'\nwhen.{when}\n"
        code = f"from permitry import load_policy; print(load_policy({rules!r}).version)"
        run = functools.partial(subprocess.run, [sys.executable, "-c", code], check=True, capture_output=True)
        assert len({run(env={"PYTHONHASHSEED": seed}).stdout for seed in "1234"}) == 1


def test_a_condition_must_say_when_it_holds() -> None:
    """Or how far it matches; what says neither is an error, so that a restriction with it applies."""

    class Silent(_Colour):
        def holds(self, request: Request) -> bool:
            return PlainCondition.holds(self, request)

    with pytest.raises(NotImplementedError):
        Silent(("red",)).match(Request(ToolCall("t"), AuthContext()))
