"""The condition `text`: some text anywhere in the arguments of a call."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from permitry.conditions.args import ArgumentTest, text_test
from permitry.conditions.provenance.normal_form import leaves_of
from permitry.conditions.written import Place, PlainCondition
from permitry.core.json_values import JsonValue
from permitry.core.rule import Request
from permitry.core.spec import ArgumentRole, Misshapen, ToolSpec, names_of, values_of
from permitry.errors import UnevaluableError

__all__ = ["TextCondition"]

_COMMANDS = frozenset({ArgumentRole.COMMAND, ArgumentRole.COMMAND_OR_ARGV})


@attrs.frozen
class TextCondition(PlainCondition):
    """Holds when one text in the arguments passes the test: a value, an element, or a key.

    The names of the arguments themselves are those of the tool, and not among the texts. For
    restrictions alone, as a model may write any text into some argument.
    """

    key = "text"
    table = dict
    description = "Some text anywhere in the arguments: `{ contains = ... }` or `{ regex = ... }`."
    is_pure = True

    test: ArgumentTest

    @classmethod
    def read(cls, _place: Place, part: Mapping[str, Any], /) -> "TextCondition":
        """Return the condition of a table with `contains` or `regex`."""
        return cls(text_test(part))

    def holds(self, request: Request) -> bool:
        """Return whether a text passes. Raises: `UnevaluableError` where one may be missing."""
        arguments = request.call.arguments
        texts = itertools.chain.from_iterable(map(_texts, arguments.values()))
        if any(self.test.truth(text) is True for text in (*texts, *_join_lists(arguments, request.tool))):
            return True
        lacking = _find_lacking(arguments, request.tool)
        if lacking is not None:
            raise UnevaluableError(lacking)
        return False

    def fact(self, _request: Request) -> str:
        """Return what is true instead, as shown in near misses."""
        return f"no text that {self.test}"


def _texts(value: JsonValue) -> Iterator[str]:
    """Yield the texts in a value, keys of objects included."""
    return (each for _, each in leaves_of(value) if isinstance(each, str))


def _join_lists(arguments: Mapping[str, JsonValue], tool: ToolSpec | None) -> Iterator[str]:
    """Yield the shell texts that a tool may make of a list of words in place of one."""
    for key, role in _roles(tool):
        values = values_of(arguments, key) if role is ArgumentRole.COMMAND else ()
        lists = (tuple(_texts(value)) for _, value in values if isinstance(value, tuple))
        yield from (joint.join(words) for words in lists for joint in (" ", ","))


def _find_lacking(arguments: Mapping[str, JsonValue], tool: ToolSpec | None) -> str | None:
    """Return why a text that should be in the arguments is not there, or None."""
    if tool is None or (not tool.parameters and tool.roles is None):
        has_text = any(True for value in arguments.values() for _ in _texts(value))
        return None if has_text else "there is no text in the arguments of a tool that is not declared"
    return next(itertools.chain(_lack_by_role(arguments, tool), _lack_by_schema(arguments, tool)), None)


def _lack_by_role(arguments: Mapping[str, JsonValue], tool: ToolSpec) -> Iterator[str]:
    for key, role in _roles(tool):
        names = names_of(key)
        nulls = ((name, None) for name in names if name in arguments and arguments[name] is None)
        values = (*nulls, *values_of(arguments, key))
        if not values and not key.endswith("?"):
            yield f"`args.{names[0]}` is missing"
        yield from (_no_text(name) for name, value in values if not _is_meant(value, role))


def _lack_by_schema(arguments: Mapping[str, JsonValue], tool: ToolSpec) -> Iterator[str]:
    properties, required = map(tool.parameters.get, ("properties", "required"))
    for name, schema in properties.items() if isinstance(properties, Mapping) else ():
        if not (isinstance(schema, Mapping) and schema.get("type") == "string"):
            continue
        if name in arguments:
            if not isinstance(arguments[name], str):
                yield _no_text(name)
        elif isinstance(required, tuple) and name in required:
            yield f"`args.{name}` is missing"


def _no_text(name: str) -> str:
    return f"`args.{name}` does not hold the text that it should"


def _roles(tool: ToolSpec | None) -> Iterator[tuple[str, ArgumentRole]]:
    """Yield the roles of arguments with texts: a `text` is for people, and may be a number."""
    roles = {} if tool is None or tool.roles is None else tool.roles
    yield from (each for each in roles.items() if each[1] is not ArgumentRole.TEXT)


def _is_meant(value: "JsonValue | Misshapen", role: ArgumentRole) -> bool:
    if role is ArgumentRole.ARGV or (role in _COMMANDS and isinstance(value, tuple)):
        return isinstance(value, tuple) and bool(value) and all(isinstance(word, str) for word in value)
    return isinstance(value, str)
