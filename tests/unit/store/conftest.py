"""The stores that pass one test suite."""

import contextlib
import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import psycopg
import pytest
from tests.postgres import Cluster

from permitry.store.records import is_address, store_at


def body(number: int, **more: object) -> str:
    """Return a record."""
    return json.dumps({"at": f"2026-11-{number % 28 + 1:02}", "event": "decided", "tool": f"t{number}", **more})


@attrs.frozen
class Place:
    """Where a store is; `store` is open there."""

    address: str
    store: Any

    def open(self) -> Any:  # noqa: ANN401 -- a store
        """Return another store of the same records."""
        return store_at(self.address)

    def change(self, statement: str, *values: object) -> None:
        """Change the tables behind the store's back."""
        if is_address(self.address):
            with psycopg.connect(self.address, options="-c search_path=permitry") as server:
                server.execute(statement.replace("?", "%s").encode(), values)
            return
        with contextlib.closing(sqlite3.connect(self.address)) as connection, connection:
            connection.execute(statement, values)
        connection.close()


@pytest.fixture(params=["sqlite", "postgres"])
def new_place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Place]]:
    """Return a maker of empty stores of each kind."""
    cluster: Cluster | None = request.getfixturevalue("postgres") if request.param == "postgres" else None
    made: list[Place] = []

    def new() -> Place:
        address = str(tmp_path / f"{len(made)}.db") if cluster is None else cluster.new()
        made.append(Place(address, store_at(address)))
        return made[-1]

    yield new
    for place in made:
        place.store.close()


@pytest.fixture
def place(new_place: Callable[[], Place]) -> Place:
    """Return a store with five records."""
    place = new_place()
    place.store.append(*map(body, range(5)))
    return place
