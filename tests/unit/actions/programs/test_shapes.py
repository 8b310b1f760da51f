"""Whether the words of a program fit a shape of its operands."""

import pytest
from tests.tables import for_each

from permitry.actions.programs.arguments import Parts
from permitry.actions.programs.entries import Entry, RefusedError, Shape
from permitry.actions.programs.shapes import check_shape, is_many, roles_by_shape
from permitry.core.action import Word

OPEN = Word("$x", is_open=True)


@for_each(
    ("operands", "words", "expected"),
    [
        (("read+", "into"), "a b c", "read read into"),
        (("read", "write?"), "a", "read"),
        (("text", "read*"), "a", "text"),
        (("read",), "a b", None),
        (("read+", "into"), "a", None),
        (("read", "into"), "a", None),
    ],
)
def test_each_operand_has_a_role(operands: tuple[str, ...], words: str, expected: str | None) -> None:
    """Of a role for many, each as many as are left; too few or too many are refused."""
    parts = Parts(operands=[Word(text) for text in words.split()])
    if expected is None:
        with pytest.raises(RefusedError):
            list(roles_by_shape(Shape(operands), parts))
    else:
        assert " ".join(role for role, _ in roles_by_shape(Shape(operands), parts)) == expected


def test_a_role_of_many_is_written_with_a_sign() -> None:
    """A star or a plus."""
    assert [is_many(role) for role in ("read", "read?", "read*", "read+")] == [False, False, True, True]


@for_each(
    ("parts", "shape", "entry"),
    [
        (Parts(is_spread=True), Shape(("read*",)), Entry()),
        (Parts(found=[("-x", None)]), Shape(("read*",), unsure=frozenset({"-x"})), Entry()),
        (Parts(found=[("-x", OPEN)]), Shape(("read*",), literal=frozenset({"-x"})), Entry()),
        (Parts(operands=[Word("@a")]), Shape(("read*",)), Entry(refused_start="@")),
        (Parts(operands=[OPEN]), Shape(("read*",)), Entry(script="jq")),
        (Parts(operands=[Word("a"), Word("-x")], before=2), Shape(("read*",)), Entry(options_first=True)),
    ],
)
def test_what_may_name_more_is_refused(parts: Parts, shape: Shape, entry: Entry) -> None:
    """An option, an expansion or a text by which the operands are not all."""
    with pytest.raises(RefusedError):
        check_shape([Word("a")], parts, entry, shape)
