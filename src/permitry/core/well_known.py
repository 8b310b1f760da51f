"""Tools that agents have in common, and what their names and arguments mean without a declaration."""

from collections.abc import Mapping

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
_FOLDERS = {"workdir?|cwd?|working_directory?|dir_path?|directory?": ArgumentRole.FOLDER}
_SHELL = {
    "command|cmd": ArgumentRole.COMMAND,
    **_FOLDERS,
}
_SHELLS = (
    "local_shell", "run_command", "run_shell", "run_shell_bg", "run_shell_command", "run_terminal_cmd", "shell",
    "shell_command", "terminal",
)  # fmt: skip
_TOOLS: tuple[tuple[ToolTraits, Mapping[str, ArgumentRole], tuple[str, ...]], ...] = (
    (_READS, {}, ("exit_plan_mode", "list_artifacts", "react", "read_artifact", "think")),
    (_READS, {_FILE: ArgumentRole.READ_PATH}, ("read_file", "read_image", "view_image")),
    (_READS, {_FOLDER: ArgumentRole.READ_TREE}, ("grep", "repo_map", "search_files")),
    (_READS, {_FOLDER: ArgumentRole.LIST_TREE}, ("glob", "list_dir", "list_files")),
    (_WRITES, {_FILE: ArgumentRole.WRITE_PATH}, ("write_file", "edit_file", "hashline_edit", "create_file")),
    (_WRITES, {_FILE: ArgumentRole.DELETE_PATH}, ("delete_file",)),
    (_WRITES, {"patch|input": ArgumentRole.PATCH}, ("apply_patch",)),
    (_RUNS, _SHELL, ("bash",)),
    # What is typed in a terminal is a separate call.
    (_RUNS, {**_SHELL, "tty?": ArgumentRole.TEXT}, ("exec_command",)),
    (_RUNS, _SHELL, _SHELLS),
    (_RUNS, {"chars?": ArgumentRole.INPUT, "session_id?": ArgumentRole.TEXT}, ("write_stdin",)),
    (_LOOKS, {}, ("check_shell_bg",)),
    (_OF_THE_AGENT, {}, ("kill_shell_bg", "update_plan")),
    (_FETCHES, {"url|urls[]": ArgumentRole.URL}, ("fetch_url", "web_fetch")),
    (_FETCHES, {}, ("web_search",)),
    (_DELEGATES, {"agent?|subagent_type?": ArgumentRole.AGENT}, ("subtask", "execute", "task")),
)

WELL_KNOWN: Mapping[str, ToolSpec] = {
    name: ToolSpec(name, traits=traits, roles=roles) for traits, roles, names in _TOOLS for name in names
}
"""What function tools of these names are, when no `ToolSpec` and no rule file says otherwise."""

_LOCAL_SHELL = ToolSpec(
    "local_shell", traits=_RUNS, roles={"command": ArgumentRole.ARGV, "type?": ArgumentRole.TEXT, **_FOLDERS}
)

_BY_KIND: Mapping[PayloadKind, Mapping[str, ToolSpec]] = {
    PayloadKind.FUNCTION: WELL_KNOWN,
    PayloadKind.UNIFIED_EXEC: WELL_KNOWN,
    PayloadKind.CUSTOM: {"apply_patch": WELL_KNOWN["apply_patch"]},
}

DEFAULT_READ_ONLY_TOOLS = frozenset(name for name, spec in WELL_KNOWN.items() if spec.only_reads)
"""Function tools that count as read-only without a `ToolSpec`."""


def well_known(call: ToolCall) -> ToolSpec | None:
    """Return what a call's tool is by its name or kind, or None; a server may name its tools as it likes."""
    if call.server is not None:
        return None
    if call.kind is PayloadKind.LOCAL_SHELL:
        return _LOCAL_SHELL
    return _BY_KIND.get(call.kind, {}).get(call.name)
