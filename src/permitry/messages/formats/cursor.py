"""A place in a text that moves over what a reader understands of it, and what is found there.

The text is parsed to calls, what is left of the text, and notes on what was refused. What is known besides the text are
the declared tools.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from types import MappingProxyType
from typing import Any, Concatenate, Final, ParamSpec, Self, TypeAlias

import attrs

__all__ = [
    "LOOK_BACK", "Block", "BrokenError", "Cursor", "Diagnostic", "MoreError", "ParsedText", "Reader", "TextCall",
    "Tools", "items_of", "read_tool", "reader", "unique",
]  # fmt: skip

# The common types come first: to ask the abstract ones takes long.
_COLLECTION: Final = (list, tuple, dict, Collection)
_MAPPING: Final = (dict, Mapping)
_LIST: Final = (list, tuple)
_LONGEST_CHAIN: Final = 4
_GROUPS: Final = ("functionDeclarations", "function_declarations")
_SCHEMAS: Final = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema")


class Tools:
    """The tools a text may call, read from whatever shape they come in.

    `given` holds tool objects as OpenAI (with or without `function`), Anthropic, Gemini or MCP have them, objects with
    `name` and `parameters`, names alone, or is a mapping of names to JSON schemas. What is none of these is passed
    over. Nothing given, or an empty collection, means that nothing is known about tools: then `is_given` is false.
    """

    def __init__(self, given: Iterable[Any] | None) -> None:
        self._given = given
        self.is_given = given is not None and not (isinstance(given, _COLLECTION) and len(given) == 0)

    @cached_property
    def schemas(self) -> Mapping[str, Mapping[str, Any]]:
        """The schema of the arguments of each declared tool, empty when there is none."""
        given = self._given or ()
        pairs = given.items() if isinstance(given, _MAPPING) else chain.from_iterable(map(read_tool, given))
        return {name: _object(schema) for name, schema in pairs if isinstance(name, str)}

    def knows(self, name: str) -> bool | None:
        """Return whether a tool of this name is declared, or None when no tools were given."""
        return name in self.schemas if self.is_given else None

    def property(self, name: str, argument: str) -> object:
        """Return the schema of one argument, or None."""
        schema = self.schemas.get(name, {})
        return _resolve(_object(schema.get("properties")).get(argument), schema, _LONGEST_CHAIN)

    def lacks(self, name: str, argument: str) -> bool:
        """Return whether the arguments of a tool are declared, and this is none of them."""
        properties = _object(self.schemas.get(name, {}).get("properties"))
        return bool(properties) and argument not in properties


def _resolve(schema: object, root: Mapping[str, Any], depth: int) -> object:
    """Return a schema with what its `$ref` points to inside of `root` in its place, also in its alternatives."""
    if not isinstance(schema, _MAPPING) or not depth:
        return schema
    pointer = schema.get("$ref")
    if isinstance(pointer, str) and pointer.startswith("#/"):
        target: object = root
        for step in pointer[2:].split("/"):
            target = _object(target).get(step.replace("~1", "/").replace("~0", "~"))
        return _resolve(target, root, depth - 1)
    found = {word: schema[word] for word in ("anyOf", "oneOf", "allOf") if isinstance(schema.get(word), _LIST)}
    parts = {word: [_resolve(part, root, depth - 1) for part in items] for word, items in found.items()}
    return {**schema, **parts} if parts else schema


def read_tool(tool: object) -> list[tuple[object, object]]:
    """Return the names in a tool as some provider takes it, with their schemas; nothing for what is not a tool."""
    if isinstance(tool, str):
        return [(tool, None)]
    if not isinstance(tool, _MAPPING):
        name = getattr(tool, "name", None)
        return [(name, _first(getattr(tool, key, None) for key in _SCHEMAS))] if isinstance(name, str) else []
    for word in _GROUPS:
        if isinstance(tool.get(word), _LIST):
            return [pair for each in tool[word] if isinstance(each, Mapping) for pair in read_tool(each)]
    inner = _first((tool.get("function"), tool.get("custom"), tool))
    return [(inner["name"], _first(map(inner.get, _SCHEMAS)))] if isinstance(inner.get("name"), str) else []


def _object(value: object) -> Mapping[Any, Any]:
    return value if isinstance(value, _MAPPING) else {}


def _first(values: Iterable[object]) -> Mapping[Any, Any]:
    return next((value for value in values if isinstance(value, _MAPPING)), {})


def items_of(value: object) -> Sequence[Any]:
    """Return a list as it is; nothing for what is none."""
    return value if isinstance(value, _LIST) else ()


LOOK_BACK: Final = 80
_LONGEST_NAME: Final = 256
_BLANKS: Final = re.compile(r"\s*+")


@attrs.frozen
class TextCall:
    """One call a model wrote as text.

    `arguments` is a plain JSON object, to be treated as immutable. `span` is the call's place in the text: 0-based
    offsets, the second past the end. `is_known` is None when no tools were given, and False for a tool that is not
    declared. `repaired` says that the text was not what its format demands, and was guessed at.
    """

    name: str
    arguments: Mapping[str, Any]
    format: str
    span: tuple[int, int]
    is_known: bool | None
    repaired: bool = False
    call_id: str | None = None


@attrs.frozen
class Diagnostic:
    """A note on the text from `start` to `end`: why it is not a call although it begins like one, or what is odd in it.

    `is_broken` says that a call was meant there, and is none; it is False for a quotation, for data that looks like a
    call, and where a call was understood all the same.
    """

    message: str
    start: int
    end: int
    format: str | None = None
    is_broken: bool = False


@attrs.frozen
class ParsedText:
    """The calls of a text in order, the text around them, the model's reasoning, and notes on what was refused."""

    calls: tuple[TextCall, ...] = ()
    content: str = ""
    reasoning: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()


@attrs.frozen
class Block:
    """A piece of text a reader has understood, up to `end`.

    `content` is what of it remains text. With `until`, all that follows up to that closing text is reasoning
    (`is_thinking`) or plain content, whatever it looks like. `closer` is a closing mark that may come later and is to
    be dropped then. `is_stray` marks the end of reasoning that began before the text did. `quotes` is the text that
    ends a quotation which begins here, `ends` that of one which ends here, and behind an `is_last` one nothing is a
    call. `is_broken` says that the `note` is about a call that was refused, among others that were not.
    """

    end: int
    calls: tuple[TextCall, ...] = ()
    content: str = ""
    until: tuple[str, ...] = ()
    is_thinking: bool = False
    closer: str | None = None
    is_stray: bool = False
    quotes: str | None = None
    ends: str | None = None
    is_last: bool = False
    note: str | None = None
    is_broken: bool = False


@attrs.define(eq=False)
class MoreError(Exception):
    """More text may change the answer; `wanted` is a text without which it will not."""

    wanted: str | None = None


@attrs.define(eq=False)
class BrokenError(Exception):
    """The text begins like a block of a format and is none; what was read of it up to `end` is not a call.

    `is_in_string` says that it broke inside a string: it is unknown where the string ends, and what looks like a call
    after that place may be a part of it. `is_meant` is False where a call was perhaps not meant at all.
    """

    end: int
    message: str = ""
    is_in_string: bool = attrs.field(default=False, kw_only=True)
    is_meant: bool = attrs.field(default=True, kw_only=True)


@attrs.define(eq=False)
class Cursor:
    """The text that is being parsed, and the place up to which a block is read that begins at `start`.

    At first the place is behind the mark of the block. `first` is the character with which each line of the content so
    far begins, any digit as 0, or a blank where they differ. What had to be guessed at `is_repaired`.

    INVARIANT: while the text `is_open`, no answer is given that more text could change: `MoreError` is raised instead.
    Every reader gets its knowledge of the text from these methods, so streams and whole texts give the same calls.
    """

    text: str
    tools: Tools = attrs.field(factory=lambda: Tools(None))
    is_open: bool = False
    base: int = 0
    prior: str = ""
    is_repairing: bool = False
    format: str = ""
    first: str = ""
    is_doubtful: bool = False
    code: str | None = None
    opened: Mapping[str, int] = MappingProxyType({})
    start: int = 0
    pos: int = 0
    is_repaired: bool = False
    _found: dict[str, tuple[int, int]] = attrs.field(factory=dict)

    def begin(self, start: int, pos: int) -> Self:
        """Go to a block that begins at `start`, and is read from `pos` on."""
        self.start, self.pos, self.is_repaired = start, pos, False
        return self

    @property
    def piece(self) -> str:
        """The text from `start` to here."""
        return self.text[self.start : self.pos]

    # Looking

    def find(self, mark: str, start: int) -> int:
        """Return where `mark` next occurs, or -1."""
        at = self._look(mark, start, partial(self.text.find, mark))
        if at < 0 and self.is_open:
            raise MoreError(mark)
        return at

    def _look(self, key: str, start: int, look: Callable[[int], int]) -> int:
        """Return what `look` finds from `start` on, or -1; through the whole text, each thing is looked for once."""
        since, at = self._found.get(key, (len(self.text) + 1, 0))
        if since > start or 0 <= at < start:
            at = look(start)
            self._found[key] = (start, at)
        return at

    def at(self, mark: str, pos: int = -1) -> bool:
        """Return whether `mark` is at `pos`, or comes next."""
        begin = self.pos if pos < 0 else pos
        if self.text.startswith(mark, begin):
            return True
        if self.is_open and len(self.text) - begin < len(mark) and mark.startswith(self.text[begin:]):
            raise MoreError
        return False

    def blank_end(self, pos: int) -> int:
        """Return the first place from `pos` on that is not a blank."""
        return self.run(_BLANKS, pos)

    def run(self, characters: re.Pattern[str], pos: int) -> int:
        """Return the end of the run of `characters` at `pos`; the pattern must match one character after the other."""
        found = characters.match(self.text, pos)
        end = found.end() if found else pos
        if self.is_open and end >= len(self.text):
            raise MoreError
        return end

    def is_end(self, pos: int) -> bool:
        """Return whether the text ends at `pos`."""
        if pos < len(self.text):
            return False
        if self.is_open:
            raise MoreError
        return True

    def before(self, pos: int) -> str:
        """Return up to `LOOK_BACK` characters before `pos`."""
        lead = self.text[max(pos - LOOK_BACK, 0) : pos]
        return lead if len(lead) == LOOK_BACK else f"{self.prior}{lead}"[-LOOK_BACK:]

    # Moving

    def skip(self) -> Self:
        """Move behind the blanks that come next."""
        self.pos = self.blank_end(self.pos)
        return self

    def has(self, mark: str) -> bool:
        """Move behind `mark`; return whether it comes next."""
        is_next = self.at(mark)
        self.pos += len(mark) if is_next else 0
        return is_next

    def need(self, mark: str, message: str = "") -> None:
        """Move behind `mark`, which must come next."""
        self.require(self.has(mark), message or f"`{mark}` is missing")

    def require(self, is_good: object, message: str) -> None:
        """Go on only if all is well so far, or raise `BrokenError`."""
        if not is_good:
            raise BrokenError(self.pos, message)

    def take(self, characters: re.Pattern[str]) -> str:
        """Move behind the run of `characters` that comes next, and return it."""
        begin, self.pos = self.pos, self.run(characters, self.pos)
        return self.text[begin : self.pos]

    def until(self, mark: str, message: str = "") -> str:
        """Move behind the next `mark`, which there must be; return the text before it."""
        begin, end = self.pos, self.find(mark, self.pos)
        self.require(end >= 0, message or f"`{mark}` is missing")
        self.pos = end + len(mark)
        return self.text[begin:end]

    def until_before(self, mark: str, following: tuple[str, ...]) -> str:
        """Move to the first of `following` right behind a `mark`; return the text before that.

        A value may hold its own closing mark: the one that closes it is the one the next mark comes after.
        """

        def look(start: int) -> int:
            at = self.find(mark, start)
            while at >= 0 and not any(self.at(each, self.blank_end(at + len(mark))) for each in following):
                at = self.find(mark, at + len(mark))
            return at

        begin = self.pos
        end = self._look(f"{mark}\0{following[0]}", begin, look)
        self.require(end >= 0, f"`{mark}` is missing")
        self.pos = self.blank_end(end + len(mark))
        return self.text[begin:end]

    def rename(self, old: str, new: str) -> None:
        """Give what is read a name of its own, unless another format than `old` was asked for."""
        if self.format == old:
            self.format = new

    def call(self, name: str, arguments: object, call_id: object = None, *, format_name: str | None = None) -> TextCall:
        """Return the call from `start` to here, of a good name and an object of arguments."""
        is_name = 0 < len(name) <= _LONGEST_NAME and name.isprintable() and name == name.strip()
        self.require(is_name, "the name of the tool is missing or holds odd characters")
        if not isinstance(arguments, dict):
            raise BrokenError(self.pos, f"the arguments of `{name}` are not a JSON object")
        return TextCall(
            name,
            arguments,
            format_name or self.format,
            (self.base + self.start, self.base + self.pos),
            self.tools.knows(name),
            self.is_repaired,
            call_id if isinstance(call_id, str) and call_id else None,
        )

    def block(self, name: str, arguments: object, call_id: object = None, *, format_name: str | None = None) -> Block:
        """Return the block of the one call that has been read, as `call` does."""
        return Block(self.pos, (self.call(name, arguments, call_id, format_name=format_name),))

    def close(self, calls: tuple[TextCall, ...], closers: Sequence[str], *, is_needed: bool = True) -> Block:
        """Return the block of calls up to one of `closers`; `is_needed` unless the text ends."""
        end = self.pos
        if any(map(self.skip().has, closers)):
            return Block(self.pos, calls)
        if not is_needed:
            return Block(end, calls)
        if not self.is_end(self.pos):
            raise BrokenError(end, f"`{closers[0]}` is missing")
        return Block(self.pos, calls, note=f"`{closers[0]}` is missing at the end of the text")


Reader: TypeAlias = Callable[[Cursor], Block | None]
_Settings = ParamSpec("_Settings")


def reader(read: Callable[Concatenate[Cursor, _Settings], Block | None]) -> Callable[_Settings, Reader]:
    """Return a function of the settings of `read`, which returns the reader that has them."""
    return lambda *given, **named: lambda cur: read(cur, *given, **named)


def unique(pairs: Iterable[tuple[str, object]], end: int) -> dict[str, object]:
    """Return the object of `pairs`, in which no key may come twice: either could be meant."""
    result: dict[str, object] = {}
    for key, value in pairs:
        if key in result:
            raise BrokenError(end, f"the argument `{key[:60]}` occurs twice")
        result[key] = value
    return result
