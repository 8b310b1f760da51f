"""A registered tool: which calls it takes, judged by the call alone."""

from typing import Any

from tests.tables import for_each

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.spec import ToolSpec
from permitry.dispatch.argument_schema import ArgumentSchema
from permitry.dispatch.limits import ToolLimits
from permitry.dispatch.registered import RegisteredTool, has_kind
from permitry.errors import ToolError

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def _tool(spec: ToolSpec | None = None, **fields: Any) -> RegisteredTool:  # noqa: ANN401 -- what a tool may have
    limits = fields.pop("limits", ToolLimits())
    return RegisteredTool(spec or ToolSpec("t"), lambda *_: None, False, limits, None, **fields)


@for_each(
    ("kind", "arguments", "fits"),
    [
        (PayloadKind.FUNCTION, {}, True),
        (PayloadKind.CUSTOM, {"input": "x"}, True),
        (PayloadKind.CUSTOM, {"input": "x", "more": 1}, False),
        (PayloadKind.CUSTOM, {"input": 5}, False),
        (PayloadKind.CUSTOM, {}, False),
        (PayloadKind.LOCAL_SHELL, {"command": ["ls"]}, True),
        (PayloadKind.LOCAL_SHELL, {"command": "ls"}, False),
        (PayloadKind.LOCAL_SHELL, {}, False),
        (PayloadKind.UNIFIED_EXEC, {"cmd": "ls"}, True),
        (PayloadKind.UNIFIED_EXEC, {"session_id": 1}, True),
        (PayloadKind.UNIFIED_EXEC, {"chars": "x"}, False),
    ],
)
def test_a_payload_has_the_shape_of_its_kind(kind: PayloadKind, arguments: dict[str, Any], *, fits: bool) -> None:
    """And a call of a kind that the tool does not take never fits."""
    call = ToolCall("t", arguments, kind=kind)
    assert has_kind(call, tuple(PayloadKind)) is fits
    assert not has_kind(call, ())


def test_a_call_of_another_kind_is_a_misfit() -> None:
    """The error names the kinds that the tool takes."""
    error = _tool().misfit(ToolCall("t", {"input": "x"}, kind=PayloadKind.CUSTOM))
    assert str(error) == "The tool `t` takes calls of kind function; this one is of kind custom."


def test_arguments_are_judged_by_the_schema() -> None:
    """Unless the tool has a check of its own."""
    tool = _tool(ToolSpec("t", parameters=SCHEMA), schema=ArgumentSchema(SCHEMA))
    assert tool.misfit(ToolCall("t", {"n": 1})) is None
    assert tool.misfit(ToolCall("t", {"n": "x"})) is not None
    assert tool.misfit(ToolCall("t")) is not None


def _refuse(_: object) -> None:
    raise ToolError("Not this one.")


def _crash(_: object) -> dict[str, Any]:
    raise ValueError


def test_a_check_of_the_tool_says_what_is_wrong() -> None:
    """One that crashes has found nothing: the tool itself meets what is wrong."""
    assert str(_tool(check=_refuse).misfit(ToolCall("t"))) == "Not this one."
    assert _tool(check=_crash).misfit(ToolCall("t")) is None


def test_arguments_must_be_in_the_form_that_rules_see() -> None:
    """Whatever a check says; a form that cannot be made is a misfit, and no crash."""
    tool = _tool(canonical=lambda arguments: {"path": arguments["file"]}, check=lambda _: None)
    call = ToolCall("t", {"file": "a"})
    assert tool.in_form(call).arguments == {"path": "a"}
    assert tool.misfit(call) is not None
    assert tool.misfit(ToolCall("t", {"path": "a"})) is not None
    assert _tool(canonical=dict).misfit(call) is None
    assert _tool(canonical=_crash).misfit(call) is not None


def test_arguments_without_a_form_stay_as_they_are() -> None:
    """They are refused later, by `misfit`."""
    call = ToolCall("t", {"file": "a"})
    assert _tool(canonical=_crash).in_form(call) is call
    assert _tool().in_form(call) is call
