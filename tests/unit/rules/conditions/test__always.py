"""Answers for all calls of a tool at once."""

import pytest

from permitry.rules.conditions._always import every, opposite, some


@pytest.mark.parametrize(
    ("answers", "all_of_them", "any_of_them"),
    [
        ((), True, False),
        ((True, True), True, True),
        ((True, None), None, True),
        ((True, False), False, True),
        ((None, False), False, None),
        ((None, None), None, None),
        ((False, False), False, False),
        ((None, True, False), False, True),
    ],
)
def test_one_sure_answer_may_settle_it(
    *, answers: tuple[bool | None, ...], all_of_them: bool | None, any_of_them: bool | None
) -> None:
    """A sure no settles whether all hold, a sure yes whether one does; the order makes no difference."""
    assert every(answers) is every(reversed(answers)) is all_of_them
    assert some(answers) is some(reversed(answers)) is any_of_them


@pytest.mark.parametrize(("answer", "other"), [(True, False), (False, True), (None, None)])
def test_the_opposite_of_what_depends_depends(*, answer: bool | None, other: bool | None) -> None:
    """Only a sure answer can be turned round."""
    assert opposite(answer) is other
