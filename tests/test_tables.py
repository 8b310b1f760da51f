"""A table is one test, and nothing of a row that fails is lost."""

import tomllib
from pathlib import Path

import pytest

from tests.tables import Test, for_each, stored_rows


def _fails_at(*numbers: int) -> Test:
    @for_each("number", range(4))
    def test(number: int) -> None:
        assert number not in numbers

    return test


def test_a_table_without_a_failure_passes() -> None:
    """And every row was run."""
    seen = []

    @for_each(("left", "right"), [(1, 2), pytest.param(3, 4, id="last")])
    def test(left: int, right: int) -> None:
        seen.append((left, right))

    test()
    assert seen == [(1, 2), (3, 4)]


def test_the_row_that_fails_is_named() -> None:
    """One failure is raised as it is."""
    with pytest.raises(AssertionError) as caught:
        _fails_at(2)()
    assert caught.value.__notes__ == ["row 3 of 4: number=2"]


def test_all_rows_that_fail_are_named() -> None:
    """The first failure does not hide the others."""
    with pytest.raises(BaseExceptionGroup, match="2 of 4 rows failed") as caught:
        _fails_at(1, 3)()
    assert [note for failure in caught.value.exceptions for note in failure.__notes__] == [
        "row 2 of 4: number=1",
        "row 4 of 4: number=3",
    ]


def test_a_row_that_raises_nothing_where_it_should_is_a_failure() -> None:
    """`pytest.raises` fails with an exception of another kind."""

    @for_each("number", [1])
    def test(number: int) -> None:
        with pytest.raises(ValueError, match="never"):
            assert number

    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        test()


def test_an_empty_table_fails() -> None:
    """A table that is computed may have become empty."""

    @for_each("number", [])
    def test(number: int) -> None:
        raise NotImplementedError(number)

    with pytest.raises(AssertionError, match="without rows"):
        test()


def test_tables_multiply() -> None:
    """As with `parametrize`."""
    seen = []

    @for_each("left", "ab")
    @for_each("right", "cd", ids=str.upper)
    def test(left: str, right: str) -> None:
        seen.append(left + right)

    test()
    assert seen == ["ac", "ad", "bc", "bd"]


@for_each("number", range(3))
def test_a_row_has_a_folder_and_patches_of_its_own(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What one row writes or sets, the next does not find."""
    assert not list(tmp_path.iterdir())
    assert not hasattr(pytest, "row_of_a_table")
    (tmp_path / str(number)).touch()
    monkeypatch.setattr(pytest, "row_of_a_table", number, raising=False)


def test_a_row_that_is_skipped_is_told() -> None:
    """The others are run."""

    @for_each("number", range(3))
    def test(number: int) -> None:
        if number == 1:
            pytest.skip("needs the program x")

    with pytest.raises(pytest.skip.Exception, match="1 of 3 rows: needs the program x"):
        test()


def test_a_row_has_no_marks() -> None:
    """They would be lost."""
    with pytest.raises(ValueError, match="no marks"):
        for_each("number", [pytest.param(1, marks=pytest.mark.large)])


def test_a_sample_is_of_every_so_manieth_row() -> None:
    """All rows are for a run with `-m large`."""
    seen = []

    @for_each("number", range(10), every=4)
    def test(number: int) -> None:
        seen.append(number)

    (mark,) = test.pytestmark  # type: ignore[attr-defined]  # pytest sets it
    some, whole = mark.args[1]
    assert (some.marks, [each.name for each in whole.marks]) == ((), ["large"])
    test(_every=some.values[0])
    assert seen == [0, 4, 8]
    test(_every=whole.values[0])
    assert seen[3:] == list(range(10))


@for_each("number, text")
def test_a_table_may_be_in_a_file(number: int, text: str) -> None:
    """The file next to that of the test, with its name."""
    assert str(number) == text


def test_a_test_without_rows_in_the_file_is_not_collected() -> None:
    """It would pass as one whose rows all pass."""
    with pytest.raises(KeyError, match="test_without_rows"):

        @for_each("number")
        def test_without_rows(number: int) -> None:
            raise NotImplementedError(number)


def test_a_table_in_a_file_may_be_that_of_several_tests() -> None:
    """Its arrays are tuples, at any depth."""
    assert stored_rows(__file__, "SHARED") == ("a", ("b", (1, 2)))
    with pytest.raises(KeyError, match="OTHER"):
        stored_rows(__file__, "OTHER")


def test_each_table_in_a_file_is_read() -> None:
    """What no test reads tests nothing."""
    for path in Path(__file__).parent.rglob("test_*.toml"):
        source = path.with_suffix(".py").read_text(encoding="utf-8")
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        assert [each for each in tables if f"def {each}(" not in source and f'"{each}")' not in source] == [], path
