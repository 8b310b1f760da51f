"""From a pydantic model of the arguments to a registered tool."""

import pytest
from pydantic import Field
from tests.tables import for_each

from permitry.core.call import ToolCall
from permitry.core.result import MediaPart, ToolResult
from permitry.core.spec import ToolTraits
from permitry.dispatch.registry import ToolRegistry
from permitry.errors import ToolError
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry_tools._spec import READS, Arguments, handler, preview, require, spec, tool


class _Greet(Arguments):
    """The docstring is for readers of the code."""

    name: str = Field(description="Whom.")
    times: int = Field(1, ge=1)


_GREETS = handler(_Greet, lambda given: (True, f"hello {given.name}" * given.times))
_SHOWS = preview(_Greet, lambda given: f"+hello {given.name}")


def test_checked_arguments_reach_the_tool() -> None:
    """Defaults are filled in."""
    assert _GREETS({"name": "Ada"}) == (True, "hello Ada")
    assert _SHOWS({"name": "Ada"}) == "+hello Ada"


def test_null_is_how_a_strict_schema_leaves_out() -> None:
    """The default counts then; an argument that must be there is not null."""
    assert _GREETS({"name": "Ada", "times": None}) == (True, "hello Ada")
    with pytest.raises(ToolError, match="`name`"):
        _GREETS({"name": None})


@for_each(("arguments", "expected"))
def test_the_model_is_reported_what_does_not_fit(arguments: dict[str, object], expected: str) -> None:
    """Arguments are strict: nothing is converted, nothing is skipped."""
    for use in (_GREETS, _SHOWS):
        with pytest.raises(ToolError) as caught:
            use(arguments)
        assert str(caught.value) == f"The arguments do not fit: {expected}"


def test_a_tool_may_answer_with_more_than_text() -> None:
    """A whole result goes through as it is."""
    result = ToolResult(True, "seen", parts=(MediaPart(b"x", "image/png"),))
    assert handler(_Greet, lambda _: result)({"name": "Ada"}) is result


def test_all_mistakes_are_reported_at_once() -> None:
    """The model need not try again for each."""
    with pytest.raises(ToolError) as caught:
        _GREETS({"times": 0})
    assert str(caught.value).count("`") == 4


def test_a_value_is_not_repeated_to_the_model() -> None:
    """An argument may be long or secret; its name is enough."""
    with pytest.raises(ToolError) as caught:
        _GREETS({"name": ["hunter2"]})
    assert "hunter2" not in str(caught.value)


def test_a_spec_has_the_schema_of_its_arguments() -> None:
    """Names, types and descriptions go into the JSON Schema; the model's docstring does not."""
    made = spec("greet", "Say hello.", _Greet, ToolTraits(read_only=True), output_limit=50)
    assert (made.name, made.description, made.traits.read_only, made.output_limit) == ("greet", "Say hello.", True, 50)
    assert made.parameters["required"] == ("name",)
    assert made.parameters["additionalProperties"] is False
    assert "description" not in made.parameters


def test_a_function_is_the_tool_of_its_name() -> None:
    """Its checks come before the types of its arguments; what it returns is returned."""
    registry = ToolRegistry()

    @tool(registry, _Greet, "Say hello.", READS, require("name", "Whom?"), preview=_SHOWS, output_limit=50)
    def greet(given: _Greet) -> tuple[bool, str]:
        return True, f"hello {given.name}"

    made = registry.get("greet")
    assert made is not None
    assert (made.description, made.output_limit, greet(_Greet(name="Ada"))) == ("Say hello.", 50, (True, "hello Ada"))
    assert registry.preview(ToolCall("greet", {"name": "Ada"})) == "+hello Ada"
    handle = ToolHandler(Session(yolo_mode=True), registry=registry).handle
    assert handle(ToolCall("greet", {"name": "Ada"})).text == "hello Ada"
    assert handle(ToolCall("greet", {"name": "", "times": "x"})).text == "Whom?"


@for_each("given", [{}, {"name": None}, {"name": " \n"}])
def test_what_is_required_is_asked_for(given: dict[str, object]) -> None:
    """Blanks say nothing."""
    check = require("name", "Whom?")
    with pytest.raises(ToolError, match=r"^Whom\?$"):
        check(given)
    assert check({"name": 3}) is None


class _Run(Arguments):
    command: list[str] | str


def test_the_name_of_an_argument_is_all_that_is_named() -> None:
    """Not the types that it may have."""
    with pytest.raises(ToolError) as failed:
        handler(_Run, lambda _: (True, ""))({"command": 3})
    assert str(failed.value) == "The arguments do not fit: `command` must be a list or a text."
