"""What the names of common tools mean."""

import pytest

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.spec import ArgumentRole
from permitry.core.well_known import DEFAULT_READ_ONLY_TOOLS, WELL_KNOWN, well_known

CUSTOM, EXEC, LOCAL = PayloadKind.CUSTOM, PayloadKind.UNIFIED_EXEC, PayloadKind.LOCAL_SHELL


@pytest.mark.parametrize("kind", [PayloadKind.FUNCTION, EXEC])
@pytest.mark.parametrize("name", sorted(WELL_KNOWN))
def test_a_name_speaks_for_functions_and_exec_sessions(name: str, kind: PayloadKind) -> None:
    """And the spec bears the name it is found by."""
    spec = well_known(ToolCall(name, kind=kind))
    assert spec is WELL_KNOWN[name]
    assert spec.name == name


@pytest.mark.parametrize("name", sorted(WELL_KNOWN))
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
    """No name speaks for a tool of a server, also when the server is not named."""
    assert well_known(ToolCall("read_file", kind=PayloadKind.MCP)) is None


def test_an_unheard_of_name_is_not_known() -> None:
    """No guess, and no similar name."""
    assert well_known(ToolCall("Bash")) is None
    assert well_known(ToolCall("read_files")) is None


def test_every_well_known_tool_says_what_its_arguments_are() -> None:
    """Otherwise its calls would be guesses, and no rule about actions could permit them."""
    assert all(spec.roles is not None for spec in WELL_KNOWN.values())


@pytest.mark.parametrize("spec", [spec for spec in WELL_KNOWN.values() if spec.is_shell])
def test_every_shell_takes_its_command_by_either_name(spec: object) -> None:
    """And none of them only reads, whatever the command."""
    assert getattr(spec, "roles", {})["command|cmd"] is ArgumentRole.COMMAND
    assert getattr(spec, "name", "") not in DEFAULT_READ_ONLY_TOOLS


@pytest.mark.parametrize("name", ["fetch_url", "web_fetch", "web_search"])
def test_a_tool_that_reaches_out_does_not_only_read(name: str) -> None:
    """An address, or a search, can carry something out."""
    assert WELL_KNOWN[name].traits.open_world is True
    assert name not in DEFAULT_READ_ONLY_TOOLS
