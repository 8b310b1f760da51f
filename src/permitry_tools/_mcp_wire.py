"""What an MCP server says, as the JSON of the protocol, in our words: its tools as specs, its results as results.

Nothing of it is believed: names must be names, hints only make a tool worse, and a definition has a digest, so that a
change is seen.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from permitry.port import (
    ArgumentSchema,
    CallError,
    MediaPart,
    RegistryError,
    ToolCall,
    ToolResult,
    ToolSpec,
    ToolTraits,
    canonical_json,
    freeze_object,
)

__all__ = ["Definition", "Listing", "read_result", "read_tools"]

_LONGEST_DESCRIPTION = 20_000
_MOST_MEDIA = 20 * 1024 * 1024
_MOST_TEXT = 2 * 1024 * 1024
"""The characters of all definitions of a server: checking their schemas takes time."""
_HINTS = {
    "read_only": ("readOnlyHint", False),
    "destructive": ("destructiveHint", True),
    "idempotent": ("idempotentHint", False),
    "open_world": ("openWorldHint", True),
}
"""The hint for each trait, and which answer makes a tool worse."""


@attrs.frozen
class Definition:
    """A tool as its server defines it; `digest` names the definition, and changes with it."""

    name: str
    spec: ToolSpec
    digest: str


@attrs.frozen
class Listing:
    """The tools of a server by name, and why others were skipped."""

    definitions: Mapping[str, Definition] = attrs.field(factory=dict)
    skipped: Mapping[str, str] = attrs.field(factory=dict)


def read_tools(server: str, tools: Iterable[Mapping[str, Any]], *, trust_annotations: bool, timeout: float) -> Listing:
    """Return the tools of the server named `server`, in the order it lists them; what is not a tool is skipped."""
    definitions: dict[str, Definition] = {}
    skipped: dict[str, str] = {}
    room = _MOST_TEXT
    for tool in tools:
        name = str(tool.get("name", ""))
        room -= len(str(tool))
        if room < 0:
            skipped[name] = "the definitions of the server are too large"
            continue
        try:
            found = _definition(server, name, tool, trust_annotations=trust_annotations, timeout=timeout)
        except (CallError, RegistryError) as error:
            skipped[name] = str(error)
            continue
        if name in definitions:
            skipped[name] = "the server lists it twice"
        else:
            definitions[name] = found
    # Of two tools with one name it is unknown which one a call would run.
    return Listing({name: each for name, each in definitions.items() if name not in skipped}, skipped)


def _definition(
    server: str, name: str, tool: Mapping[str, Any], *, trust_annotations: bool, timeout: float
) -> Definition:
    # The name must be one that a call can have; anything else could be called, but never be ruled on.
    whole = ToolCall(f"mcp:{server}/{name}").tool
    description = str(tool.get("description") or "")[:_LONGEST_DESCRIPTION]
    annotations = tool.get("annotations") or {}
    defined = {key: tool.get(key) for key in ("description", "inputSchema", "outputSchema")}
    canonical = canonical_json(freeze_object({**defined, "annotations": annotations}))
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    traits = _traits(annotations, is_trusted=trust_annotations)
    spec = ToolSpec(
        whole,
        description,
        parameters=tool.get("inputSchema") or {},
        traits=traits,
        version=digest[:16],
        timeout=timeout,
    )
    if spec.parameters:
        ArgumentSchema(spec.parameters)  # a schema that cannot be used is an error here, of this tool alone
    return Definition(name, spec, digest)


def _traits(annotations: Mapping[str, Any], *, is_trusted: bool) -> ToolTraits:
    """Return the traits that hints give; from a server that is not trusted only those count that make it worse."""
    declared = {trait: (annotations.get(hint), worse) for trait, (hint, worse) in _HINTS.items()}
    return ToolTraits(
        **{
            trait: value
            for trait, (value, worse) in declared.items()
            if isinstance(value, bool) and (is_trusted or value is worse)
        }
    )


def read_result(result: Mapping[str, Any]) -> ToolResult:
    """Return a result of the protocol as ours: texts joined by newlines, images and sound as parts.

    What cannot be shown is described in its place. A result without any text shows its structured content.
    """
    content = _Content()
    for block in result.get("content") or ():
        content.add(block)
    structured = result.get("structuredContent")
    frozen = None
    if isinstance(structured, Mapping):
        try:
            frozen = freeze_object(structured)
        except CallError as error:
            content.texts.append(f"[structured content left out: {error}]")
    if not content.texts and structured is not None:
        content.texts.append(json.dumps(structured, ensure_ascii=False))
    text = "\n".join(content.texts) or ("" if content.parts else "(no content)")
    return ToolResult(result.get("isError") is not True, text, parts=content.parts, structured=frozen)


@attrs.define
class _Content:
    """Collects the content blocks of one result."""

    texts: list[str] = attrs.field(factory=list)
    parts: list[MediaPart] = attrs.field(factory=list)
    _room: int = _MOST_MEDIA

    def add(self, block: Mapping[str, Any]) -> None:
        match block.get("type"):
            case "text":
                self.texts.append(str(block.get("text", "")))
            case "image" | "audio":
                self._media(block.get("data"), block.get("mimeType"))
            case "resource":
                self._resource(block.get("resource") or {})
            case "resource_link":
                self.texts.append(f"[resource {block.get('name', '')}: {block.get('uri', '')}]")
            case other:
                self.texts.append(f"[content of the type `{other}` left out]")

    def _resource(self, resource: Mapping[str, Any]) -> None:
        if isinstance(resource.get("text"), str):
            self.texts.append(f"[resource {resource.get('uri', '')}]\n{resource['text']}")
        else:
            self._media(resource.get("blob"), resource.get("mimeType"))

    def _media(self, data: object, media_type: object) -> None:
        try:
            part = MediaPart(base64.b64decode(data if isinstance(data, str) else "?", validate=True), str(media_type))
        except (binascii.Error, ValueError):
            self.texts.append(f"[content of the type `{media_type}` left out]")
            return
        self._room -= len(part.data)
        if self._room < 0:
            self.texts.append(f"[content of the type `{media_type}` left out: it is too large]")
        else:
            self.parts.append(part)
