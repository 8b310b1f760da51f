"""Links on the disk that a pattern or a program goes through."""

from pathlib import Path

import pytest
from tests.tables import for_each

from permitry.actions.disk import Links
from permitry.actions.folders import Folder
from permitry.actions.links_met import follow_below, follow_pattern, links_below
from permitry.core.action import Access, Descent, Touch, Word


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """Return a folder with links in `a`: `a/up` to `../b`, `a/in` to `a/x`, and `l` to `a`."""
    top = tmp_path_factory.mktemp("links")
    for name in ("a/x", "b/y"):
        (top / name).mkdir(parents=True)
    for name, text in (("a/up", "../b"), ("a/in", "x"), ("l", "a")):
        (top / name).symlink_to(text)
    return Folder((str(top),), None)


def _named(folder: Folder, *touches: Touch) -> set[str]:
    assert all(touch.is_guess for touch in touches)
    return {name.removeprefix(f"{folder.bases[0]}/") for touch in touches for name in touch.place.real}


@for_each(
    ("text", "found"),
    [
        ("a/*", {"b", "a/x"}), ("a/u*/y", {"b/y"}), ("l*/x", {"a/x"}), ("l*/u*/*", {"a/u*/*", "b/*"}),
        ("*/up/y", {"b/y"}), ("b/*", set()), ("a", set()), ("x*", set()),
    ],
)  # fmt: skip
def test_a_pattern_goes_through_the_links_that_fit_it(folder: Folder, text: str, found: set[str]) -> None:
    """As far as they fit it, and on through those behind them."""
    touch = folder.place_of(Word(text, "*" in text), Access.READ)
    assert _named(folder, *follow_pattern(touch, folder)) == found


@for_each(("text", "found"), [("a/*", set()), ("a/*/", {"a/up", "b", "a/in", "a/x"}), ("a/*/y", {"b/y", "a/x/y"})])
def test_an_entry_is_not_followed(folder: Folder, text: str, found: set[str]) -> None:
    """Unless a slash is behind it."""
    touch = folder.place_of(Word(text, is_glob=True), Access.DELETE)
    assert _named(folder, *follow_pattern(touch, folder)) == found


def test_what_lies_below_a_folder_is_reached_through_links_out_of_it(folder: Folder) -> None:
    """What a link inside leads to is reached anyway."""
    touch = folder.place_of(Word("a"), Access.READ, descent=Descent.ALL)
    (found,) = follow_below(touch, folder)
    assert (_named(folder, found), found.place.is_tree, found.place.is_certain) == ({"b"}, True, False)


@for_each(
    ("text", "found"),
    [
        ("a", {("up", "../b")}),
        ("l", set()),
        ("*", {("a/up", "../b"), ("l", "a")}),
        ("a/*", {("up", "../b"), ("in", "x")}),
    ],
)
def test_links_are_named_from_what_is_copied(folder: Folder, text: str, found: set[tuple[str, str]]) -> None:
    """Those that lead elsewhere from another folder: of a pattern, each name that fits is copied by itself."""
    word = Word(text, "*" in text)
    every = [(below, to) for _, below, to in links_below(word, folder, frozenset(Links))]
    assert set(every) >= found
    assert [each for each in every if each == ("up", "../b")] == [each[1:] for each in links_below(word, folder)]


def test_too_many_links_lead_anywhere(tmp_path: Path) -> None:
    """So that no time is lost."""
    for number in range(300):
        (tmp_path / str(number)).symlink_to("/etc")
    folder = Folder((str(tmp_path),), None)
    every = list(follow_pattern(folder.place_of(Word("*", is_glob=True), Access.READ), folder))
    assert (len(every), every[-1].place.is_open) == (257, True)
