"""The condition `text`: some text anywhere in the arguments of a call."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

import attrs

from permitry.core.json_values import JsonValue
from permitry.core.rule import Question
from permitry.core.spec import ArgumentRole, ToolSpec
from permitry.errors import UnevaluableError
from permitry.rules.conditions.args import ArgumentTest, text_test
from permitry.rules.conditions.written import Place, PlainCondition, Table

__all__ = ["TextCondition"]

_HEAD = re.compile(r"[^.\[\]?]+")


@attrs.frozen
class TextCondition(PlainCondition):
    """Holds when one text in the arguments passes the test: a value, an element, or a key of an object.

    The names of the arguments themselves are not among the texts: they are those of the tool. For
    restrictions alone, as a model may write any text into some argument.
    """

    key: ClassVar[str] = "text"
    table: ClassVar[Table] = dict
    description: ClassVar[str] = "Some text anywhere in the arguments: `{ contains = ... }` or `{ regex = ... }`."
    is_pure: ClassVar[bool] = True

    test: ArgumentTest

    @classmethod
    def read(cls, _place: Place, part: Mapping[str, Any], /) -> "TextCondition":
        """Return the condition of a table with `contains` or `regex`."""
        return cls(text_test(part))

    def holds(self, question: Question, *, over_approximate: bool) -> bool:  # noqa: ARG002 -- no approximation is needed
        """Return whether a text passes the test.

        Raises: `UnevaluableError` when none does and an argument that could hold one is missing or holds none.
        """
        arguments = question.call.arguments
        if any(self.test.truth(text) is True for value in arguments.values() for text in _texts(value)):
            return True
        lacking = _lacking(arguments, question.tool)
        if lacking is not None:
            raise UnevaluableError(lacking)
        return False

    def fact(self, _question: Question) -> str:
        """Return what is true instead, as shown in near misses."""
        return f"no text that {self.test}"


def _texts(value: JsonValue) -> Iterator[str]:
    """Yield the texts in a value, keys of objects included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from value
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, tuple):
        for inner in value:
            yield from _texts(inner)


def _lacking(arguments: Mapping[str, JsonValue], tool: ToolSpec | None) -> str | None:
    """Return why a text that should be in the arguments is not there, None if all that should be are."""
    if tool is None or (not tool.parameters and tool.roles is None):
        has_text = any(True for value in arguments.values() for _ in _texts(value))
        return None if has_text else "there is no text in the arguments of a tool that is not declared"
    for argument in _declared(tool):
        given = [(name, arguments[name]) for name in argument.kinds if name in arguments]
        if argument.is_needed and not given:
            return f"`args.{next(iter(argument.kinds))}` is missing"
        for name, value in given:
            if not (isinstance(value, argument.kinds[name]) and any(True for _ in _texts(value))):
                return f"`args.{name}` does not hold the text that it should"
    return None


class _Declared(NamedTuple):
    """An argument that holds text: the types it may be of, by each of its names, and whether it is needed."""

    kinds: Mapping[str, tuple[type, ...]]
    is_needed: bool


def _declared(tool: ToolSpec) -> Iterator[_Declared]:
    for key, role in (tool.roles or {}).items():
        # A `text` is there for people, and may be a number.
        if role is not ArgumentRole.TEXT:
            kinds = {_HEAD.findall(name)[0]: _kinds(name, role) for name in key.split("|")}
            yield _Declared(kinds, not key.endswith("?"))
    properties, required = (tool.parameters.get(name) for name in ("properties", "required"))
    for name, schema in properties.items() if isinstance(properties, Mapping) else ():
        if isinstance(schema, Mapping) and schema.get("type") == "string":
            yield _Declared({name: (str,)}, isinstance(required, tuple) and name in required)


def _kinds(name: str, role: ArgumentRole) -> tuple[type, ...]:
    head = name.partition(".")[0]
    if head != name:
        return (tuple,) if head.endswith("[]") else (Mapping,)
    if name.removesuffix("?").endswith("[]") or role is ArgumentRole.ARGV:
        return (tuple,)
    return (str, tuple) if role is ArgumentRole.COMMAND else (str,)
