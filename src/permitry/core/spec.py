"""What a tool declares about itself, and which values of a call a key of its `roles` means."""

import enum
import functools
import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias, TypeVar

import attrs

from permitry.core.call import PayloadKind, check_tool_name
from permitry.core.json_values import JsonValue, canonical_json, freeze_object, mutable
from permitry.errors import CallError

__all__ = ["TRAIT_SELECTORS", "ArgumentRole", "Misshapen", "Specs", "ToolSpec", "ToolTraits", "names_of", "values_of"]

TRAIT_SELECTORS = ("@agent", "@network", "@reads", "@shell", "@writes")
"""What a rule may write in place of the name of a tool: what it is known to do."""


class ArgumentRole(enum.Enum):
    """What an argument is: shell text, an argument list, a path, an address, a patch, an agent, a working folder.

    `COMMAND` is shell text: a list in its place may become any of several commands. `COMMAND_OR_ARGV` is shell text or
    an argument list, for a tool that starts a list without a shell. `READ_TREE` is a folder that is read with all that
    lies below it; `LIST_TREE` is one whose names are listed, and those below it. Left out, both are the workspace.
    `GLOB` is a pattern of the files that are read there, as `rg --glob` takes it.
    `INPUT` is typed into a program that runs; an empty one does nothing. `TEXT` is only words: it changes nothing about
    a call.
    """

    COMMAND = "command"
    ARGV = "argv"
    COMMAND_OR_ARGV = "command_or_argv"
    INPUT = "input"
    READ_PATH = "read_path"
    READ_TREE = "read_tree"
    LIST_TREE = "list_tree"
    WRITE_PATH = "write_path"
    DELETE_PATH = "delete_path"
    URL = "url"
    PATCH = "patch"
    AGENT = "agent"
    FOLDER = "folder"
    GLOB = "glob"
    TEXT = "text"


# Left out of the digest where they are false.
_FLAGS = ("applies_patches", "requires_approval")
# What is typed into a program may be a command as well; without it, the call of such a tool only looks.
_SHELL_ROLES = frozenset(
    {
        ArgumentRole.COMMAND,
        ArgumentRole.ARGV,
        ArgumentRole.COMMAND_OR_ARGV,
        ArgumentRole.INPUT,
    }
)
_READING_ROLES = frozenset(
    {
        ArgumentRole.READ_PATH,
        ArgumentRole.READ_TREE,
        ArgumentRole.LIST_TREE,
        ArgumentRole.URL,
        ArgumentRole.FOLDER,
        ArgumentRole.GLOB,
        ArgumentRole.TEXT,
    }
)


_Word = TypeVar("_Word", bound=enum.Enum)


def _word(kind: type[_Word], word: str, value: object) -> _Word:
    """Return the member of `kind` that `value` is, or names."""
    if isinstance(value, kind):
        return value
    known = [each.value for each in kind]
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a {word}; say one of {', '.join(known)}")
    try:
        return kind(value)
    except ValueError:
        import difflib  # noqa: PLC0415 -- slow to import, and for mistakes alone

        near = difflib.get_close_matches(value.lower(), known, n=1)
        hint = f"did you mean `{near[0]}`?" if near else f"known: {', '.join(known)}"
        raise ValueError(f"unknown {word} `{value}`; {hint}") from None


def _roles_by_name(value: Mapping[str, ArgumentRole | str] | None) -> Mapping[str, ArgumentRole] | None:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise TypeError(f"`roles` is a mapping of arguments to their roles, not {value!r}")
    for name in value:
        if not isinstance(name, str):
            raise TypeError(f"a key of `roles` is the name of an argument, not {name!r}")
    return MappingProxyType({name: _word(ArgumentRole, "role", role) for name, role in value.items()})


def _set_of_kinds(kinds: Iterable[PayloadKind | str]) -> frozenset[PayloadKind]:
    if isinstance(kinds, str | PayloadKind) or not isinstance(kinds, Iterable):
        raise TypeError(f"`kinds` is a collection, such as {{PayloadKind.FUNCTION}}, not {kinds!r}")
    return frozenset(_word(PayloadKind, "kind", kind) for kind in kinds)


def _frozen_schema(value: object) -> Mapping[str, JsonValue]:
    try:
        return freeze_object(value)
    except CallError as error:
        raise CallError(f"`parameters` is a JSON Schema: {error}") from error


# Each check is a plain function: a host may make a spec for every tool of every request.
def _is_text(_: object, field: "attrs.Attribute[Any]", value: object) -> None:
    if not isinstance(value, str):
        raise TypeError(f"`{field.name}` is a text, not {value!r}")


def _are_traits(_: object, __: object, value: object) -> None:
    if not isinstance(value, ToolTraits):
        raise TypeError(f"`traits` is a ToolTraits, such as ToolTraits(read_only=True), not {value!r}")


def _is_timeout(_: object, __: object, value: float | None) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"`timeout` is a number of seconds, or None for no limit, not {value!r}")
    if not (value > 0 and math.isfinite(value)):
        raise ValueError(f"`timeout` is more than 0 seconds, or None for no limit, not {value!r}")


def _is_limit(_: object, __: object, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"`output_limit` is a whole number of characters, not {value!r}")
    if value < 1:
        raise ValueError(f"`output_limit` is at least 1 character, not {value}")


_optional_bool = attrs.field(
    default=None, kw_only=True, validator=attrs.validators.optional(attrs.validators.instance_of(bool))
)


@attrs.frozen
class ToolTraits:
    """What kind of thing a tool does. None means unknown, and unknown counts as the worse answer."""

    read_only: bool | None = _optional_bool
    destructive: bool | None = _optional_bool
    idempotent: bool | None = _optional_bool
    open_world: bool | None = _optional_bool
    spawns_agent: bool | None = _optional_bool

    @property
    def only_reads(self) -> bool:
        """Whether it is known to change nothing; one that also claims to destroy is not believed."""
        return self.read_only is True and self.destructive is not True


_is_flag = attrs.validators.instance_of(bool)


@attrs.frozen
class ToolSpec:
    """A tool's declaration: name, schema, traits, argument roles, the kinds of call it takes, and limits.

    `parameters` is a JSON Schema; `roles` says what arguments are; `timeout` is in seconds, None for no limit;
    `output_limit` is in characters. `name` is the name rules see (`mcp:server/tool` for MCP tools). Without `kinds` a
    tool takes function calls, and one of a server the calls of that server.

    A key of `roles` names an argument, `items[].path` those inside lists, `path|file_path` either; one that
    ends in `?` may be left out. None: it is not declared what the arguments are; empty: none of them touches anything.
    A role or kind may be given by its word (`"read_path"`, `"custom"`). `grammar` is what the text of custom calls is
    written in, in the language of Lark; it is for providers, and calls are not checked against it.

    `folder` is where relative paths in a call start: absolute, below `~`, or relative to the workspace. None is the
    workspace, but for the tool of a server: where its program looks is then not known. `applies_patches`: a command
    that only applies a patch is done by the tool itself, and never by a shell. `requires_approval`:
    a human is asked about each call, whatever permits it.

    Raises: `CallError` for a name no call can have, a schema that is not a JSON object; `TypeError` and `ValueError`
    for a field of the wrong type or value.
    """

    name: str = attrs.field(validator=lambda _, __, value: check_tool_name(value))
    description: str = attrs.field(default="", validator=_is_text)
    parameters: Mapping[str, JsonValue] = attrs.field(factory=dict, converter=_frozen_schema, kw_only=True, hash=False)
    traits: ToolTraits = attrs.field(factory=ToolTraits, kw_only=True, validator=_are_traits)
    roles: Mapping[str, ArgumentRole] | None = attrs.field(
        default=None, kw_only=True, converter=_roles_by_name, hash=False
    )
    version: str = attrs.field(default="1", kw_only=True, validator=_is_text)
    timeout: float | None = attrs.field(default=None, kw_only=True, validator=_is_timeout)
    output_limit: int = attrs.field(default=16_000, kw_only=True, validator=_is_limit)
    kinds: frozenset[PayloadKind] = attrs.field(kw_only=True, converter=_set_of_kinds)
    grammar: str | None = attrs.field(
        default=None, kw_only=True, validator=attrs.validators.optional(_is_text), repr=False
    )
    folder: str | None = attrs.field(default=None, kw_only=True, validator=attrs.validators.optional(_is_text))
    applies_patches: bool = attrs.field(default=False, kw_only=True, validator=_is_flag)
    requires_approval: bool = attrs.field(default=False, kw_only=True, validator=_is_flag)

    @kinds.default
    def _kinds_of_name(self) -> tuple[PayloadKind, ...]:
        # Validators come after defaults: whatever the name is by now, the error says what it should be.
        return (PayloadKind.MCP if str(self.name).startswith("mcp:") else PayloadKind.FUNCTION,)

    @functools.cached_property
    def digest(self) -> str:
        """The SHA-256 (hex) of what the tool declares about itself; limits are not part of it."""
        roles = None if self.roles is None else {name: role.value for name, role in self.roles.items()}
        declared: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
            "traits": attrs.asdict(self.traits),
            "roles": roles,
            "kinds": tuple(sorted(kind.value for kind in self.kinds)),
            "version": self.version,
        }
        later: dict[str, Any] = {"grammar": self.grammar, "folder": self.folder}
        later |= {name: getattr(self, name) or None for name in _FLAGS}
        # Left out where there is none, so that the digests of other tools stay as they were.
        declared |= {name: value for name, value in later.items() if value is not None}
        return hashlib.sha256(canonical_json(declared).encode()).hexdigest()

    @functools.cached_property
    def is_shell(self) -> bool:
        """Whether an argument is a command, or typed into one: the call is decided by what that does."""
        return not _SHELL_ROLES.isdisjoint((self.roles or {}).values())

    @functools.cached_property
    def follows_urls(self) -> bool:
        """Whether an argument is an address, so that the call goes wherever it says."""
        return ArgumentRole.URL in (self.roles or {}).values()

    @functools.cached_property
    def only_reads(self) -> bool:
        """Whether it is known to change nothing, by its traits and the roles of its arguments."""
        return self.traits.only_reads and _READING_ROLES.issuperset((self.roles or {}).values())

    def __reduce__(self) -> tuple[Any, ...]:
        fields = {field.name: getattr(self, field.name) for field in attrs.fields(ToolSpec)}
        as_dicts = {"parameters": mutable(self.parameters), "roles": None if self.roles is None else dict(self.roles)}
        return functools.partial(ToolSpec, **{**fields, **as_dicts}), ()


@attrs.frozen
class Misshapen:
    """An argument that does not have the shape that its role requires; it becomes an unknown action."""

    value: JsonValue


_Found: TypeAlias = "tuple[str, JsonValue | Misshapen]"


@functools.lru_cache(maxsize=512)
def _steps(key: str) -> tuple[tuple[str, tuple[str, ...], bool], ...]:
    """Return for each name in a key of `roles` the argument, the path inside it, and whether it may be left out."""
    names = key.split("|")
    paths = (name.removesuffix("?").replace("[]", ".[]").split(".") for name in names)
    return tuple((first, tuple(steps), name.endswith("?")) for name, (first, *steps) in zip(names, paths, strict=True))


def names_of(key: str) -> list[str]:
    """Return the names of the arguments in a key of `roles`: `edits` and `file` of `edits[].path|file?`."""
    return [first for first, _, _ in _steps(key)]


def values_of(arguments: Mapping[str, JsonValue], key: str) -> list[_Found]:
    """Return the arguments a key of `roles` means, each with its name; null counts as left out.

    If the key lists several names, all arguments that are given count: which one the tool uses is not known.
    """
    given: list[_Found] = []
    for first, steps, is_optional in _steps(key):
        found: list[_Found] = [(first, arguments[first])] if arguments.get(first) is not None else []
        for at, step in enumerate(steps, start=1):
            may_lack = is_optional and at == len(steps)
            found = [inner for origin, value in found for inner in _inside(origin, value, step, may_lack=may_lack)]
        given += found
    return given


def _inside(origin: str, value: "JsonValue | Misshapen", step: str, *, may_lack: bool) -> Iterator[_Found]:
    if isinstance(value, Misshapen):
        yield origin, value
    elif step == "[]" and isinstance(value, tuple):
        yield from ((f"{origin}[{i}]", Misshapen(item) if item is None else item) for i, item in enumerate(value))
    elif step != "[]" and isinstance(value, Mapping):
        inner = value.get(step)
        if inner is not None:
            yield f"{origin}.{step}", inner
        elif not may_lack:
            yield f"{origin}.{step}", Misshapen(None)
    else:
        yield origin, Misshapen(value)


class Specs(Protocol):
    """Declarations of tools by name: a registry, or a mapping."""

    def get(self, name: str, /) -> ToolSpec | None:
        """Return the declaration of the tool, or None."""
