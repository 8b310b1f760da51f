"""A small corpus: three documents about an engine, a bank and a journey."""

from collections.abc import Callable
from pathlib import Path

import pytest

from permitry.core.call import ToolCall
from permitry.core.result import ToolResult
from permitry.dispatch.registry import ToolRegistry
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry_tools.corpus import register
from permitry_tools.corpus.service import Corpus
from permitry_tools.corpus.store import CorpusStore

ENGINE = """# The Analytical Engine

Ada Lovelace wrote notes on the Analytical Engine. Charles Babbage designed it. Its input was a `punch_card`. #computing

Luigi Menabrea described it first.
"""
BANK = """<html><head><title>A bank</title></head>
<body><h1>Bank of England</h1><p>Charles Babbage visited the Bank of England.</p></body></html>
"""
JOURNEY = "Luigi Menabrea travelled to Turin, where he met the Royal Society.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the three files."""
    folder = tmp_path / "documents"
    folder.mkdir()
    for name, text in (("2024-05-01-engine.md", ENGINE), ("bank.html", BANK), ("journey.txt", JOURNEY)):
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def empty(tmp_path: Path) -> CorpusStore:
    """Return a corpus whose file is not there yet."""
    return CorpusStore(tmp_path / "corpus.sqlite3")


@pytest.fixture
def store(empty: CorpusStore, folder: Path) -> CorpusStore:
    """Return the corpus with the three documents, the engine tagged `history`, the journey of 2023."""
    empty.add(folder / "2024-05-01-engine.md", tags=["history"])
    empty.add(folder / "bank.html")
    empty.add(folder / "journey.txt", date="2023-05-02")
    return empty


@pytest.fixture
def put(empty: CorpusStore, tmp_path: Path) -> Callable[..., CorpusStore]:
    """Return a function that adds a text to the empty corpus: `put("a.txt", "words", date="2020-01-01")`."""

    def add(name: str, text: str, date: str | None = None) -> CorpusStore:
        (tmp_path / name).write_text(text, encoding="utf-8")
        empty.add(tmp_path / name, date=date)
        return empty

    return add


@pytest.fixture
def use() -> Callable[..., ToolResult]:
    """Return a function that runs a tool through the door: `use(Corpus(store), "graph_search", mode="global")`.

    A search service is next to the corpus: `use((corpus, provider), "web_search", query="x")`.
    """

    def run(given: Corpus | tuple[Corpus, object], tool: str, **arguments: object) -> ToolResult:
        corpus, services = (given, {}) if isinstance(given, Corpus) else (given[0], {"web_search": given[1]})
        registry = ToolRegistry()
        register(registry, corpus, **services)
        with registry:
            return ToolHandler(Session(yolo_mode=True), registry=registry).handle(ToolCall(tool, arguments))

    return run
