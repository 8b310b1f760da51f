"""The text of a message that the user wrote."""

from collections.abc import Mapping

__all__ = ["user_text"]

_TEXTS = (None, "text", "input_text")


def user_text(message: object) -> str | None:
    """Return the text of a message of the user, in the form of any provider; None for every other message.

    A message that also carries results of tools is not the user's: a host may have put text of its own next to them.
    """
    if not isinstance(message, Mapping) or message.get("role") != "user":
        return None
    content = message.get("content", message.get("parts"))
    if isinstance(content, str):
        return content
    if not isinstance(content, list) or not all(map(_is_shown, content)):
        return None
    return "\n".join(block["text"] for block in content if isinstance(block.get("text"), str)) or None


def _is_shown(block: object) -> bool:
    """Return whether a part of a message is a text, or media, and no result of a tool."""
    if not isinstance(block, Mapping):
        return False
    kind = block.get("type")
    is_result = {"functionResponse", "function_response", "tool_use_id", "call_id"} & block.keys()
    return not is_result and (kind not in _TEXTS or isinstance(block.get("text"), str) or kind is None)
