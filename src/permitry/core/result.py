"""What a tool gives back."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from permitry.core.json_values import JsonValue, freeze_object

__all__ = ["MediaPart", "ToolResult"]


@attrs.frozen
class MediaPart:
    """An image or a piece of sound next to the text of a result; `media_type` is as in `image/png`."""

    data: bytes = attrs.field(repr=False, validator=attrs.validators.instance_of(bytes))
    media_type: str = attrs.field(validator=attrs.validators.matches_re(r"(image|audio)/[a-z0-9.+-]+"))


def _tuple_of_parts(parts: Iterable[MediaPart]) -> tuple[MediaPart, ...]:
    return tuple(parts)


@attrs.frozen
class ToolResult:
    """The outcome of a call as the model sees it: whether it worked, the text, and what text cannot carry.

    `structured` is the same outcome as a JSON object, for hosts that pass one on. `ends_session` tells the loop that
    the user wants no further calls. `note` is for the operator and is not shown to the model: why a question about the
    call got no answer.
    """

    ok: bool
    text: str
    parts: tuple[MediaPart, ...] = attrs.field(default=(), kw_only=True, converter=_tuple_of_parts)
    structured: Mapping[str, JsonValue] | None = attrs.field(
        default=None, kw_only=True, converter=attrs.converters.optional(freeze_object), hash=False
    )
    ends_session: bool = attrs.field(default=False, kw_only=True)
    note: str = attrs.field(default="", kw_only=True)

    def __attrs_post_init__(self) -> None:
        # Not validators: every run makes results, and a host can switch validators off.
        if (type(self.ok), type(self.ends_session)) != (bool, bool):
            raise TypeError(f"a result is ok or not, and ends the session or not, by a bool: {self!r}")
        if not isinstance(self.text, str):
            raise TypeError(f"the text of a result is a str, not {self.text!r}")
        for part in self.parts:
            if not isinstance(part, MediaPart):
                raise TypeError(f"the parts of a result are MediaParts, not {part!r}")

    @classmethod
    def of_object(cls, value: Mapping[str, Any]) -> "ToolResult":
        """Return the result of a tool that worked and gave a JSON object: as text for the model, and as it is."""
        return cls(True, json.dumps(value, ensure_ascii=False), structured=value)
