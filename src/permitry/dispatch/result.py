"""What a tool gives back."""

import attrs

__all__ = ["ToolResult", "clip"]


@attrs.frozen
class ToolResult:
    """The outcome of a call as the model sees it: whether it worked, and the text.

    `ends_session` tells the loop that the user wants no further calls.
    """

    ok: bool = attrs.field(validator=attrs.validators.instance_of(bool))
    text: str = attrs.field(validator=attrs.validators.instance_of(str))
    ends_session: bool = attrs.field(default=False, kw_only=True, validator=attrs.validators.instance_of(bool))


def clip(text: str, limit: int) -> str:
    """Return `text` in at most about `limit` characters: its head and tail, and a visible marker between."""
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    tail = limit - head
    left_out = len(text) - limit
    return f"{text[:head]}\n...[{left_out} characters left out]...\n{text[len(text) - tail :]}"
