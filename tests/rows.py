"""A parametrized test is one test: its rows run one after another, each with fixtures of its own.

Every worker collects every test, so that thousands of rows would cost more than they take to run. A row that fails is
named in the failure. `pytest --rows` collects each row as a test, so that one can be chosen: `FILE::test[row]`. A test
with marks on single rows, or with the mark `apart`, as each of its rows takes seconds, is collected as pytest does it.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

import pytest
from _pytest.runner import runtestprotocol

__all__ = ["ParametrizedTest"]

Outcome: TypeAlias = Literal["passed", "failed", "skipped"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let single rows be chosen."""
    parser.addoption("--rows", action="store_true", help="collect each row of a parametrized test as a test")


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, name: str, obj: object
) -> "ParametrizedTest | None":
    """Collect a parametrized test as one."""
    if collector.config.getoption("rows") or not collector.istestfunction(obj, name):
        return None
    marks: Sequence[pytest.Mark] = getattr(obj, "pytestmark", ())
    if not any(mark.name == "parametrize" for mark in marks) or any(_is_apart(mark) for mark in marks):
        return None
    return ParametrizedTest.from_parent(collector, name=name, function=obj)


def _is_apart(mark: pytest.Mark) -> bool:
    if mark.name == "parametrize":
        return any(getattr(row, "marks", ()) for row in mark.args[1])
    return mark.name in ("apart", "xfail")


class ParametrizedTest(pytest.Item):
    """A test with all of its rows."""

    def __init__(self, *, function: Any, **rest: Any) -> None:  # noqa: ANN401 -- what pytest passes on
        super().__init__(**rest)
        self.function = function
        self.own_markers.extend(function.pytestmark)
        self.keywords.update((mark.name, mark) for mark in function.pytestmark)

    def runtest(self) -> None:
        """Refuse: the rows run in place of it."""
        raise NotImplementedError

    def reportinfo(self) -> tuple[str, int, str]:
        """Return where the test is."""
        code = self.function.__code__
        return code.co_filename, code.co_firstlineno - 1, self.name

    def rows(self) -> Iterable[pytest.Item]:
        """Return a test for each row."""
        parent: Any = self.parent
        return parent._genfunctions(self.name, self.function)  # type: ignore[no-any-return]  # noqa: SLF001 -- as pytest does


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run all rows of a parametrized test, and report them as one."""
    if not isinstance(item, ParametrizedTest):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    rows = list(item.rows())
    reports: list[pytest.TestReport] = []
    for row, following in zip(rows, [*rows[1:], nextitem], strict=True):
        reports += runtestprotocol(row, log=False, nextitem=following)
    item.ihook.pytest_runtest_logreport(report=_sum_up(item, reports))
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _sum_up(item: pytest.Item, reports: Sequence[pytest.TestReport]) -> pytest.TestReport:
    """Return one report, which failed or was skipped as soon as one of a row was, and names these rows."""
    failed = [each for each in reports if each.failed]
    skipped = [each for each in reports if each.skipped]
    outcome, shown = _outcome(failed, skipped)
    return pytest.TestReport(
        item.nodeid,
        item.location,
        dict.fromkeys(item.keywords, 1),
        outcome,
        shown,
        "call",
        [section for each in failed for section in each.sections],
        sum(each.duration for each in reports),
        min(each.start for each in reports),
        max(each.stop for each in reports),
    )


def _outcome(failed: Sequence[pytest.TestReport], skipped: Sequence[pytest.TestReport]) -> tuple[Outcome, Any]:
    if failed:
        return "failed", "\n\n".join(f"{each.nodeid} ({each.when})\n{each.longreprtext}" for each in failed)
    if skipped:
        told: Any = skipped[0].longrepr
        path, line, reason = told
        return "skipped", (path, line, f"{reason} ({len(skipped)} rows)")
    return "passed", None
