"""Conditions on arguments; that no damage turns a match into a silent "no" is a law in `tests/property`."""

import datetime as dt
import pickle
from typing import Any

import pytest
from tests.tables import for_each

from permitry.conditions.args import OPERATORS, ArgumentCondition, argument_condition
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Request
from permitry.errors import RuleError, UnevaluableError


def asked(arguments: dict[str, Any]) -> Request:
    """Return what a condition is asked of a call with these arguments."""
    return Request(ToolCall("tool", arguments), AuthContext())


def holds(raw: object, value: object) -> bool:
    """Return whether a test of the argument `x` holds for `value`."""
    return argument_condition("x", raw).holds(asked({"x": value}))


def mistake(raw: object, path: str | tuple[str, ...] = "x") -> str:
    """Return what is said of a test that cannot be built."""
    with pytest.raises(RuleError) as caught:
        argument_condition(path, raw)
    return str(caught.value)


HOLDING = [
    ("prod", "prod"),
    (1, 1.0),
    (True, True),
    ({"eq": ["a", 1]}, ["a", 1]),
    ({"eq": []}, []),
    ({"ne": "prod"}, "dev"),
    ({"in": ["a", "b"]}, "b"),
    ({"not_in": ["a", "b"]}, "c"),
    ({"lt": 3}, 2.5),
    ({"le": 3}, 3),
    ({"gt": -1}, 0),
    ({"ge": "2026-01-01"}, "2026-01-02"),
    ({"sql": "select"}, "SELECT a FROM t"),
    ({"glob": "a*"}, "a\nb"),
    ({"glob": ["x", "?b"]}, "ab"),
    ({"prefix": "/srv/"}, "/srv/x"),
    ({"suffix": [".md", ".txt"]}, "a.txt"),
    ({"contains": "prod"}, "a-prod-b"),
    ({"regex": "[a-z]+"}, "abc"),
    ({"regex": "a.*"}, "a\nb"),
    ({"length": 3}, "abc"),
    ({"length": {"ge": 1, "lt": 3}}, [1, 2]),
    ({"length": {"gt": 0}}, {"a": 1}),
    ({"type": "null"}, None),
    ({"type": "number"}, 1),
    ({"type": "integer"}, 1),
    ({"type": "integer"}, 7.0),
    ({"eq": 7}, 7.0),
    ({"each": {"prefix": "a"}}, ["ab", "ac"]),
    ({"each": {"prefix": "a"}}, "ab"),
    ({"each": {"prefix": "a"}}, []),
    ({"each": 7}, 7.0),
    ({"optional": True, "le": 3}, None),
    ({"optional": True, "le": 3}, ""),
    ({"optional": True, "le": 3}, []),
    ({"optional": True, "le": 3}, 2),
    ({"optional": True, "each": {"suffix": "@us"}}, ["a@us"]),
    ({"type": "object"}, {}),
    ({"exists": True}, None),
    ({"any": "a"}, ["b", "a", 1]),
    ({"any": {"any": {"gt": 5}}}, [[1], [2, 9]]),
    ({"all": {"prefix": "a"}}, ["ab", "ac"]),
    ({"all": {"prefix": "a"}}, []),
    ({"ge": 1, "le": 5, "ne": 3}, 4),
]

FAILING = [
    ("prod", "dev"),
    ({"eq": ["a"]}, ["a", "b"]),
    ({"eq": ["a", 1]}, ["b", "1"]),
    ({"ne": 1}, 1.0),
    ({"in": ["a", "b"]}, "c"),
    ({"not_in": [1, 2]}, 2),
    ({"lt": 3}, 3),
    ({"le": 3}, 3.5),
    ({"gt": "b"}, "a"),
    ({"ge": 1}, 0),
    ({"glob": "a*"}, "ba"),
    ({"prefix": "a"}, "A"),
    ({"suffix": ".md"}, ".mdx"),
    ({"contains": "x"}, "abc"),
    ({"regex": "a"}, "ab"),
    ({"regex": "a"}, "a\n"),
    ({"length": 3}, "ab"),
    ({"length": {"ge": 1, "lt": 3}}, [1, 2, 3]),
    ({"type": "integer"}, 1.5),
    ({"each": {"prefix": "a"}}, ["ab", 1, "c"]),
    ({"each": {"prefix": "a"}}, "b"),
    ({"optional": True, "le": 3}, 4),
    ({"optional": True, "eq": True}, False),
    ({"type": "number"}, True),
    ({"exists": False}, None),
    ({"any": "a"}, []),
    ({"any": "a"}, ["b"]),
    ({"all": "a"}, ["a", 1, "b"]),
    ({"ge": 1, "prefix": "a"}, 0),
    ({"prefix": "a", "ge": 1}, 0),
]

UNANSWERED = [
    ({"each": {"prefix": "a"}}, ["ab", 1]),
    ({"each": {"prefix": "a"}}, {"a": "b"}),
    ({"optional": True, "le": 3}, "4"),
    ({"optional": True, "le": 3}, {}),
    ({"optional": True, "le": 3}, " "),
    ("prod", ["prod"]),
    ("prod", None),
    (1, True),
    (1, "1"),
    (True, 1),
    ({"eq": ["a", 1]}, ["a", "1"]),
    ({"ne": "prod"}, ["prod"]),
    ({"ne": "prod"}, None),
    ({"in": ["a"]}, 1),
    ({"not_in": ["a"]}, ["a"]),
    ({"not_in": [1]}, True),
    ({"lt": 3}, "2"),
    ({"lt": 3}, True),
    ({"ge": "a"}, 1),
    ({"glob": "*"}, 1),
    ({"prefix": "a"}, ["a"]),
    ({"suffix": "a"}, None),
    ({"contains": "prod"}, ["prod"]),
    ({"contains": "x"}, []),
    ({"contains": "a"}, {"a": 1}),
    ({"contains": "prod"}, ["prod-db"]),
    ({"regex": ".*"}, 1),
    ({"length": 1}, 1),
    ({"length": {"ge": 0}}, None),
    ({"any": "a"}, "a"),
    ({"any": "a"}, ["b", 1]),
    ({"all": "a"}, {"a": "a"}),
    ({"all": "a"}, ["a", 1]),
    ({"ge": 1, "prefix": "a"}, 2),
]


@for_each(("raw", "value"), HOLDING)
def test_a_test_holds(raw: object, value: object) -> None:
    """Every operator holds for what it describes."""
    assert holds(raw, value)


@for_each(("raw", "value"), FAILING)
def test_a_test_fails(raw: object, value: object) -> None:
    """Every operator says no to a value of the right type that it does not describe."""
    assert not holds(raw, value)


@for_each(("raw", "value"), UNANSWERED)
def test_a_wrong_type_is_no_answer(raw: object, value: object) -> None:
    """A value of another type is neither a yes nor a no, unless another operator says no."""
    with pytest.raises(UnevaluableError, match=r"`args\.x` (is|has) "):
        holds(raw, value)


@for_each("name", [name for name in OPERATORS if name not in ("exists", "optional")])
def test_a_missing_argument_is_no_answer(name: str) -> None:
    """No operator but `exists` and `optional` says anything about an argument that is not there."""
    raw = next(raw for raw, _ in HOLDING if isinstance(raw, dict) and name in raw)
    with pytest.raises(UnevaluableError, match=r"`args\.x` is missing"):
        argument_condition("x", raw).holds(asked({}))


def test_existence_is_told_of_a_missing_argument() -> None:
    """`exists` is the operator that answers where nothing is, whatever is next to it."""
    assert argument_condition("x", {"exists": False}).holds(asked({}))
    assert not argument_condition("x", {"eq": 1, "exists": True}).holds(asked({}))


def test_a_path_leads_into_objects() -> None:
    """A text is split at its dots; the parts of a tuple are names as they are."""
    request = asked({"a": {"b": 1}, "a.b": 2})
    assert argument_condition("a.b", 1).holds(request)
    assert argument_condition(("a.b",), 2).holds(request)


def test_an_argument_in_an_object_may_have_the_name_of_an_operator() -> None:
    """What is asked about a source is never a table."""
    assert dict(ArgumentCondition.parts({"a": {"from": {"ge": 5}, "words": {"eq": 1}}, "b": {"from": ["user"]}})) == {
        ("a", "from"): {"ge": 5},
        ("a", "words"): {"eq": 1},
        ("b",): {"from": ["user"]},
    }


def test_what_is_no_object_has_no_parts() -> None:
    """Nothing is known of the part of a text, not even that it does not exist."""
    with pytest.raises(UnevaluableError, match=r"`args\.a` is a string, where an object is expected"):
        argument_condition("a.b", {"exists": False}).holds(asked({"a": "text"}))


@for_each(
    ("raw", "told"),
    [
        ({"lte": 1}, "`args.x`: unknown operator `lte`; did you mean `le`?"),
        ({"prefx": 1}, "did you mean `prefix`?"),
        ({"wibble": 1}, "unknown operator `wibble`; known: eq, ne, in,"),
        ({}, "an empty table says nothing"),
        (["a"], "`in = [...]`"),
        ({"in": []}, "`in`: an empty list"),
        ({"in": "a"}, "a list of values is needed, not `a`"),
        ({"not_in": [1, "a"]}, "several types"),
        ({"eq": {"a": 1}}, "compare its parts"),
        ({"eq": None}, "a `NoneType` is nothing to compare with"),
        ({"lt": True}, "a number or a text is needed, not `True`"),
        ({"lt": dt.date(2026, 1, 2)}, 'quote it: "2026-01-02"'),
        ({"eq": [dt.time(1, 2)]}, 'quote it: "01:02:00"'),
        ({"lt": float("nan")}, "no argument can be nan"),
        ({"eq": float("inf")}, "no argument can be inf"),
        ({"eq": [[[[[[[[[[1]]]]]]]]]]}, "lists are nested more than 8 deep"),
        ({"glob": 1}, "a text or a list of texts is needed"),
        ({"glob": [1, 2]}, "a text or a list of texts is needed"),
        ({"prefix": ""}, "an empty text is part of every text"),
        ({"contains": []}, "an empty list"),
        ({"contains": 1}, "text"),
        ({"regex": "("}, "`regex`: not a pattern RE2 takes: missing ): ("),
        ({"regex": "(" * 1_001}, "the pattern has 1001 characters; 1000 are the most"),
        ({"regex": r"\pL{900}"}, "pattern too large"),
        ({"regex": 1}, "a text is needed, not `1`"),
        ({"length": -1}, "a length is a whole number from 0 on, not `-1`"),
        ({"length": "3"}, "a length is a whole number"),
        ({"length": {"prefix": "a"}}, "unknown operator `prefix`; known: eq, lt, le, gt, ge"),
        ({"type": "int"}, "unknown type `int`; did you mean `integer`?"),
        ({"type": ["string"]}, "unknown type"),
        ({"exists": "yes"}, "true or false is needed, not `yes`"),
        ({"exists": False, "eq": 1}, "cannot hold together"),
        ({"any": {"exists": True}}, "`any`: `exists` has no meaning"),
        ({"each": {"optional": True, "eq": 1}}, "`each`: `optional` is for an argument as a whole"),
        ({"optional": False, "eq": 1}, "`optional` is true; take it out where the argument is needed"),
        ({"optional": True}, "`optional` alone says nothing"),
        ({"optional": True, "exists": True}, "`optional` and `exists` contradict each other"),
        ({"optionl": True, "eq": 1}, "did you mean `optional`?"),
        ({"any": {"le": []}}, "`args.x`: `any`: `le`: a number or a text is needed"),
    ],
)
def test_a_mistake_is_named(raw: object, told: str) -> None:
    """What is not a test is refused, with what is wrong and a way out."""
    assert told in mistake(raw)


@for_each("path", ["", "a..b", (), ("a", "")])
def test_a_path_has_no_empty_part(path: str | tuple[str, ...]) -> None:
    """A path that names nothing is a mistake."""
    assert "has an empty part" in mistake(1, path)


def nested(depth: int) -> object:
    """Return a test with `depth` operators around a literal."""
    raw: object = 1
    for _ in range(depth):
        raw = {"any": raw}
    return raw


def test_operators_nest_eight_deep() -> None:
    """A table deeper than anybody reads is refused."""
    argument_condition("x", nested(8))
    assert "nested more than 8 deep" in mistake(nested(9))


@for_each(("raw", "told"))
def test_a_condition_is_told_in_a_phrase(raw: object, told: str) -> None:
    """An explanation shows a condition as it was written."""
    assert str(argument_condition("x", raw)) == told


@for_each("raw", [raw for raw, _ in HOLDING])
def test_a_condition_pickles(raw: object) -> None:
    """A condition is a value: equal to its copy, with the same hash."""
    condition = argument_condition("x", raw)
    copy: ArgumentCondition = pickle.loads(pickle.dumps(condition))  # noqa: S301 -- our own bytes
    assert copy == condition
    assert hash(copy) == hash(condition)


def test_a_regex_takes_no_time() -> None:
    """A pattern that would keep a backtracking matcher busy for ever ends at once."""
    assert not holds({"regex": "(a+)+b"}, "a" * 50_000)


def test_an_optional_argument_may_be_left_out() -> None:
    """Then no fact of it need be there, by which its rule could be found."""
    condition = argument_condition("x", {"optional": True, "eq": "a"})
    assert [condition.holds(asked(each)) for each in ({}, {"x": "a"}, {"x": "b"})] == [
        True, True, False,
    ]  # fmt: skip
    assert condition.needs == frozenset()
    assert str(condition) == 'args.x left out or eq "a"'


def test_a_list_is_known_only_where_rules_are_loaded() -> None:
    """A condition that is made in code has its values itself."""
    with pytest.raises(RuleError, match="unknown list `@us`; define"):
        argument_condition("to", {"in": "@us"})


def test_what_is_expected_is_shown() -> None:
    """Next to the value, in near misses; as briefly as this."""
    assert argument_condition("n", {"ge": 1, "le": 9}).expected == "ge 1 and le 9"
    assert argument_condition("n", {"in": ["x" * 99]}).expected.endswith("(106 characters)")


@for_each(
    ("arguments", "fact"),
    [
        ({"x": {"y": 1}}, "args.x.y = 1"),
        ({}, "args.x.y = missing"),
        ({"x": {"y": "z" * 99}}, 'args.x.y = "' + "z" * 59 + "..."),
    ],
)
def test_what_the_argument_is_instead_is_shown(arguments: dict[str, object], fact: str) -> None:
    """Canonically, and as briefly."""
    request = Request(ToolCall("tool", arguments), AuthContext())
    assert argument_condition("x.y", 2).fact(request) == fact


@for_each("name", ["in", "not_in", "contains", "prefix", "glob"])
def test_a_value_that_is_given_twice_changes_nothing(name: str) -> None:
    """Nor is such a rule another rule."""
    assert argument_condition("x", {name: ["a", "b", "a"]}) == argument_condition("x", {name: ["a", "b"]})
    assert len(argument_condition("x", {name: ["a", "b", "a"]}).test.checks[0].operand) == 2
