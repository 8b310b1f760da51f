"""Results of tools in recorded messages, in the form of any provider."""

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from permitry.messages.incoming import Message, plain_id
from permitry.messages.plain import is_result

__all__ = ["RecordedResult", "results_in"]


@attrs.frozen
class RecordedResult:
    """What a tool returned: the id of the call or the name of the tool, and a text or a JSON value."""

    call_id: str | None
    name: str | None
    value: object
    ok: bool = True


def results_in(message: object) -> Iterator[RecordedResult]:
    """Yield the results in one message; a message without results has none."""
    if not isinstance(message, Mapping):
        return
    if message.get("role") in ("tool", "function"):
        yield _result(message.get("tool_call_id"), message.get("name"), message.get("content"))
    elif str(message.get("type")).endswith("_call_output"):
        yield _result(message.get("call_id"), None, message.get("output"))
    elif is_result(message):
        yield _result(message.get("id"), message["name"], message["content"], ok=message["ok"] is True)
    else:
        yield from _in_parts(message)


def _in_parts(message: Message) -> Iterator[RecordedResult]:
    for part in (*_list(message.get("content")), *_list(message.get("parts"))):
        if part.get("type") == "tool_result":
            yield _result(part.get("tool_use_id"), None, part.get("content"), ok=not part.get("is_error"))
        response = part.get("functionResponse", part.get("function_response"))
        if isinstance(response, Mapping):
            yield _gemini(response)


def _gemini(part: Message) -> RecordedResult:
    response = part.get("response")
    value: object = response
    if isinstance(response, Mapping) and len(response) == 1:
        value = response.get("output", response.get("result", response))
    ok = not (isinstance(response, Mapping) and "error" in response)
    return _result(part.get("id"), part.get("name"), value, ok=ok)


def _result(call_id: object, name: object, value: object, *, ok: bool = True) -> RecordedResult:
    is_text = isinstance(value, list) and bool(value) and all(_is_block(each) for each in value)
    text = "\n".join(each["text"] for each in _list(value) if isinstance(each.get("text"), str)) if is_text else value
    known = plain_id(call_id)
    return RecordedResult(
        str(known) if isinstance(known, str | int) else None, name if isinstance(name, str) else None, text, ok
    )


def _is_block(value: object) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("type"), str)


def _list(value: object) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []
