"""The shape of Gemini's contents: `functionCall` parts in, `functionResponse` parts out.

Keys are read as the API writes them (`functionCall`) and as Python programs dump them (`function_call`).
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from permitry.core.call import ToolCall
from permitry.core.result import ToolResult
from permitry.errors import CallError
from permitry.messages.incoming import IncomingCall, Message, check_role, incoming, plain_id
from permitry.messages.outgoing import base64_text, divided, function_name

__all__ = ["call_message", "calls_in", "result_message"]

_ORIGIN = "gemini"
# What the model says, and what the provider has run itself; anything else is refused, so that no call can vanish.
_PARTS = frozenset(
    {
        "codeExecutionResult", "executableCode", "fileData", "functionCall", "functionResponse", "inlineData",
        "mediaResolution", "partMetadata", "text", "thought", "thoughtSignature", "toolCall", "toolResponse",
        "videoMetadata",
    }
)  # fmt: skip
_CANDIDATE = frozenset(
    {
        "avgLogprobs", "citationMetadata", "content", "finishMessage", "finishReason", "groundingAttributions",
        "groundingMetadata", "index", "logprobsResult", "safetyRatings", "tokenCount", "urlContextMetadata",
    }
)  # fmt: skip
# Narrower than what a model can see in a message of the user.
_IMAGES = frozenset({"image/jpeg", "image/png", "image/webp"})


def calls_in(message: Message) -> list[IncomingCall] | None:
    """Return the calls of a model's content or of a whole response, or None for another shape.

    Each result is a content of its own; the API wants the parts for all calls of one content in one content.
    """
    if "parts" in message or message.get("role") == "model":
        return list(_calls(message))
    candidates = message.get("candidates")
    if not isinstance(candidates, list):
        return None
    return [call for candidate in candidates[:1] for call in _calls(_content(candidate))]


def call_message(call: ToolCall) -> dict[str, Any]:
    """Return the model's content with `call` as its one part.

    Raises: `CallError` for a call of free text or a local shell.
    """
    function = {"name": function_name(call, _ORIGIN), "args": call.to_dict()}
    named = function if call.call_id is None else {"id": call.call_id, **function}
    return {"role": "model", "parts": [{"functionCall": named}]}


def result_message(result: ToolResult, call: ToolCall) -> dict[str, Any]:
    """Return the user's content with the result of `call` as its one part."""
    return _reply(call.call_id, call.tool, result)


def _content(candidate: object) -> Message:
    if not isinstance(candidate, Mapping):
        raise CallError("a candidate is an object")
    content = candidate.get("content")
    if content is None:
        # A blocked answer has no content; a misspelt one looks like it.
        _refuse_unknown(candidate, _CANDIDATE, "a candidate")
        return {}
    if not isinstance(content, Mapping):
        raise CallError("`content` of a candidate is an object with `parts`")
    return content


def _calls(content: Message) -> Iterator[IncomingCall]:
    role = content.get("role")
    if role == "assistant":
        raise CallError("a message with `parts` is the model's when its role is `model`, not `assistant`")
    if role not in (None, "model") and check_role(role):
        return
    _refuse_unknown(content, frozenset({"parts", "role"}), "a content")
    parts = content.get("parts")
    if not isinstance(parts, list | None):
        raise CallError("`parts` must be a list")
    for part in parts or ():
        yield from _calls_of_part(part)


def _calls_of_part(part: object) -> Iterator[IncomingCall]:
    if not isinstance(part, Mapping):
        raise CallError("a part is an object")
    _refuse_unknown(part, _PARTS, "a part")
    for key, value in part.items():
        if _camel(key) == "functionCall" and value is not None:
            yield _call(value if isinstance(value, Mapping) else {})


def _call(function: Message) -> IncomingCall:
    if any(value and _camel(key) in ("partialArgs", "willContinue") for key, value in function.items()):
        raise CallError("a piece of a stream; give whole messages")
    call_id, name = function.get("id"), function.get("name")
    reply = partial(_reply, call_id, name)
    return incoming(name, function.get("args"), reply, call_id=call_id, origin=_ORIGIN)


def _reply(call_id: object, name: object, result: ToolResult) -> dict[str, Any]:
    text, images = divided(result, _IMAGES.__contains__)
    response: dict[str, Any] = {} if call_id is None else {"id": plain_id(call_id)}
    response |= {"name": plain_id(name), "response": {"output" if result.ok else "error": text}}
    if images:
        # Inside of the response: next to it, the API counts them as results of other calls.
        response["parts"] = [_inline(image.media_type, base64_text(image)) for image in images]
    return {"role": "user", "parts": [{"functionResponse": response}]}


def _inline(media_type: str, data: str) -> dict[str, Any]:
    return {"inlineData": {"mimeType": media_type, "data": data}}


def _refuse_unknown(value: Mapping[Any, object], known: frozenset[str], word: str) -> None:
    for key in value:
        if _camel(key) not in known:
            raise CallError(f"unknown key `{key}` in {word}; known: {', '.join(sorted(known))}")


def _camel(key: object) -> str:
    head, *rest = str(key).split("_")
    return head + "".join(map(str.capitalize, rest))
