"""The source does not get denser: the figures of CONVENTIONS, "Sizes", have a bound in each room."""

from pathlib import Path

import attrs

from tests.density import Figures, bounded, bounds, figures_of, participle, rooms, table, tightened
from tests.tables import for_each

# What is deleted may have been calmer than the rest of its room.
SLACK = 1.02

CODE = '''"""A module."""


def checked(a, b):
    """Return something.

    In two paragraphs.
    """
    if a and b:
        return [x for x in a]  # noqa: C416 -- an example
    return 1 if b else 2
'''


def test_no_room_gets_denser() -> None:
    """A change that makes a room calmer may lower its bounds: `python -m tests.density --tighten`."""
    measured = {room: figures_of(paths) for room, paths in rooms().items()}
    allowed = bounds()
    assert measured.keys() == allowed.keys(), "python -m tests.density --tighten"
    denser = [
        f"{room}: {name} {value}, at most {allowed[room][name]}"
        for room, figures in measured.items()
        for name, value in bounded(figures).items()
        if value > SLACK * allowed[room][name]
    ]
    assert not denser, "\n".join([*denser, *table(measured)])


def test_what_is_measured(tmp_path: Path) -> None:
    """Of code without its docstrings, comments and blank lines."""
    path = tmp_path / "a.py"
    path.write_text(CODE, encoding="utf-8")
    assert figures_of([path]) == Figures(
        lines=11,
        longest_file=11,
        longest_function=3,
        tokens=6.8,
        branches=13.3,
        conditionals=100.0,
        complexity=5,
        most_complex=5,
        long_lines=0.0,
        participles=100.0,
        ignores=250.0,
    )


def test_a_bound_is_never_raised() -> None:
    """Whatever is measured; a new room begins with its own figures."""
    figures = Figures(**dict.fromkeys((field.name for field in attrs.fields(Figures)), 5))
    found = tightened({"a": {"tokens": 4.0, "branches": 6.0}}, {"a": figures, "b": figures})
    assert (found["a"]["tokens"], found["a"]["branches"], found["b"]["tokens"]) == (4.0, 5, 5)
    assert "lines" not in found["a"]


@for_each("name", ["checked", "_kept_first", "running", "given_of"])
def test_a_participle_is_found(name: str) -> None:
    """Regular or not, behind an underscore as well."""
    assert participle(name)


@for_each("name", ["check", "feed", "needs", "string_of", "is_checked", "__init__", "read", "ring"])
def test_a_verb_or_a_noun_is_left_alone(name: str) -> None:
    """And an adjective behind `is_`."""
    assert not participle(name)
