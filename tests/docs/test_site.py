"""The site: every page is in its navigation, and no page needs what the site does not have."""

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.docs.test_docs import LINK
from tests.tables import for_each

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
SITE: dict[str, Any] = importlib.import_module("yaml").safe_load((DOCS / "mkdocs.yml").read_text(encoding="utf-8"))
NAMED = re.compile(r"`((?:golden|rules|tests)/[\w./-]+\.\w+)`")


def _entries(nav: list[Any]) -> Iterator[str]:
    """Yield the pages of a navigation, those of its sections included."""
    for entry in nav:
        if isinstance(entry, str):
            yield entry
        else:
            for pages in entry.values():
                yield from _entries(pages)


def test_every_page_is_in_the_navigation_once() -> None:
    """And every entry is a page: `mkdocs build --strict` says the same, where it is installed."""
    assert sorted(_entries(SITE["nav"])) == sorted(page.relative_to(DOCS).as_posix() for page in PAGES)


@for_each("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_no_link_leaves_the_folder(page: Path) -> None:
    """The site has nothing else of the repository; a file of it is named in code."""
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        there = (page.parent / target).resolve()
        assert there.is_file(), target
        assert there.is_relative_to(DOCS), target


@for_each("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_every_test_and_rule_set_that_is_named_is_there(page: Path) -> None:
    """They are named and not linked, and would be forgotten when they move."""
    gone = [name for name in NAMED.findall(page.read_text(encoding="utf-8")) if not (ROOT / name).exists()]
    assert gone == []


def test_nothing_is_fetched_from_elsewhere() -> None:
    """Who reads how to guard an agent is not reported to others."""
    assert SITE["theme"]["font"] is False
    assert SITE["plugins"] == ["search"]
