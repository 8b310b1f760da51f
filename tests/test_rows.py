"""A parametrized test is one test, and nothing of a row that fails is lost."""

import pytest

_TABLE = """
import pytest

@pytest.fixture
def seen():
    return []

@pytest.mark.parametrize("number", {rows})
def test_numbers(number, seen, tmp_path):
    assert not seen
    assert not list(tmp_path.iterdir())
    seen.append(number)
    (tmp_path / "left").touch()
    print("printed by", number)
    if number > 6:
        pytest.skip("too large")
    assert number < 5

def test_the_next():
    pass
"""


def _run(pytester: pytest.Pytester, rows: str, *options: str) -> pytest.RunResult:
    pytester.makepyfile(_TABLE.format(rows=rows))
    return pytester.runpytest_inprocess("-p", "tests.rows", "-p", "no:cacheprovider", "-rs", *options)


def test_all_rows_are_one_test(pytester: pytest.Pytester) -> None:
    """And each has fixtures of its own."""
    _run(pytester, "[1, 2, 3]").assert_outcomes(passed=2)


def test_the_rows_that_fail_are_named(pytester: pytest.Pytester) -> None:
    """With what they print, and the first failure does not hide the others."""
    result = _run(pytester, "[1, 5, 2, 6]")
    result.assert_outcomes(passed=1, failed=1)
    shown = [
        "*test_numbers[[]5] (call)",
        "*assert 5 < 5",
        "*test_numbers[[]6] (call)",
        "*printed by 5",
        "*printed by 6",
    ]
    result.stdout.fnmatch_lines(shown)
    assert "printed by 1" not in result.stdout.str()


def test_a_row_that_is_skipped_is_not_lost(pytester: pytest.Pytester) -> None:
    """The reason is shown, unless another row fails."""
    result = _run(pytester, "[1, 7, 8]")
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["*too large (2 rows)"])
    _run(pytester, "[7, 5]").assert_outcomes(passed=1, failed=1)


def test_a_fixture_that_fails_is_a_failure(pytester: pytest.Pytester) -> None:
    """Before a row and behind it."""
    text = """
import pytest

@pytest.fixture(autouse=True)
def around(number):
    assert number != 1
    yield
    assert number != 2

@pytest.mark.parametrize("number", range(4))
def test_it(number):
    pass
"""
    pytester.makepyfile(text)
    result = pytester.runpytest_inprocess("-p", "tests.rows")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*test_it[[]1] (setup)", "*test_it[[]2] (teardown)"])
    assert "test_it[0]" not in result.stdout.str()


def test_a_row_can_be_chosen(pytester: pytest.Pytester) -> None:
    """As a test of its own."""
    result = _run(pytester, "[1, 5, 2]", "--rows", "test_a_row_can_be_chosen.py::test_numbers[5]")
    result.assert_outcomes(failed=1)
    _run(pytester, "[1, 5, 2]", "--rows").assert_outcomes(passed=3, failed=1)


def test_marked_rows_are_collected_one_by_one(pytester: pytest.Pytester) -> None:
    """A mark chooses single rows."""
    result = _run(pytester, "[1, pytest.param(5, marks=pytest.mark.xfail), 2]")
    result.assert_outcomes(passed=3, xfailed=1)


def test_marks_of_the_test_choose_all_of_it(pytester: pytest.Pytester) -> None:
    """As any test's."""
    text = _TABLE.format(rows="[1]").replace(
        "@pytest.mark.par", "@pytest.mark.skipif(True, reason='never')\n@pytest.mark.par"
    )
    pytester.makepyfile(text)
    pytester.runpytest_inprocess("-p", "tests.rows", "-m", "not skipif").assert_outcomes(passed=1, deselected=1)
    pytester.runpytest_inprocess("-p", "tests.rows").assert_outcomes(passed=1, skipped=1)
