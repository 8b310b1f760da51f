"""The rule `present-plan`."""

from permitry.core.facts import Fact, Kind
from permitry.core.rule import BuiltInRule, Request

__all__ = ["PresentPlanRule"]

_NAME = "present_plan"
_NEEDS = (frozenset({Fact(Kind.TOOL, False, _NAME)}),)


class PresentPlanRule(BuiltInRule):
    """Lets the agent present its plan in every mode.

    Phase: override, priority 0. Holds for the agent's own `present_plan`, never for a server's tool of that name.
    """

    __slots__ = ()
    id = "present-plan"
    priority_number = 0
    is_pure = True
    reason = "presenting a plan changes nothing"

    def needs(self) -> tuple[frozenset[Fact], ...]:
        """Return the name of the tool."""
        return _NEEDS

    def matches(self, request: Request) -> bool:
        """Return whether the call presents a plan."""
        return request.is_own_tool and request.call.name == _NAME
