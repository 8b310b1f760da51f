"""Tools that agents have in common, and what their names and arguments mean without a declaration."""

from collections.abc import Iterator, Mapping

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.spec import ArgumentRole, ToolSpec, ToolTraits

__all__ = ["DEFAULT_READ_ONLY_TOOLS", "WELL_KNOWN", "well_known"]

_READS = ToolTraits(read_only=True, destructive=False, idempotent=True, open_world=False, spawns_agent=False)
_WRITES = ToolTraits(read_only=False, destructive=True, open_world=False, spawns_agent=False)
_RUNS = ToolTraits(read_only=False, destructive=True, open_world=True, spawns_agent=False)
_LOOKS = ToolTraits(read_only=True, destructive=False, idempotent=False, open_world=False, spawns_agent=False)
# They change the session alone, yet they do not count as reading.
_OF_THE_AGENT = ToolTraits(read_only=False, destructive=False, idempotent=True, open_world=False, spawns_agent=False)
_FETCHES = ToolTraits(destructive=False, open_world=True, spawns_agent=False)
_DELEGATES = ToolTraits(read_only=False, spawns_agent=True)

_FILE = "path|file_path|filepath|filename"
_FOLDER = "path?|dir_path?|directory?|folder?"
_SHELL = {"workdir?|cwd?|working_directory?|dir_path?|directory?": ArgumentRole.FOLDER}
_SHELLS = (
    "bash", "exec_command", "local_shell", "run_command", "run_shell", "run_shell_bg", "run_shell_command",
    "run_terminal_cmd", "shell", "shell_command", "terminal",
)  # fmt: skip


def _specs() -> Iterator[ToolSpec]:
    for name in ("exit_plan_mode", "list_artifacts", "react", "read_artifact", "think"):
        yield ToolSpec(name, traits=_READS, roles={})
    for name in ("read_file", "read_image", "view_image"):
        yield ToolSpec(name, traits=_READS, roles={_FILE: ArgumentRole.READ_PATH})
    for name in ("grep", "repo_map", "search_files"):
        yield ToolSpec(name, traits=_READS, roles={_FOLDER: ArgumentRole.READ_TREE})
    for name in ("glob", "list_dir", "list_files"):
        yield ToolSpec(name, traits=_READS, roles={_FOLDER: ArgumentRole.LIST_TREE})
    for name in ("write_file", "edit_file", "hashline_edit", "create_file"):
        yield ToolSpec(name, traits=_WRITES, roles={_FILE: ArgumentRole.WRITE_PATH})
    yield ToolSpec("delete_file", traits=_WRITES, roles={_FILE: ArgumentRole.DELETE_PATH})
    yield ToolSpec("apply_patch", traits=_WRITES, roles={"patch|input": ArgumentRole.PATCH})
    for name in _SHELLS:
        # What is typed in a terminal is a separate call.
        terminal = {"tty?": ArgumentRole.TEXT} if name == "exec_command" else {}
        yield ToolSpec(name, traits=_RUNS, roles={"command|cmd": ArgumentRole.COMMAND, **_SHELL, **terminal})
    yield ToolSpec("write_stdin", traits=_RUNS, roles={"chars?": ArgumentRole.INPUT, "session_id?": ArgumentRole.TEXT})
    yield ToolSpec("check_shell_bg", traits=_LOOKS, roles={})
    for name in ("kill_shell_bg", "update_plan"):
        yield ToolSpec(name, traits=_OF_THE_AGENT, roles={})
    for name in ("fetch_url", "web_fetch"):
        yield ToolSpec(name, traits=_FETCHES, roles={"url|urls[]": ArgumentRole.URL})
    yield ToolSpec("web_search", traits=_FETCHES, roles={})
    for name in ("subtask", "execute", "task"):
        yield ToolSpec(name, traits=_DELEGATES, roles={"agent?|subagent_type?": ArgumentRole.AGENT})


WELL_KNOWN: Mapping[str, ToolSpec] = {spec.name: spec for spec in _specs()}
"""What function tools of these names are, when no `ToolSpec` and no rule file says otherwise."""

_LOCAL_SHELL = ToolSpec(
    "local_shell", traits=_RUNS, roles={"command": ArgumentRole.ARGV, "type?": ArgumentRole.TEXT, **_SHELL}
)

DEFAULT_READ_ONLY_TOOLS = frozenset(name for name, spec in WELL_KNOWN.items() if spec.only_reads)
"""Function tools that count as read-only without a `ToolSpec`."""


def well_known(call: ToolCall) -> ToolSpec | None:
    """Return what a call's tool is by its name or kind, or None; a server may name its tools as it likes."""
    if call.server is not None:
        return None
    match call.kind:
        case PayloadKind.LOCAL_SHELL:
            return _LOCAL_SHELL
        case PayloadKind.CUSTOM:
            return WELL_KNOWN["apply_patch"] if call.name == "apply_patch" else None
        case PayloadKind.FUNCTION | PayloadKind.UNIFIED_EXEC:
            return WELL_KNOWN.get(call.name)
        case _:
            return None
