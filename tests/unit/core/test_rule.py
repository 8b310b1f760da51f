"""What a rule is asked, and the bands of priorities."""

from typing import ClassVar

import pytest
from tests.tables import for_each

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Phase, Verdict
from permitry.core.rule import BuiltInRule, PermissionRule, Request, phase_of
from permitry.core.spec import ToolSpec, ToolTraits


class _Silent(BuiltInRule):
    id: ClassVar[str] = "silent"
    reason: ClassVar[str] = "why"

    def priority(self) -> int:
        return 250


class _Permits(_Silent):
    def matches(self, request: Request) -> bool:
        return request.call.tool == "bash" and request.context.yolo_mode


class _Blocks(_Permits):
    effect = Verdict.BLOCK


def _request(call: ToolCall, spec: ToolSpec | None = None) -> Request:
    return Request(call, AuthContext(), spec)


@for_each(
    ("priority", "phase"),
    [
        (-1, None),
        (0, Phase.OVERRIDE),
        (99, Phase.OVERRIDE),
        (100, Phase.RESTRICTION),
        (199, Phase.RESTRICTION),
        (200, Phase.PERMISSION),
        (399, Phase.PERMISSION),
        (400, None),
    ],
)
def test_a_priority_belongs_to_one_phase(priority: int, phase: Phase | None) -> None:
    """The bands are closed at both ends."""
    assert phase_of(priority) is phase


@for_each(
    ("call", "is_own"),
    [
        (ToolCall("bash"), True),
        (ToolCall("bash", kind=PayloadKind.CUSTOM), False),
        (ToolCall("bash", kind=PayloadKind.LOCAL_SHELL), False),
        (ToolCall("bash", kind=PayloadKind.MCP), False),
        (ToolCall("mcp:docs/bash"), False),
        (ToolCall("bash", server="docs", kind=PayloadKind.CUSTOM), False),
    ],
)
def test_only_a_function_without_a_server_is_the_agents_own(*, call: ToolCall, is_own: bool) -> None:
    """A server's tool and another payload never pass for the agent's own tool."""
    assert _request(call).is_own_tool is is_own


@for_each(
    ("call", "is_read_only"),
    [
        (ToolCall("read_file"), True),
        (ToolCall("write_file"), False),
        (ToolCall("unheard_of"), False),
        (ToolCall("read_file", kind=PayloadKind.CUSTOM), False),
        (ToolCall("mcp:docs/read_file"), False),
    ],
)
def test_without_a_spec_a_short_list_of_names_reads(*, call: ToolCall, is_read_only: bool) -> None:
    """An unknown tool counts as writing, and a name applies to the agent's own tools only."""
    assert _request(call).is_read_only is is_read_only


@for_each(
    ("tool", "spec", "is_read_only"),
    [
        ("lookup", ToolSpec("lookup", traits=ToolTraits(read_only=True)), True),
        ("bash", ToolSpec("bash", traits=ToolTraits(read_only=True)), False),
        ("mcp:docs/x", ToolSpec("mcp:docs/x", traits=ToolTraits(read_only=True)), True),
        ("bash", ToolSpec("bash", traits=ToolTraits(read_only=True, destructive=True)), False),
        ("read_file", ToolSpec("read_file"), False),
        ("read_file", ToolSpec("read_file", traits=ToolTraits(read_only=False)), False),
        ("bash", ToolSpec("grep", traits=ToolTraits(read_only=True)), False),
        ("mcp:docs/x", ToolSpec("x", traits=ToolTraits(read_only=True)), False),
    ],
)
def test_a_spec_speaks_for_its_own_tool_and_above_the_name(*, tool: str, spec: ToolSpec, is_read_only: bool) -> None:
    """Traits decide where there is a spec; the spec of another tool says nothing in a call's favour."""
    assert _request(ToolCall(tool), spec).is_read_only is is_read_only


def test_a_built_in_rule_has_the_two_methods_of_the_seed() -> None:
    """Asked by name, a permission answers what it would match."""
    yolo = AuthContext(yolo_mode=True)
    assert _Permits().should_allow_without_confirmation("bash", yolo) is True
    assert _Permits().should_allow_without_confirmation("rm", yolo) is False
    assert _Permits().should_allow_without_confirmation("bash", AuthContext()) is False


def test_a_built_in_restriction_permits_nothing() -> None:
    """A restriction that matches says nothing in a call's favour."""
    assert _Blocks().should_allow_without_confirmation("bash", AuthContext(yolo_mode=True)) is False


def test_a_built_in_rule_must_say_what_it_matches() -> None:
    """There is no default match, and no near miss by default."""
    with pytest.raises(NotImplementedError):
        _Silent().matches(_request(ToolCall("bash")))
    assert _Silent().near_miss(_request(ToolCall("bash"))) is None


def test_the_protocol_of_the_seed_is_two_methods() -> None:
    """An object is a permission when it has both methods."""
    half = type("Half", (), {"priority": lambda _: 200})
    whole = type("Whole", (half,), {"should_allow_without_confirmation": lambda *_: True})
    assert isinstance(whole(), PermissionRule)
    assert not isinstance(half(), PermissionRule)


def test_a_specs_own_part_is_the_spec_unless_someone_knows_better() -> None:
    """Where a rule file adds to a spec, the tool did not say all of it."""
    spec, call = ToolSpec("look"), ToolCall("look")
    assert _request(call, spec).own is spec
    assert _request(call).own is None
    assert Request(call, AuthContext(), spec, own=None).own is None
