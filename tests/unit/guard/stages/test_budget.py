"""A call counts for the budgets that its session shares, before it runs."""

from tests.unit.guard.stubs import ALLOWED, case_of, guard_of

from permitry.guard.stages.budget import charge


def test_where_nothing_is_shared_nothing_is_counted() -> None:
    """The case goes on as it is; what is counted is held by the tests of budgets."""
    case = case_of(ALLOWED)
    assert charge(case, guard_of()) is case
