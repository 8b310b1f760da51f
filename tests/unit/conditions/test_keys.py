"""The conditions by their keys: each a file, each with what files, editors and lint ask of it."""

from pathlib import Path

import pytest
from tests.tables import for_each

import permitry.conditions
from permitry.conditions.keys import CONDITIONS, condition
from permitry.conditions.provenance.provenance import Provenance
from permitry.conditions.written import PlainCondition, Words, WrittenPattern, bare_type
from permitry.core.template import Template

FOLDER = Path(permitry.conditions.__file__).parent
# What is in the folder besides: what conditions are made of, and what is written outside of `when`.
MATCHING = {"match", "near", "permit", "restrict"}
OTHERS = {"budget", "keys", "listed", "lookalikes", "scope", "written", *MATCHING}


def test_each_file_is_a_condition() -> None:
    """And each condition a file of its name."""
    assert {path.stem for path in FOLDER.glob("[!_]*.py")} == {*CONDITIONS, *OTHERS}


@for_each("key", CONDITIONS)
def test_each_condition_says_what_it_is(key: str) -> None:
    """Its key, a type that files and the cache know, and a sentence for editors."""
    kind = condition(key)
    base, _ = bare_type(kind.table)
    assert (kind.key, kind.__module__) == (key, f"permitry.conditions.{key}")
    assert base in (Words, int, bool, dict)
    assert kind.description.endswith(".")
    assert issubclass(kind, PlainCondition | WrittenPattern) or key in ("access", "looks")
    if issubclass(kind, PlainCondition) and kind.example is not None and key != "args":
        assert kind.in_context or "context" in vars(kind), "an example would say nothing"


@for_each("key", ["", "moon", "scope", "_words", "mode.x"])
def test_another_key_is_refused(key: str) -> None:
    """No module is loaded because a file names it."""
    with pytest.raises(ValueError, match="there is no condition"):
        condition(key)


def test_an_example_says_what_is_the_case() -> None:
    """By the fields of a context, whose meaning the tests of each condition know."""
    reader = Template("reader", ["x"])
    given = {"mode": "plan", "agent": "sub", "label": "web", "template": "reader", "attended": False, "prompt": "hi"}
    found: dict[str, object] = {}
    for key, value in given.items():
        kind = condition(key)
        assert issubclass(kind, PlainCondition)
        assert kind.example is not None
        found |= kind.context(value, {"reader": reader})
    in_session = {"mode": "plan", "agent": "sub", "labels": ("web",), "active_template": reader}
    assert found == {**in_session, "attended": False, "provenance": Provenance.of(["hi"])}


def test_a_condition_implies_itself() -> None:
    """And those that are wider by the same words; nothing of another kind."""
    made = {key: condition(key).read((), value) for key, value in _VALUES.items()}
    wider = {key: condition(key).read((), ("a", "b")) for key in _WIDER}
    for key, each in made.items():
        assert isinstance(each, PlainCondition)
        implied = {other for other, theirs in made.items() if each.implies(theirs)}
        assert implied == {key}
        assert key not in _WIDER or each.implies(wider[key])


_WIDER = ("mode", "template", "label", "tool_digest")
_VALUES: dict[str, object] = {
    **dict.fromkeys(("mode", "agent", "template", "server", "label", "digest", "tool_digest"), ("a",)),
    "repeat": 2,
    "repaired": True,
}
