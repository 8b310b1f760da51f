"""Cases of adapters that are not shipped, as not every host carries such an answer."""

from permitry.channels.response import ToolConfirmationResponse
from permitry.testing.conformance import Case, Made

__all__ = ["INSTEAD"]

INSTEAD = Case(
    "a human answers in place of the tool", (Made("write", "a"),), (), ("It is written by hand.",),
    {"a": ToolConfirmationResponse(approved=False, result="It is written by hand.")},
)  # fmt: skip
