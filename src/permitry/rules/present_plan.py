"""The rule `present-plan`."""

from typing import ClassVar

import attrs

from permitry.core.facts import Fact, Kind
from permitry.core.rule import BuiltInRule, Request

__all__ = ["PresentPlanRule"]

_NAME = "present_plan"
_NEEDS = (frozenset({Fact(Kind.TOOL, False, _NAME)}),)


@attrs.frozen
class PresentPlanRule(BuiltInRule):
    """Lets the agent present its plan in every mode.

    Phase: override, priority 0. Holds for the agent's own `present_plan`, never for a server's tool of that name.
    """

    id: ClassVar[str] = "present-plan"
    priority_number: ClassVar[int] = 0
    is_pure: ClassVar[bool] = True
    reason: ClassVar[str] = "presenting a plan changes nothing"

    def needs(self) -> tuple[frozenset[Fact], ...]:
        """Return the name of the tool."""
        return _NEEDS

    def matches(self, request: Request) -> bool:
        """Return whether the call presents a plan."""
        return request.is_own_tool and request.call.name == _NAME
