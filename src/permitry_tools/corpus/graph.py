"""What the documents name, and what is named together: the graph in the corpus."""

import sqlite3
from collections.abc import Iterable

import attrs

from permitry.port import count
from permitry_tools.corpus.entities import key_of
from permitry_tools.corpus.search import indent
from permitry_tools.corpus.store import CorpusStore

__all__ = ["overview", "relationship"]

_MOST_SHOWN = 20
_MOST_PASSAGES = 5
_MOST_NEIGHBOURS = 200
_MOST_SEEN = 5_000
_LONGEST_WAY = 4
_EXCERPT = 300


@attrs.frozen
class _Named:
    entity_id: int
    name: str


def overview(store: CorpusStore) -> str:
    """Return the most mentioned entities and the strongest relations, as text.

    Raises: `ToolError` when the corpus cannot be read.
    """
    with store.read() as connection:
        (documents,) = connection.execute("SELECT count(*) FROM documents").fetchone()
        (entities,) = connection.execute("SELECT count(*) FROM entities").fetchone()
        if not entities:
            return "No results found."
        most = connection.execute(
            "SELECT entity_id, name, kind, count(*) AS times FROM mentions JOIN entities USING (entity_id)"
            " GROUP BY entity_id ORDER BY times DESC, name LIMIT ?",
            (_MOST_SHOWN,),
        ).fetchall()
        pairs = _strongest(connection, [row[0] for row in most])
    lines = [f"{count(documents, 'document')}, {count(entities, 'entity', 'entities')}.", "", "Most mentioned:"]
    lines += [f"- {name} ({kind}): {count(times, 'passage')}" for _, name, kind, times in most]
    if pairs:
        lines += ["", "Named together most often:"]
        lines += [f"- {one} and {other}: {count(times, 'passage')}" for one, other, times in pairs]
    return "\n".join(lines)


def relationship(store: CorpusStore, entity_a: str, entity_b: str) -> str:
    """Return how two entities are related, as text: passages that name both, or the shortest way over others.

    Raises: `ToolError` when the corpus cannot be read.
    """
    with store.read() as connection:
        one, other = _entity(connection, entity_a), _entity(connection, entity_b)
        if one is None:
            return _unknown(connection, entity_a)
        if other is None:
            return _unknown(connection, entity_b)
        if one == other:
            return f"`{entity_a}` and `{entity_b}` are the same entity, {one.name}."
        together = _together(connection, one, other)
        if together:
            return f"{one.name} and {other.name} are named together:\n\n{together}"
        way = _way(connection, one, other)
    if way is None:
        return f"No way of at most {_LONGEST_WAY} steps leads from {one.name} to {other.name}."
    return f"{one.name} and {other.name} are never named together. They are linked:\n{' -> '.join(way)}"


def _strongest(connection: sqlite3.Connection, entities: list[int]) -> list[tuple[str, str, int]]:
    """Return the pairs among these entities that share most passages."""
    marks = ", ".join("?" * len(entities))
    return connection.execute(
        "SELECT one.name, other.name, count(*) AS times FROM relations"  # noqa: S608 -- question marks only
        " JOIN entities AS one ON one.entity_id = entity_a JOIN entities AS other ON other.entity_id = entity_b"
        f" WHERE entity_a IN ({marks}) AND entity_b IN ({marks}) AND one.name < other.name"
        " GROUP BY entity_a, entity_b ORDER BY times DESC, one.name, other.name LIMIT ?",
        (*entities, *entities, _MOST_SHOWN),
    ).fetchall()


def _entity(connection: sqlite3.Connection, name: str) -> _Named | None:
    """Return the entity of that name, or the only one whose name holds it."""
    exact = connection.execute("SELECT entity_id, name FROM entities WHERE key = ?", (key_of(name),)).fetchone()
    if exact is not None:
        return _Named(*exact)
    near = _near(connection, name, 2)
    return near[0] if len(near) == 1 else None


def _near(connection: sqlite3.Connection, name: str, most: int) -> list[_Named]:
    rows = connection.execute(
        "SELECT entity_id, name FROM entities WHERE instr(key, ?) > 0 ORDER BY length(key), key LIMIT ?",
        (key_of(name), most),
    )
    return [_Named(*row) for row in rows] if key_of(name) else []


def _unknown(connection: sqlite3.Connection, name: str) -> str:
    near = ", ".join(each.name for each in _near(connection, name, 5))
    return f"No entity `{name}` is named in the documents.{f' There are: {near}.' if near else ''}"


def _together(connection: sqlite3.Connection, one: _Named, other: _Named) -> str:
    rows = connection.execute(
        "SELECT words.rowid, documents.title, words.content FROM relations"
        " JOIN words ON words.rowid = relations.chunk_id JOIN chunks ON chunks.chunk_id = relations.chunk_id"
        " JOIN documents USING (document_id) WHERE entity_a = ? AND entity_b = ? ORDER BY words.rowid LIMIT ?",
        (one.entity_id, other.entity_id, _MOST_PASSAGES),
    )
    return "\n\n".join(
        f"[{number}] {title} (chunk {chunk_id})\n{indent(_excerpt(content, one.name))}"
        for number, (chunk_id, title, content) in enumerate(rows, 1)
    )


def _excerpt(content: str, name: str) -> str:
    """Return the part of a passage around a name."""
    if len(content) <= _EXCERPT:
        return content
    start = max(0, min(content.find(name) - _EXCERPT // 3, len(content) - _EXCERPT))
    return f"{'…' if start else ''}{content[start : start + _EXCERPT]}…"


def _way(connection: sqlite3.Connection, one: _Named, other: _Named) -> list[str] | None:
    """Return the names on a shortest way between two entities, or None when it is long or there is none."""
    came_from: dict[int, int | None] = {one.entity_id: None}
    edge = [one.entity_id]
    for _ in range(_LONGEST_WAY):
        following: list[int] = []
        for entity in edge:
            for (neighbour,) in connection.execute(
                "SELECT entity_b FROM relations WHERE entity_a = ? GROUP BY entity_b"
                " ORDER BY count(*) DESC, entity_b LIMIT ?",
                (entity, _MOST_NEIGHBOURS),
            ):
                if neighbour not in came_from:
                    came_from[neighbour] = entity
                    following.append(neighbour)
            if other.entity_id in came_from:
                return _names(connection, _steps(came_from, other.entity_id))
            if len(came_from) > _MOST_SEEN:
                return None
        edge = following
    return None


def _steps(came_from: dict[int, int | None], last: int) -> list[int]:
    steps, at = [], came_from[last]
    while at is not None:
        steps.append(at)
        at = came_from[at]
    return [*reversed(steps), last]


def _names(connection: sqlite3.Connection, entities: Iterable[int]) -> list[str]:
    find = "SELECT name FROM entities WHERE entity_id = ?"
    return [str(connection.execute(find, (entity,)).fetchone()[0]) for entity in entities]
