"""The condition `traits`: what is true of the tool."""

from typing import Any

from tests.matching import matches
from tests.tables import for_each

from permitry.conditions.match import Match
from permitry.conditions.traits import TraitsCondition
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Request
from permitry.core.spec import ToolSpec, ToolTraits


def _request(spec: ToolSpec | None) -> Request:
    return Request(ToolCall("t"), AuthContext(), spec)


def _holds(spec: ToolSpec | None, *words: str) -> tuple[bool, bool]:
    """Return whether the condition holds, and whether it may."""
    condition, request = TraitsCondition(words), _request(spec)
    return matches(condition, request), matches(condition, request, Match.ALIKE)


@for_each("word", ["read_only", "destructive", "idempotent", "open_world", "spawns_agent"])
def test_a_trait_is_true_false_or_unknown(word: str) -> None:
    """What is unknown holds for a restriction and not for a permission."""
    for value, expected in ((True, (True, True)), (False, (False, False)), (None, (False, True))):
        fields: dict[str, Any] = {word: value}
        assert _holds(ToolSpec("t", traits=ToolTraits(**fields)), word) == expected


def test_of_an_undeclared_tool_nothing_is_known() -> None:
    """Nor of one whose declaration is that of another tool."""
    other = ToolSpec("another", traits=ToolTraits(read_only=True))
    assert _holds(None, "read_only") == _holds(other, "read_only") == (False, True)
    assert _holds(None, "destructive") == (False, True)
    assert TraitsCondition(("read_only",)).fact(_request(other)) == "traits = none that is known"


def test_one_trait_of_several_is_enough() -> None:
    """As one mode or one label of several is."""
    spec = ToolSpec("t", traits=ToolTraits(open_world=True, destructive=False))
    assert _holds(spec, "destructive", "open_world") == (True, True)
    assert TraitsCondition(("destructive",)).fact(_request(spec)) == "traits = open_world"


def test_who_claims_to_read_and_to_destroy_is_not_believed() -> None:
    """The claim to read is in doubt, and the other is not."""
    spec = ToolSpec("t", traits=ToolTraits(read_only=True, destructive=True))
    assert (_holds(spec, "read_only"), _holds(spec, "destructive")) == ((False, True), (True, True))


def test_fewer_traits_imply_more() -> None:
    """Lint compares rules by it."""
    narrow, wide = TraitsCondition(("destructive",)), TraitsCondition(("destructive", "open_world"))
    assert (narrow.implies(wide), wide.implies(narrow), narrow.implies("destructive")) == (True, False, False)


def test_what_is_expected_is_shown() -> None:
    """Next to the traits of the tool, in near misses."""
    assert TraitsCondition(("open_world", "destructive")).expected == "destructive or open_world"
