"""What an MCP server says, in our words."""

import base64
from typing import Any

from tests.tables import for_each

from permitry.core.result import MediaPart, ToolResult
from permitry.core.spec import ToolTraits
from permitry_tools._mcp_wire import Listing, read_result, read_tools

PICTURE = base64.b64encode(b"picture").decode()


def _listed(*tools: dict[str, Any], trust_annotations: bool = False) -> Listing:
    return read_tools("docs", tools, trust_annotations=trust_annotations, timeout=5)


def _tool(name: str = "search", **rest: object) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, **rest}


def test_a_tool_becomes_a_spec() -> None:
    """Its name names the server; no one said what its arguments are."""
    spec = _listed(_tool(description="Search.")).definitions["search"].spec
    assert (spec.name, spec.description, spec.timeout, spec.roles) == ("mcp:docs/search", "Search.", 5, None)
    assert dict(spec.parameters) == {"type": "object"}
    assert spec.traits == ToolTraits()


@for_each(
    "name",
    ["", " ", "a ", " a", "a\nb", "a\u200bb", "\u202ea", "a\u00adb", "a\x00b", "a" * 300, "a" * 250],
    ids=ascii,
)
def test_a_name_that_no_call_can_have_is_skipped(name: str) -> None:
    """It could not be ruled on, or would look like another."""
    listing = _listed(_tool(name), _tool("good"))
    assert list(listing.definitions) == ["good"]
    assert list(listing.skipped) == [name]


def test_a_name_that_is_listed_twice_is_skipped() -> None:
    """No one knows which one a call would run."""
    listing = _listed(_tool(description="a"), _tool("other"), _tool(description="b"))
    assert list(listing.definitions) == ["other"]
    assert listing.skipped == {"search": "the server lists it twice"}


def test_a_schema_that_is_too_deep_is_skipped() -> None:
    """With the reason."""
    deep: dict[str, Any] = {}
    for _ in range(100):
        deep = {"properties": deep}
    listing = _listed({"name": "search", "inputSchema": deep})
    assert "nested deeper" in listing.skipped["search"]


def test_a_schema_that_cannot_be_checked_is_skipped() -> None:
    """Alone, and with what would have to change."""
    wrong = {"properties": {"a": {"$ref": "http://127.0.0.1:9/a"}}}
    listing = _listed({"name": "search", "inputSchema": wrong}, _tool("good"))
    assert list(listing.definitions) == ["good"]
    assert "nothing is fetched" in listing.skipped["search"]


def test_definitions_without_end_are_skipped() -> None:
    """Each of their schemas would be checked; those that come first are offered."""
    large = {"type": "object", "title": "a" * 1_000_000}
    listing = _listed(*({"name": name, "inputSchema": large} for name in "abc"))
    assert list(listing.definitions) == ["a", "b"]
    assert listing.skipped == {"c": "the definitions of the server are too large"}


_GOOD = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
_BAD = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True}


def test_hints_that_speak_for_a_tool_are_not_believed() -> None:
    """A server that attacks would give them."""
    assert _listed(_tool(annotations=_GOOD)).definitions["search"].spec.traits == ToolTraits()


def test_hints_that_speak_against_a_tool_count() -> None:
    """No one lies to its own harm."""
    assert _listed(_tool(annotations=_BAD)).definitions["search"].spec.traits == ToolTraits(
        read_only=False, destructive=True, idempotent=False, open_world=True
    )


def test_a_host_may_trust_a_server() -> None:
    """Then every hint counts, and what is not a hint still does not."""
    trusted = _listed(
        _tool(annotations=_GOOD), _tool("odd", annotations={"readOnlyHint": "yes"}), trust_annotations=True
    )
    assert trusted.definitions["search"].spec.traits == ToolTraits(
        read_only=True, destructive=False, idempotent=True, open_world=False
    )
    assert trusted.definitions["odd"].spec.traits == ToolTraits()


@for_each("change")
def test_any_change_of_a_definition_is_seen(change: dict[str, Any]) -> None:
    """By its digest, which the version of the spec shows."""
    before = _listed(_tool(description="Search.")).definitions["search"]
    after = _listed({**_tool(description="Search."), **change}).definitions["search"]
    assert before.digest != after.digest
    assert before.spec.version != after.spec.version


def test_the_same_definition_has_the_same_digest() -> None:
    """In whatever order it is written, and with whatever else next to it."""
    before = _listed({"name": "a", "description": "d", "inputSchema": {"x": 1, "y": 2}}).definitions["a"]
    after = _listed({"inputSchema": {"y": 2, "x": 1}, "_meta": {"z": 1}, "description": "d", "name": "a"})
    assert after.definitions["a"].digest == before.digest


# Results -------------------------------------------------------------------------------------------------------------


def _result(*content: dict[str, Any], **rest: object) -> ToolResult:
    return read_result({"content": list(content), **rest})


def test_texts_are_joined() -> None:
    """One a line."""
    assert _result({"type": "text", "text": "a"}, {"type": "text", "text": "b"}) == ToolResult(True, "a\nb")


def test_an_error_of_the_tool_is_a_failure() -> None:
    """Its text is for the model."""
    assert _result({"type": "text", "text": "no"}, isError=True) == ToolResult(False, "no")


@for_each(("kind", "media_type"), [("image", "image/png"), ("audio", "audio/wav")])
def test_pictures_and_sound_are_parts(kind: str, media_type: str) -> None:
    """Next to the text."""
    result = _result({"type": kind, "data": PICTURE, "mimeType": media_type}, {"type": "text", "text": "a"})
    assert result == ToolResult(True, "a", parts=(MediaPart(b"picture", media_type),))


@for_each(
    "block",
    [
        {"type": "image", "data": "no base 64!", "mimeType": "image/png"},
        {"type": "image", "data": PICTURE, "mimeType": "text/html"},
        {"type": "image", "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "file:///a", "blob": PICTURE, "mimeType": "application/pdf"}},
        {"type": "other"},
    ],
)
def test_what_cannot_be_shown_is_reported(block: dict[str, Any]) -> None:
    """The model learns that something was there."""
    result = _result(block)
    assert result.parts == ()
    assert result.text.startswith("[content of the type `")
    assert result.text.endswith("` left out]")


def test_too_much_media_is_left_out() -> None:
    """A result has room for twenty megabytes."""
    block = {"type": "image", "data": base64.b64encode(bytes(12 * 1024 * 1024)).decode(), "mimeType": "image/png"}
    result = _result(block, block)
    assert len(result.parts) == 1
    assert "too large" in result.text


def test_resources_are_shown_with_their_addresses() -> None:
    """Text within, or only where it is."""
    assert _result(
        {"type": "resource", "resource": {"uri": "file:///a", "text": "in it"}},
        {"type": "resource_link", "uri": "file:///b", "name": "b"},
    ) == ToolResult(True, "[resource file:///a]\nin it\n[resource b: file:///b]")


def test_structured_content_is_kept_and_shown_when_there_is_no_text() -> None:
    """Hosts that pass it on get the object."""
    assert _result({"type": "text", "text": "a"}, structuredContent={"n": 1}) == ToolResult(
        True, "a", structured={"n": 1}
    )
    assert _result(structuredContent={"n": "é"}) == ToolResult(True, '{"n": "é"}', structured={"n": "é"})
    assert _result(structuredContent=[1]) == ToolResult(True, "[1]")


def test_structured_content_that_is_no_json_of_ours_is_left_out() -> None:
    """The text is still there."""
    result = _result({"type": "text", "text": "a"}, structuredContent={"n": "a" * 2_000_000})
    assert result.structured is None
    assert result.text.startswith("a\n[structured content left out: ")


def test_nothing_is_reported_as_nothing() -> None:
    """An empty result is a success all the same."""
    assert _result() == ToolResult(True, "(no content)")
