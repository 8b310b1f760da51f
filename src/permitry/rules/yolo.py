"""The rule `yolo`."""

from permitry.core.rule import BuiltInRule, Request

__all__ = ["YoloModeRule"]


class YoloModeRule(BuiltInRule):
    """Allows every call to which no restriction applies, while YOLO mode is on.

    Phase: permission, priority 300. Plan mode and every other restriction come before it.
    """

    __slots__ = ()
    id = "yolo"
    priority_number = 300
    is_pure = True
    reason = "YOLO mode is on"

    def matches(self, request: Request) -> bool:
        """Return whether YOLO mode is on."""
        return request.context.yolo_mode

    def near_miss(self, _request: Request, /) -> str | None:
        """Return the YOLO mode that is off."""
        return "yolo_mode = false"
