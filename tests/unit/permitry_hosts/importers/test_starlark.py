"""The part of Starlark in which rule files are written."""

import pytest
from tests.tables import for_each

from permitry.errors import ConfigError
from permitry_hosts.importers.drafts import Source
from permitry_hosts.importers.starlark import read_calls


def _read(text: str) -> list[tuple[str, dict[str, object]]]:
    return [(call.what, dict(call.values)) for call in read_calls(Source("f", text), ("rule",))]


def test_calls_are_made_in_their_order() -> None:
    """By a loop, by a function with a default, and with lists that are added up."""
    loop = "A = ['a']\nfor b in ['b', 'c']:\n    rule(x = A + [b])\n"
    function = "def f(y, z = 1):\n    rule(x = y, z = z)\nf('d')\nf(z = 2, y = 'e')"
    assert _read(loop + function) == [
        ("rule", {"x": ["a", "b"]}),
        ("rule", {"x": ["a", "c"]}),
        ("rule", {"x": "d", "z": 1}),
        ("rule", {"x": "e", "z": 2}),
    ]


@for_each("text", ["f()", "rule('a')", "x = [1]\nx()", "def f(): f()\nf()", "rule(x = 1.5)", "a.b = 1"])
def test_nothing_else_is_read(text: str) -> None:
    """The error has the place."""
    with pytest.raises(ConfigError, match="f:"):
        _read(text)


def test_what_grows_has_an_end() -> None:
    """Each step counts, and so does what a list holds."""
    with pytest.raises(ConfigError, match="too many steps"):
        _read("x = ['a']\n" + "x = x + x\n" * 40)
