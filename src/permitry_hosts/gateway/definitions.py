"""What MCP servers say of their tools, as our declarations; and whether they say the same as before."""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import mcp_types as types

from permitry.core.json_values import canonical_json, freeze_object
from permitry.core.spec import ToolSpec, ToolTraits
from permitry.core.texts import shorten, visible
from permitry.errors import AdapterError, CallError
from permitry.files import open_regular, replace_file

__all__ = ["Definition", "Pins", "read_definition"]

_HINTS = {
    "read_only": ("readOnlyHint", False),
    "destructive": ("destructiveHint", True),
    "idempotent": ("idempotentHint", False),
    "open_world": ("openWorldHint", True),
}
"""The hint for each trait, and which answer makes a tool worse."""
_SHOWN = ("title", "description", "inputSchema", "outputSchema", "annotations")
"""The parts of a definition that are passed on: no other part of it reaches a client."""
_LONGEST = 4_096
# INVARIANT: no name holds a sentence that a user could take for one of ours, nor a slash, with which the pattern
# `mcp:*/look` would be about `fs/drop/look`, and a tool could pass for a method of the protocol.
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")


@attrs.frozen
class Definition:
    """A tool as its server defines it; `digest` covers all `parts`, and `digests` has one for each."""

    name: str
    spec: ToolSpec
    digest: str
    parts: Mapping[str, Any] = attrs.field(repr=False)
    is_trusted: bool = False

    @property
    def digests(self) -> Mapping[str, str]:
        """The digest of each part."""
        return {part: _digest(value) for part, value in self.parts.items()}

    def as_tool(self, name: str) -> types.Tool:
        """Return the definition for a client that knows the tool as `name`."""
        # A client may decide on annotations; without any, it takes a tool for a destructive one.
        hidden = () if self.is_trusted else ("annotations",)
        parts = {part: value for part, value in self.parts.items() if part not in hidden}
        return types.Tool.model_validate({**parts, "name": name})


def read_definition(server: str, tool: types.Tool, *, is_trusted: bool) -> Definition:
    """Return what a server says of a tool, in its favour only if trusted. Raises: `CallError`."""
    if _NAME.fullmatch(tool.name) is None:
        raise CallError(f"`{visible(shorten(tool.name, 200))}` is not a name that a tool may have")
    said = tool.model_dump(mode="json", by_alias=True, exclude_none=True)
    parts = {key: said[key] for key in _SHOWN if key in said}
    digest = _digest(parts)
    spec = ToolSpec(
        f"mcp:{server}/{tool.name}",
        str(said.get("description", "")),
        parameters=said["inputSchema"],
        traits=_traits(parts.get("annotations", {}), is_trusted=is_trusted),
        version=digest,
    )
    return Definition(tool.name, spec, digest, parts, is_trusted)


def _digest(value: object) -> str:
    return hashlib.sha256(canonical_json(freeze_object({"value": value})).encode()).hexdigest()


def _traits(hints: Mapping[str, Any], *, is_trusted: bool) -> ToolTraits:
    """Return the traits in hints; without trust only those count that make a tool worse."""
    given = {trait: (hints.get(hint), worse) for trait, (hint, worse) in _HINTS.items()}
    return ToolTraits(
        **{
            trait: value
            for trait, (value, worse) in given.items()
            if isinstance(value, bool) and (is_trusted or value is worse)
        }
    )


@attrs.frozen
class Pins:
    """The digests of definitions as they were first seen, or last approved: a file each in `folder`."""

    folder: Path

    def changes(self, server: str, definition: Definition) -> tuple[str, ...]:
        """Return which parts of a tool are others than before; one never seen is pinned as it is.

        `server` is the `Server.identity`. Raises: `AdapterError` if that is not known.
        """
        try:
            with open_regular(self._file(server, definition)) as (stream, _):
                known = _digests(stream.read(_LONGEST))
        except FileNotFoundError:
            self.pin(server, definition)
            return ()
        except OSError as error:
            raise AdapterError(f"cannot read what was pinned in `{self.folder}`: {error.strerror}") from error
        now = definition.digests
        return tuple(part for part in sorted({*known, *now}) if known.get(part) != now.get(part))

    def pin(self, server: str, definition: Definition) -> None:
        """Take a tool as it is now for the approved one. Raises: `AdapterError` if it cannot."""
        file = self._file(server, definition)
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace_file(file, json.dumps(definition.digests).encode())
        except OSError as error:
            raise AdapterError(f"cannot pin a definition in `{self.folder}`: {error.strerror}") from error

    def _file(self, server: str, definition: Definition) -> Path:
        return self.folder / hashlib.sha256(f"{server}/{definition.name}".encode()).hexdigest()


def _digests(text: bytes) -> Mapping[str, object]:
    """Return the digests of parts in a pin; of one that is damaged, none, so that each part is a change."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return {part: digest for part, digest in found.items() if part in _SHOWN} if isinstance(found, dict) else {}
