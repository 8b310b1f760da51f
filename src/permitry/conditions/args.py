"""The condition `when.args.<path>`: what an argument of the call must be.

A test is true, false, or undefined, which is a text why: for a value of another type than the
rule expects, as a restriction on `"prod"` must not be lifted by sending `["prod"]`. Of several
operators in one table all must hold, and one that is false makes the result false.
"""

import datetime as dt
import enum
import functools
import json
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import attrs

from permitry.conditions import _compare
from permitry.conditions._compare import Truth, all_of, any_of, class_of, describe_kind
from permitry.conditions._links import LINKS, LinkCondition, LinkReader, link_condition
from permitry.conditions._regex import Regex
from permitry.conditions._sources import ON_SOURCES, Source, SourceCondition, find_trusted, join_path, source_condition
from permitry.conditions._sql import Select, read_select
from permitry.conditions._words import check_sign, nearest
from permitry.conditions.listed import ListedValues, list_name, unknown_list
from permitry.conditions.provenance.normal_form import elements_of
from permitry.conditions.written import Place, PlainCondition
from permitry.core.facts import Fact, Kind, argument_class
from permitry.core.json_values import JsonValue, canonical_json
from permitry.core.pattern import Pattern
from permitry.core.rule import Request
from permitry.core.texts import shorten
from permitry.errors import RuleError, UnevaluableError

__all__ = [
    "LINKS",
    "OPERATORS",
    "AnyArgumentCondition",
    "ArgumentCondition",
    "ArgumentTest",
    "LinkCondition",
    "LinkReader",
    "Source",
    "SourceCondition",
    "argument_condition",
    "argument_conditions",
    "find_trusted",
    "text_test",
]

MAX_NESTING = 8
_BRIEF = 60


class _Absent(enum.Enum):
    ABSENT = "is missing"


_Found: TypeAlias = "JsonValue | _Absent"


@attrs.frozen
class _Check:
    """One operator and what it compares with."""

    name: str
    # To Python `1` and `true` are equal, and as operands they are not; nor is a list that a session may add to.
    operand: Any = attrs.field(eq=lambda each: (repr(each), str(each), getattr(each, "name", None)))

    def truth(self, value: _Found) -> Truth:
        if self.name == "exists":
            return (value is not _Absent.ABSENT) is self.operand
        return value.value if isinstance(value, _Absent) else _OPERATORS[self.name].truth(value, self.operand)

    def __str__(self) -> str:
        operand = self.operand
        if isinstance(operand, ListedValues):
            return f"{self.name} @{operand.name}"
        if isinstance(operand, ArgumentTest | Regex | Select):
            return f"{self.name} ({operand})"
        return f"{self.name} {json.dumps(operand, ensure_ascii=False)}"


@attrs.frozen
class ArgumentTest:
    """What a value must be: every check holds, or if `is_optional`, it is left out or empty."""

    checks: tuple[_Check, ...]
    is_optional: bool = False

    def truth(self, value: _Found) -> Truth:
        """Return whether all checks hold, or why that is undefined unless one is false."""
        if self.is_optional and value in (_Absent.ABSENT, None, "", ()):
            return True
        checks = self.checks
        return checks[0].truth(value) if len(checks) == 1 else all_of(check.truth(value) for check in checks)

    def __str__(self) -> str:
        shown = " and ".join(map(str, self.checks))
        return f"left out or {shown}" if self.is_optional else shown


@attrs.frozen
class ArgumentCondition(PlainCondition):
    """A test of the argument at `path`, which has the names from the outermost object on."""

    key = "args"
    table = dict
    description = "Arguments by name: a value to equal, or a table of operators such as `{ le = 100 }`."
    example = dict
    is_pure = True

    path: tuple[str, ...]
    test: ArgumentTest

    @classmethod
    def parts(cls, value: Mapping[str, Any], /, above: Place = ()) -> Iterator[tuple[Place, Any]]:
        """Yield each test of an argument, and its names; a table without operators is an object."""
        for name, raw in value.items():
            is_object = isinstance(raw, dict) and raw and all(isinstance(inner, dict) for inner in raw.values())
            if is_object and set(raw).isdisjoint((*OPERATORS, LINKS)):
                yield from cls.parts(raw, (*above, name))
            else:
                yield (*above, name), raw

    def holds(self, request: Request) -> bool:
        """Return whether the argument passes. Raises: `UnevaluableError` where that is undefined."""
        truth = self.test.truth(_find(request.call.arguments, self.path))
        if isinstance(truth, str):
            raise UnevaluableError(f"`{join_path(self.path)}` {truth}")
        return truth

    @property
    def needs(self) -> frozenset[Fact]:
        """Facts of which one is present unless the test is false or undefined; empty if unknown."""
        for check in () if self.test.is_optional else self.test.checks:
            values = {"eq": (check.operand,), "in": check.operand}.get(check.name, ())
            if values and all(map(argument_class, values)):
                return frozenset(Fact(Kind.ARGUMENT, (self.path, argument_class(value)), value) for value in values)
        return frozenset()

    @property
    def expected(self) -> str:
        """What it asks for, as shown in near misses."""
        return shorten(str(self.test), _BRIEF)

    def fact(self, request: Request) -> str:
        """Return what is true instead, as shown in near misses."""
        found = _find(request.call.arguments, self.path)
        shown = "missing" if isinstance(found, _Absent) else canonical_json(found)
        return f"{join_path(self.path)} = {shown if len(shown) <= _BRIEF else f'{shown[:_BRIEF]}...'}"

    def __str__(self) -> str:
        return f"{join_path(self.path)} {self.test}"


AnyArgumentCondition: TypeAlias = ArgumentCondition | SourceCondition | LinkCondition
"""What one entry of `when.args` may denote."""


def argument_condition(path: str | tuple[str, ...], raw: object) -> ArgumentCondition:
    """Return the condition of an argument: a literal to equal, or a table of operators.

    A text `path` is split at its dots; the parts of a tuple are names as they are.

    Raises: `RuleError`.
    """
    names = tuple(path.split(".")) if isinstance(path, str) else path
    if not all(names) or not names:
        why = "has an empty part; a path is names joined by dots, such as `args.filter.id`"
        raise RuleError(f"`{join_path(names)}` {why}")
    try:
        return ArgumentCondition(names, _test(raw, 0))
    except RuleError as error:
        raise RuleError(f"`{join_path(names)}`: {error}") from error


def argument_conditions(place: Place, raw: object, links: LinkReader) -> Iterator[AnyArgumentCondition]:
    """Yield the conditions of one entry of `when.args`. Raises: `RuleError`."""
    path, rest = tuple(map(str, place)), raw
    if isinstance(raw, Mapping):
        optional = raw.get("optional")
        apart = [name for name in (*ON_SOURCES, LINKS) if name in raw]
        for name in apart:
            if name == LINKS:
                yield link_condition(path, raw[name], links, optional=optional)
            else:
                yield source_condition(path, name, raw[name], optional=optional)
        rest = {name: operand for name, operand in raw.items() if name not in apart}
        if apart and not set(rest) - {"optional"}:
            return
    yield argument_condition(path, rest)


def text_test(raw: object) -> ArgumentTest:
    """Return the test of a table with `contains`, `regex`, or both. Raises: `RuleError`."""
    return _test(raw, 0, ("contains", "regex"))


def _find(arguments: Mapping[str, JsonValue], path: tuple[str, ...]) -> _Found:
    value: JsonValue = arguments
    for depth, name in enumerate(path):
        if type(value) is not MappingProxyType and not isinstance(value, Mapping):
            kind = describe_kind(value)
            raise UnevaluableError(f"`{join_path(path[:depth])}` is {kind}, where an object is expected")
        if name not in value:
            return _Absent.ABSENT
        value = value[name]
    return value


# Operators on a value as a whole or on its elements ---------------------------------------------------------------


def _length(value: JsonValue, test: ArgumentTest) -> Truth:
    if isinstance(value, str | tuple | Mapping):
        return test.truth(len(value))
    return f"is {describe_kind(value)}, which has no length"


def _is_kind(value: JsonValue, name: str) -> bool:
    # As in JSON Schema: some models write every number with a fraction.
    is_whole = name == "integer" and isinstance(value, float) and value.is_integer()
    return is_whole or name in (_compare.kind_of(value), class_of(value))


# How tables are read ----------------------------------------------------------------------------------------------


def _test(raw: object, depth: int, known: tuple[str, ...] = ()) -> ArgumentTest:
    if depth > MAX_NESTING:
        raise RuleError(f"operators are nested more than {MAX_NESTING} deep")
    if isinstance(raw, list | tuple):
        hint = "write `in = [...]` for one of these, `eq = [...]` for this list"
        raise RuleError(f"a list alone can be read in two ways; {hint}")
    if not isinstance(raw, Mapping):
        return ArgumentTest((_Check("eq", _value(raw, depth)),))
    if not raw:
        raise RuleError("an empty table says nothing; give an operator, such as `le = 100`")
    if raw.get("exists") is False and len(raw) > 1:
        raise RuleError("`exists = false` cannot hold together with another operator")
    rest = {name: operand for name, operand in raw.items() if name != "optional"}
    if "optional" in raw:
        _check_optional(raw["optional"], rest, depth)
    checks = tuple(_check(*each, depth, known or OPERATORS) for each in rest.items())
    return ArgumentTest(checks, is_optional="optional" in raw)


def _check_optional(operand: object, rest: Mapping[str, object], depth: int) -> None:
    if depth:
        raise RuleError("`optional` is for an argument as a whole; put it next to the operator")
    if operand is not True:
        raise RuleError("`optional` is true; take it out where the argument is needed")
    if not rest:
        raise RuleError("`optional` alone says nothing; give an operator, such as `le = 100`")
    if "exists" in rest:
        raise RuleError("`optional` and `exists` contradict each other; take one of the two out")


def _check(name: object, operand: object, depth: int, known: tuple[str, ...]) -> _Check:
    if not isinstance(name, str) or name not in known:
        # `lte` is as similar to `lt` as to `le`.
        meant = {"lte": "le", "gte": "ge"}.get(str(name), str(name))
        raise RuleError(f"unknown operator `{name}`; {nearest(meant, known)}")
    if name == "exists" and depth:
        raise RuleError("`exists` has no meaning for an element of a list, which is always there")
    try:
        return _Check(name, _OPERATORS[name].read(operand, depth))
    except RuleError as error:
        raise RuleError(f"`{name}`: {error}") from error


def _value(raw: object, depth: int) -> JsonValue:
    """Return a value to compare with; no object, as its parts have paths of their own."""
    if isinstance(raw, dt.date | dt.time):
        raise RuleError(f'JSON has no dates, so arguments are texts; quote it: "{raw.isoformat()}"')
    if isinstance(raw, float) and not math.isfinite(raw):
        raise RuleError(f"no argument can be {raw}")
    if isinstance(raw, list | tuple):
        if depth >= MAX_NESTING:
            raise RuleError(f"lists are nested more than {MAX_NESTING} deep")
        return tuple(_value(item, depth + 1) for item in raw)
    if isinstance(raw, bool | int | float | str):
        return raw
    if isinstance(raw, Mapping):
        raise RuleError("an object is not compared as a whole; compare its parts, such as `args.filter.id`")
    raise RuleError(f"a `{type(raw).__name__}` is nothing to compare with")


def _values(raw: object, depth: int) -> tuple[JsonValue, ...]:
    name = list_name(raw)
    if name is not None:
        raise unknown_list(name, (), f'["{raw}"]')
    if not isinstance(raw, list | tuple):
        raise RuleError(f"a list of values is needed, not {_show(raw)}; for one value write `eq` or `ne`")
    if not raw and not isinstance(raw, ListedValues):
        raise RuleError("an empty list holds no value to compare with")
    values = tuple(_value(item, depth) for item in raw)
    if len(set(map(class_of, values))) > 1:
        raise RuleError("the values are of several types; write one rule for each type")
    # A value that is given twice changes nothing.
    values = tuple(dict.fromkeys(values))
    return ListedValues.of(raw.name, values) if isinstance(raw, ListedValues) else values


def _order_operand(raw: object, depth: int) -> JsonValue:
    value = _value(raw, depth)
    if isinstance(value, bool | tuple):
        raise RuleError(f"a number or a text is needed, not {_show(raw)}")
    return value


def _texts(raw: object, depth: int) -> tuple[str, ...]:
    """Return one text, or a list of texts, as a tuple without empty texts."""
    values = _values(raw if isinstance(raw, list | tuple) else [raw], depth)
    texts = tuple(value for value in values if isinstance(value, str))
    if len(texts) < len(values):
        raise RuleError(f"a text or a list of texts is needed, not {_show(raw)}")
    if "" in texts:
        raise RuleError("an empty text is part of every text; take it out")
    return texts


def _globs(raw: object, depth: int) -> tuple[str, ...]:
    return tuple(check_sign(text, "args.NAME.glob") for text in _texts(raw, depth))


def _regex(raw: object, _: int) -> Regex:
    if not isinstance(raw, str):
        raise RuleError(f"a text is needed, not {_show(raw)}")
    return Regex(raw)


def _length_test(raw: object, depth: int) -> ArgumentTest:
    test = _test(raw, depth + 1, ("eq", "lt", "le", "gt", "ge"))
    for check in test.checks:
        if isinstance(check.operand, bool) or not isinstance(check.operand, int) or check.operand < 0:
            raise RuleError(f"a length is a whole number from 0 on, not {_show(check.operand)}")
    return test


def _kind_name(raw: object, _: int) -> str:
    if not isinstance(raw, str) or raw not in _KINDS:
        raise RuleError(f"unknown type {_show(raw)}; {nearest(str(raw), _KINDS)}")
    return raw


def _flag(raw: object, _: int) -> bool:
    if not isinstance(raw, bool):
        raise RuleError(f"true or false is needed, not {_show(raw)}")
    return raw


def _element_test(raw: object, depth: int) -> ArgumentTest:
    return _test(raw, depth + 1)


def _show(raw: object) -> str:
    return f"`{str(raw)[:60]}`"


class _Operator(NamedTuple):
    read: Callable[[object, int], Any]
    truth: Callable[[JsonValue, Any], Truth]


_of_text = functools.partial(_compare.only_of, str, "a string")
_of_array = functools.partial(_compare.only_of, tuple, "an array")
_KINDS = ("string", "number", "integer", "boolean", "array", "object", "null")

_OPERATORS: Mapping[str, _Operator] = MappingProxyType(
    {
        "eq": _Operator(_value, _compare.same),
        "ne": _Operator(_value, lambda value, operand: _compare.negate(_compare.same(value, operand))),
        "in": _Operator(_values, _compare.among),
        "not_in": _Operator(_values, lambda value, operands: _compare.negate(_compare.among(value, operands))),
        "lt": _Operator(_order_operand, _compare.order_by(operator.lt)),
        "le": _Operator(_order_operand, _compare.order_by(operator.le)),
        "gt": _Operator(_order_operand, _compare.order_by(operator.gt)),
        "ge": _Operator(_order_operand, _compare.order_by(operator.ge)),
        "glob": _Operator(_globs, _of_text(lambda value, texts: any(Pattern(text).matches(value) for text in texts))),
        "prefix": _Operator(_texts, _of_text(str.startswith)),
        "suffix": _Operator(_texts, _of_text(str.endswith)),
        "contains": _Operator(_texts, _of_text(lambda value, texts: any(text in value for text in texts))),
        "regex": _Operator(_regex, _of_text(lambda value, regex: regex.matches(value))),
        "sql": _Operator(read_select, _of_text(lambda value, select: select.truth(value))),
        "length": _Operator(_length_test, _length),
        "type": _Operator(_kind_name, _is_kind),
        "exists": _Operator(_flag, lambda _, operand: bool(operand)),
        "any": _Operator(_element_test, _of_array(lambda value, test: any_of(map(test.truth, value)))),
        "all": _Operator(_element_test, _of_array(lambda value, test: all_of(map(test.truth, value)))),
        "each": _Operator(_element_test, lambda value, test: all_of(map(test.truth, elements_of(value)))),
    }
)

OPERATORS = (*_OPERATORS, "optional")
"""The keys of a table, in the order of the documentation."""
