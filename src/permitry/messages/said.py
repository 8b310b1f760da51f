"""The text of a message that the user wrote."""

import re
from collections.abc import Mapping

__all__ = ["is_users_own", "user_text"]

_TEXTS = (None, "text", "input_text")
_USERS = ("human", "sdk")
_NOT_USERS = ("isMeta", "isSidechain", "textNotTyped", "handedOff", "wakeupSource")
_OF_A_TOOL = re.compile("tool|call|result|response|output", re.IGNORECASE)


def user_text(message: object) -> str | None:
    """Return the text of a message of the user, in the form of any provider; None for every other message.

    A message that also carries results of tools is not the user's: a host may have put text of its own next to them.
    """
    if not isinstance(message, Mapping) or message.get("role") != "user" or _is_of_a_tool(message):
        return None
    content = message.get("content", message.get("parts"))
    if isinstance(content, str):
        return content
    if not isinstance(content, list) or not all(map(_is_shown, content)):
        return None
    texts = [block.get("text") for block in content if block.get("type") in _TEXTS]
    return "\n".join(text for text in texts if isinstance(text, str)) or None


def is_users_own(entry: Mapping[str, object]) -> bool:
    """Return whether an entry in a transcript of Claude Code shows that its message is the user's own.

    Messages of other agents, notifications and texts that the model has scheduled look like it otherwise.
    """
    origin = entry.get("origin", {"kind": "human"})
    is_human = isinstance(origin, Mapping) and origin.get("kind") == "human" and entry.get("turnOrigin") in _USERS
    return is_human and not any(map(entry.get, _NOT_USERS))


def _is_shown(block: object) -> bool:
    """Return whether a part of a message is a text, or media, and no result of a tool."""
    if not isinstance(block, Mapping) or _is_of_a_tool(block):
        return False
    kind = block.get("type")
    return kind is None or kind not in _TEXTS or isinstance(block.get("text"), str)


def _is_of_a_tool(part: Mapping[object, object]) -> bool:
    return any(isinstance(word, str) and _OF_A_TOOL.search(word) for word in (*part, part.get("type")))
