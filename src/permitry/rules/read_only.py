"""The rule `read-only`."""

from permitry.core.effects import only_reads
from permitry.core.facts import Fact, Kind
from permitry.core.rule import BuiltInRule, Request
from permitry.core.well_known import DEFAULT_READ_ONLY_TOOLS

__all__ = ["ReadOnlyToolRule"]

_NEEDS = (frozenset({Fact(Kind.TRAIT, (), "@reads")}),)


class ReadOnlyToolRule(BuiltInRule):
    """Allows every call that is known to be read-only.

    Phase: permission, priority 200. It is known by traits and roles or, without a spec, by a few names.
    Of a command it covers the parts that only read. It does not apply to a tool that connects to an address from its
    arguments: the address itself can send out what was read before.
    """

    __slots__ = ()
    id = "read-only"
    priority_number = 200
    is_pure = True
    reason = "the tool only reads"

    def needs(self) -> tuple[frozenset[Fact], ...]:
        """Return the trait of tools that may only read."""
        return _NEEDS

    def matches(self, request: Request) -> bool:
        """Return whether the call is known to be read-only."""
        return request.is_read_only and not (request.tool is not None and request.tool.follows_urls)

    def covers(self, request: Request) -> frozenset[int]:
        """Return the indices of the actions of a shell command that only read; none for any other tool."""
        if request.tool is None or not request.tool.is_shell:
            return frozenset()
        return frozenset(i for i, action in enumerate(request.actions.certain) if only_reads(action))

    def near_miss(self, request: Request) -> str | None:
        """Return what keeps a command, or a familiar read-only name, from counting as read-only."""
        if request.tool is not None and request.tool.is_shell:
            return request.actions.doubt
        if request.is_read_only:
            return "the address among its arguments, which is for a rule on hosts to permit"
        if request.call.name not in DEFAULT_READ_ONLY_TOOLS:
            return None
        if request.spec is not None:
            return "the tool's own traits, which do not say read_only"
        return f"kind = {request.call.kind.value}; the name alone counts only for function tools"
