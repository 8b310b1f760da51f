"""One test for a table of inputs: it is collected once, runs every row, and names each row that fails."""

import functools
import inspect
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import pytest

Test: TypeAlias = Callable[..., None]

_SHOWN = 20
_MOST_CHARACTERS = 300


@attrs.frozen
class Row:
    """The arguments of one call of a test, and how a failure names them."""

    label: str
    arguments: dict[str, Any]


def for_each(
    names: str | Sequence[str],
    table: Iterable[Any] | None = None,
    *,
    ids: Iterable[str] | Callable[[Any], str | None] | None = None,
    every: int = 1,
) -> Callable[[Test], Test]:
    """Return a decorator as `pytest.mark.parametrize` is one, whose test is one test.

    Without a table, it is the one with the name of the test in the `.toml` file next to the file of the test.
    A row has a `tmp_path` and a `monkeypatch` of its own; other fixtures serve the whole table. With `every`, it is of
    every so manieth row, and of all of them in a run with `-m large`.
    """
    given = None if table is None else tuple(_rows(names, table, ids))

    def decorate(test: Test) -> Test:
        rows = tuple(_rows(names, stored_table(test), ids)) if given is None else given

        @functools.wraps(test)
        def run(**fixtures: Any) -> None:  # noqa: ANN401 -- the fixtures of any test
            _run_all(test, rows[:: fixtures.pop("_every", 1)], fixtures)

        signature = inspect.signature(test)
        of_rows = set(_split(names))
        wanted = [parameter for name, parameter in signature.parameters.items() if name not in of_rows]
        if every > 1:
            wanted.append(inspect.Parameter("_every", inspect.Parameter.KEYWORD_ONLY))
        run.__signature__ = signature.replace(parameters=wanted)  # type: ignore[attr-defined]  # what pytest reads
        return _of_samples(every)(run) if every > 1 else run

    return decorate


def stored_table(test: Test) -> Sequence[Any]:
    """Return the rows of a test in the file next to it.

    Raises:
        KeyError: Where the file has no rows for it.
    """
    path = Path(inspect.getfile(inspect.unwrap(test))).with_suffix(".toml")
    return _tables(path)[test.__name__]


def stored_rows(file: str, name: str) -> tuple[Any, ...]:
    """Return a table that several tests read, from the `.toml` file next to theirs; each array in it is a tuple.

    Raises:
        KeyError: Where the file has no table of the name.
    """
    return tuple(map(_freeze, _tables(Path(file).with_suffix(".toml"))[name]))


def _freeze(value: object) -> object:
    return tuple(map(_freeze, value)) if isinstance(value, list) else value


@functools.cache
def _tables(path: Path) -> Mapping[str, Sequence[Any]]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _of_samples(every: int) -> Callable[[Test], Test]:
    return pytest.mark.parametrize(
        "_every", [pytest.param(every, id="some"), pytest.param(1, id="all", marks=pytest.mark.large)]
    )


def _split(names: str | Sequence[str]) -> list[str]:
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)


def _rows(
    names: str | Sequence[str], table: Iterable[Any], ids: Iterable[str] | Callable[[Any], str | None] | None
) -> Iterator[Row]:
    labels = None if ids is None or callable(ids) else list(ids)
    keys = _split(names)
    for number, entry in enumerate(table):
        values, label = _values(entry, len(keys))
        if label is None and labels is not None:
            label = labels[number]
        if label is None and callable(ids):
            label = ", ".join(ids(value) or repr(value) for value in values)
        arguments = dict(zip(keys, values, strict=True))
        yield Row(label or _describe(arguments), arguments)


def _values(entry: Any, count: int) -> tuple[Sequence[Any], str | None]:  # noqa: ANN401 -- a row of any table
    if hasattr(entry, "marks"):
        if entry.marks:
            raise ValueError(f"a row of a table has no marks: {entry}")
        return entry.values, None if entry.id is None else str(entry.id)
    return ((entry,) if count == 1 else entry), None


def _describe(arguments: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}"[:_MOST_CHARACTERS] for name, value in arguments.items())


def _run_all(test: Test, rows: Sequence[Row], fixtures: dict[str, Any]) -> None:
    """Call the test with each row.

    Raises:
        AssertionError: Or whatever a row raised, with the row as a note.
        ExceptionGroup: Of the first of them, where several rows failed.
    """
    assert rows, "a table without rows tests nothing"
    failures: list[BaseException] = []
    skips: list[str] = []
    for number, row in enumerate(rows):
        try:
            _run(test, number, row, fixtures)
        except pytest.skip.Exception as skip:
            skips.append(str(skip))
        except (Exception, pytest.fail.Exception) as failure:  # noqa: BLE001 -- every row is told
            failure.add_note(f"row {number + 1} of {len(rows)}: {row.label}")
            failures.append(failure)
    _report(failures, skips, len(rows))


def _run(test: Test, number: int, row: Row, fixtures: dict[str, Any]) -> None:
    own = dict(fixtures)
    folder: Path | None = own.get("tmp_path")
    if folder is not None:
        own["tmp_path"] = folder / f"row{number}"
        own["tmp_path"].mkdir()
    with pytest.MonkeyPatch.context() as patch:
        if "monkeypatch" in own:
            own["monkeypatch"] = patch
        test(**own, **row.arguments)


def _report(failures: Sequence[BaseException], skips: Sequence[str], count: int) -> None:
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise BaseExceptionGroup(f"{len(failures)} of {count} rows failed", failures[:_SHOWN])
    if skips:
        pytest.skip(f"{len(skips)} of {count} rows: {skips[0]}")
