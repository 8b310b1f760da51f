"""What a tool declares about itself."""

from typing import Any, cast

import attrs
import pytest

from permitry.core.spec import DEFAULT_READ_ONLY_TOOLS, ArgumentRole, ToolSpec, ToolTraits
from permitry.errors import CallError


@pytest.mark.parametrize(
    ("read_only", "destructive", "only_reads"),
    [
        (True, None, True),
        (True, False, True),
        (True, True, False),
        (False, None, False),
        (False, False, False),
        (False, True, False),
        (None, None, False),
        (None, False, False),
        (None, True, False),
    ],
)
def test_unknown_and_contradicting_traits_count_as_writing(
    *, read_only: bool | None, destructive: bool | None, only_reads: bool
) -> None:
    """Only a tool that says it reads, and does not say it destroys, is known to only read."""
    assert ToolTraits(read_only=read_only, destructive=destructive).only_reads is only_reads


@pytest.mark.parametrize("name", [field.name for field in attrs.fields(ToolTraits)])
@pytest.mark.parametrize("value", [1, 0, "yes", "", [True]])
def test_a_trait_is_true_false_or_unknown(name: str, value: object) -> None:
    """A truthy mistake makes no trait."""
    with pytest.raises(TypeError, match=name):
        ToolTraits(**{name: cast("bool", value)})


def test_nothing_is_known_of_a_tool_by_default() -> None:
    """A bare spec claims nothing."""
    spec = ToolSpec("tool")
    assert set(attrs.asdict(spec.traits).values()) == {None}
    assert (dict(spec.parameters), dict(spec.roles)) == ({}, {})


def test_parameters_are_frozen() -> None:
    """The schema is a copy that cannot be changed."""
    schema: dict[str, Any] = {"properties": {"path": {"type": "string"}}}
    spec = ToolSpec("tool", parameters=schema, roles={"path": ArgumentRole.READ_PATH})
    schema["properties"]["path"]["type"] = "number"
    parameters: Any = spec.parameters
    with pytest.raises(TypeError):
        parameters["properties"]["path"]["type"] = "number"
    assert parameters["properties"]["path"]["type"] == "string"


def test_parameters_are_json() -> None:
    """A schema with other values than JSON is refused."""
    with pytest.raises(CallError):
        ToolSpec("tool", parameters={"type": {str}})


def test_no_tool_that_changes_something_reads_by_default() -> None:
    """The names that count as reading hold none of the names tools that write or run go by."""
    writing = {"write_file", "update_file", "edit_file", "bash", "run_command", "run_shell", "present_plan", "todo"}
    assert DEFAULT_READ_ONLY_TOOLS.isdisjoint(writing)
    assert {"read_file", "grep", "list_dir", "glob", "react", "exit_plan_mode"} <= DEFAULT_READ_ONLY_TOOLS
