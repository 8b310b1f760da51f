"""Paths: a permission implies a restriction, an obvious matcher agrees, and no text breaks or slows anything."""

import functools
import os
import time
from pathlib import Path

import attrs
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.matching import is_graded

from permitry.actions.paths import read_path, roots_of
from permitry.conditions.match import Match
from permitry.conditions.path import PathPattern
from permitry.core.action import Place, Roots
from permitry.errors import RuleError

ROOTS = Roots(("/w",), ("/w/home",))
LONGEST = 8.0  # seconds of processor time: no gate on speed, only on explosions

_components = st.one_of(
    st.just("**"),
    st.text("ab?*", min_size=1, max_size=4).filter(lambda text: "**" not in text),
    st.sampled_from(("[ab]", "[!a]b", "a[b-z]*")),
)
_patterns = st.lists(_components, min_size=1, max_size=5).map("/".join)
_names = st.lists(st.text("ab", min_size=1, max_size=3), min_size=1, max_size=6).map("/".join)
_anchors = st.sampled_from(("", "./", "/", "~/", "/w/", "/**/"))
_wild = st.text(st.sampled_from("ab/*?[]!-.~\\{},:\0\n\N{COMBINING ACUTE ACCENT}é\ud800"), max_size=60)
_texts = st.one_of(st.text(max_size=60), _wild, st.builds(lambda text, times: text * times, _wild, st.integers(1, 200)))


def _fits_component(pattern: str, name: str) -> bool:
    if not pattern:
        return not name
    if pattern[0] == "*":
        return _fits_component(pattern[1:], name) or (name != "" and _fits_component(pattern, name[1:]))
    if pattern[0] == "[":
        chars, _, rest = pattern[1:].partition("]")
        wanted = {"ab": "ab", "!a": "b", "b-z": "b"}[chars]
        return name != "" and name[0] in wanted and _fits_component(rest, name[1:])
    return name != "" and pattern[0] in ("?", name[0]) and _fits_component(pattern[1:], name[1:])


def _fits(pattern: list[str], name: list[str]) -> bool:
    if not pattern:
        return not name
    if pattern == ["**"]:
        return bool(name)
    if pattern[0] == "**":
        return _fits(pattern[1:], name) or (bool(name) and _fits(pattern, name[1:]))
    return bool(name) and _fits_component(pattern[0], name[0]) and _fits(pattern[1:], name[1:])


def _place(*names: str, is_tree: bool = False) -> Place:
    full = tuple(f"/w/{name}" for name in names)
    return Place(names[0], full, full, is_tree=is_tree)


@settings(max_examples=2 * settings().max_examples)
@given(_patterns, _names)
@example("a/**/**/b", "a/b")
@example("**/a/**", "a")
@example("*a*/**", "ba/b")
def test_a_pattern_covers_what_the_obvious_matcher_covers(pattern: str, name: str) -> None:
    """Matching by splitting finds what trying everything finds."""
    match = PathPattern(pattern).match_place(_place(name), ROOTS)
    assert (match is Match.YES) is _fits(pattern.split("/"), name.split("/"))


@given(anchor=_anchors, pattern=_patterns, names=st.lists(_names, min_size=1, max_size=3), is_tree=st.booleans())
@example(anchor="", pattern="**", names=["a"], is_tree=True)
def test_a_permission_covers_no_more_than_a_restriction_meets(
    anchor: str, pattern: str, names: list[str], *, is_tree: bool
) -> None:
    """A restriction fires wherever a permission with the same pattern would allow."""
    path, place = PathPattern(anchor + pattern), _place(*names, is_tree=is_tree)
    assert is_graded(functools.partial(path.match_place, place, ROOTS))


@given(_patterns, _names, st.data())
def test_a_glob_fires_for_every_name_it_may_become(pattern: str, name: str, data: st.DataObject) -> None:
    """Hiding letters of a name behind wildcards hides nothing from a restriction."""
    letters = [char if char == "/" else data.draw(st.sampled_from((char, "?", "*", f"[{char}]"))) for char in name]
    glob = _place("".join(letters) or name)
    unsure = Place("*" + glob.text, glob.lexical, glob.real, is_certain=False, is_glob=True)
    path = PathPattern(pattern)
    assert path.match_place(_place(name), ROOTS) is Match.NO or path.match_place(unsure, ROOTS) is not Match.NO
    assert path.match_place(_place(name), ROOTS) is not Match.NO or path.match_place(unsure, ROOTS) < Match.ALIKE


@given(_patterns, _names)
def test_case_hides_nothing_from_a_restriction(pattern: str, name: str) -> None:
    """A name in capitals fires what the name fires."""
    path = PathPattern(pattern)
    capitals, match = (path.match_place(_place(each), ROOTS) for each in (name.upper(), name))
    assert (capitals is Match.NO) is (match is Match.NO)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(pattern=_texts, text=_texts, is_certain=st.booleans(), is_tree=st.booleans())
@example(pattern="**/a/" * 100 + "x", text="a/" * 2000 + "y", is_certain=True, is_tree=True)
@example(pattern="*a" * 2000, text="?*" * 2000, is_certain=False, is_tree=False)
@example(pattern="*a*b" * 1000, text="a" * 4000, is_certain=True, is_tree=False)
@example(pattern="**", text="../x/" * 800, is_certain=True, is_tree=True)
def test_no_text_breaks_or_slows_anything(pattern: str, text: str, *, is_certain: bool, is_tree: bool) -> None:
    """Any text has an answer within a second, and a pattern that is none is refused as a rule error."""
    started = time.process_time()
    place = read_path(text, ["/no-such-w", "/no-such-v"], home="/no-such-h")
    place = attrs.evolve(place, is_tree=is_tree)
    place = attrs.evolve(place, is_certain=place.is_certain and is_certain)
    roots = roots_of("/no-such-w", "/no-such-h")
    try:
        path = PathPattern(pattern)
    except RuleError:
        path = PathPattern("**")
    assert is_graded(functools.partial(path.match_place, place, roots))
    assert time.process_time() - started < LONGEST


@pytest.fixture(scope="module")
def tangle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of folders and links that lead in, out and around."""
    top = Path(os.path.realpath(tmp_path_factory.mktemp("tangle")))
    (top / "a" / "b" / "a").mkdir(parents=True)
    (top / "b").mkdir()
    links = {
        "a/c": "..",
        "a/b/c": "/",
        "b/a": "../a/b",
        "b/b": str(top / "a"),
        "b/c": "c",
        "c": "./a/../b/a",
        "d": "a/d/x",
    }
    for name, target in links.items():
        (top / name).symlink_to(target)
    return top


@given(st.lists(st.sampled_from(("a", "b", "c", "d", "..", ".", "")), min_size=1, max_size=8).map("/".join))
@example("b/c/..")
def test_the_real_name_is_the_one_of_the_system(tangle: Path, text: str) -> None:
    """Where the system resolves a path, we resolve it to the same; a loop is not certain."""
    full = os.path.join(tangle, text)  # noqa: PTH118 -- a Path would drop what is tested
    place = read_path(full, [], home=None)
    try:
        os.stat(full)  # noqa: PTH116 -- as above
    except (FileNotFoundError, NotADirectoryError):
        # Nothing is there; a folder above the tangle may hold a file of such a name.
        assert place.real
    except OSError:
        assert not place.is_certain
    else:
        assert place.real == (os.path.realpath(full),)
        assert place.is_certain
