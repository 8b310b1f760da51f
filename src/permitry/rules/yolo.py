"""The rule `yolo`."""

from typing import ClassVar

import attrs

from permitry.core.rule import BuiltInRule, Request

__all__ = ["YoloModeRule"]


@attrs.frozen
class YoloModeRule(BuiltInRule):
    """Allows every call to which no restriction applies, while YOLO mode is on.

    Phase: permission, priority 300. Plan mode and every other restriction come before it.
    """

    id: ClassVar[str] = "yolo"
    priority_number: ClassVar[int] = 300
    is_pure: ClassVar[bool] = True
    reason: ClassVar[str] = "YOLO mode is on"

    def matches(self, request: Request) -> bool:
        """Return whether YOLO mode is on."""
        return request.context.yolo_mode

    def near_miss(self, _request: Request, /) -> str | None:
        """Return the YOLO mode that is off."""
        return "yolo_mode = false"
