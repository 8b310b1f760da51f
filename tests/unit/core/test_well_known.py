"""What the names of common tools mean."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import attrs
import pytest
from tests.tables import for_each

from permitry.actions.extract import HARMLESS_ARGUMENTS
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.spec import ArgumentRole, ToolSpec
from permitry.core.well_known import DEFAULT_READ_ONLY_TOOLS, WELL_KNOWN, well_known
from permitry.dispatch.scope import CallScope
from permitry_tools import ToolServices, workspace_tools
from permitry_tools.delegate import AgentTask

CUSTOM, EXEC, LOCAL = PayloadKind.CUSTOM, PayloadKind.UNIFIED_EXEC, PayloadKind.LOCAL_SHELL


@for_each("kind", [PayloadKind.FUNCTION, EXEC])
@for_each("name", sorted(WELL_KNOWN))
def test_a_name_speaks_for_functions_and_exec_sessions(name: str, kind: PayloadKind) -> None:
    """And the spec bears the name it is found by."""
    spec = well_known(ToolCall(name, kind=kind))
    assert spec is WELL_KNOWN[name]
    assert spec.name == name


@for_each("name", sorted(WELL_KNOWN))
def test_a_name_says_nothing_of_a_tool_of_a_server(name: str) -> None:
    """A server may name its tools as it likes."""
    assert well_known(ToolCall(f"mcp:docs/{name}")) is None
    assert well_known(ToolCall(name, server="docs", kind=EXEC)) is None


def test_a_name_says_nothing_of_free_text_but_for_patches() -> None:
    """The text of a custom tool has no arguments to give roles to, and a patch is a patch."""
    assert well_known(ToolCall("bash", kind=CUSTOM)) is None
    assert well_known(ToolCall("apply_patch", kind=CUSTOM)) is WELL_KNOWN["apply_patch"]


def test_a_local_shell_is_one_by_its_kind() -> None:
    """Whatever it is called, its command is a list of arguments."""
    spec = well_known(ToolCall("anything", kind=LOCAL))
    assert spec is not None
    assert (spec.roles or {})["command"] is ArgumentRole.ARGV
    assert spec.is_shell
    assert not spec.only_reads


def test_a_call_that_claims_a_server_by_its_kind_is_not_known() -> None:
    """No name applies to a tool of a server, also when the server is not named."""
    assert well_known(ToolCall("read_file", kind=PayloadKind.MCP)) is None


def test_an_unheard_of_name_is_not_known() -> None:
    """No guess, and no similar name."""
    assert well_known(ToolCall("Bash")) is None
    assert well_known(ToolCall("read_files")) is None


def test_every_well_known_tool_says_what_its_arguments_are() -> None:
    """Otherwise its calls would be guesses, and no rule about actions could permit them."""
    assert all(spec.roles is not None for spec in WELL_KNOWN.values())


@for_each("spec", [spec for spec in WELL_KNOWN.values() if spec.is_shell and spec.name != "write_stdin"])
def test_every_shell_takes_its_command_by_either_name(spec: object) -> None:
    """And none of them only reads, whatever the command."""
    assert getattr(spec, "roles", {})["command|cmd"] is ArgumentRole.COMMAND
    assert getattr(spec, "name", "") not in DEFAULT_READ_ONLY_TOOLS


@for_each("name", ["fetch_url", "web_fetch", "web_search"])
def test_a_tool_that_reaches_out_does_not_only_read(name: str) -> None:
    """An address, or a search, can carry something out."""
    assert WELL_KNOWN[name].traits.open_world is True
    assert name not in DEFAULT_READ_ONLY_TOOLS


# The shipped tools ------------------------------------------------------------------------------------------------

OTHERWISE = {
    ("local_shell", "command"): "by its name alone, a call may bring shell text; the shipped tool takes only a list",
    ("shell", "command"): "by its name alone, a call may bring shell text; a list is an argv to the shipped tool alone",
}
"""Arguments whose role is another in the shipped spec, each with the reason."""


class _Runner:
    def run(self, task: AgentTask, scope: CallScope) -> str:  # noqa: ARG002 -- it is never asked
        return ""


@pytest.fixture
def shipped(tmp_path: Path) -> Iterator[Mapping[str, ToolSpec]]:
    """Yield the specs of the shipped tools that are well known, by their names."""
    with workspace_tools(tmp_path, ToolServices(runner=_Runner())) as registry:
        yield {spec.name: spec for spec in registry if spec.name in WELL_KNOWN}


def _roles(spec: ToolSpec) -> dict[str, ArgumentRole]:
    """Return the roles by single names of arguments; words do nothing, so they count as no role."""
    names = ((name.rstrip("?"), role) for key, role in (spec.roles or {}).items() for name in key.split("|"))
    return {name: role for name, role in names if role is not ArgumentRole.TEXT}


def _arguments(spec: ToolSpec) -> set[str]:
    properties = spec.parameters["properties"]
    assert isinstance(properties, Mapping)
    return set(properties)


def test_the_shipped_tools_are_known_by_their_names(shipped: Mapping[str, ToolSpec]) -> None:
    """Where no registry speaks, as in `permitry check`, they are the same tools."""
    assert {
        "write_stdin", "check_shell_bg", "kill_shell_bg", "view_image", "read_image", "update_plan", "repo_map",
        "list_artifacts", "read_artifact", "exec_command", "run_shell", "apply_patch", "read_file", "subtask",
    } <= shipped.keys()  # fmt: skip


def test_a_name_says_of_a_shipped_tool_what_its_traits_say(shipped: Mapping[str, ToolSpec]) -> None:
    """What a name leaves open may be either."""
    for name, spec in shipped.items():
        known, own = attrs.asdict(WELL_KNOWN[name].traits), attrs.asdict(spec.traits)
        assert {trait: own[trait] for trait, value in known.items() if value is not None and value != own[trait]} == {}
        assert (WELL_KNOWN[name].only_reads, WELL_KNOWN[name].is_shell) == (spec.only_reads, spec.is_shell)


def test_a_name_says_of_a_shipped_tool_what_its_roles_say(shipped: Mapping[str, ToolSpec]) -> None:
    """A name may know more arguments than the tool has; those it has are the same."""
    differing = set()
    for name, spec in shipped.items():
        known, own = _roles(WELL_KNOWN[name]), _roles(spec)
        differing |= {(name, each) for each in _arguments(spec) if known.get(each) is not own.get(each)}
    assert differing == set(OTHERWISE)


def test_the_other_arguments_of_a_known_program_that_is_typed_into_change_nothing() -> None:
    """One that no one explains would make every look at its output unknown."""
    explained = {name.rstrip("?") for name in WELL_KNOWN["write_stdin"].roles or {}} | HARMLESS_ARGUMENTS
    assert {"session_id", "chars", "yield_time_ms", "max_output_tokens"} <= explained
