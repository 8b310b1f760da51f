"""From arguments to actions: what each role means, and what happens when an argument is not what it should be."""

import time
from pathlib import Path
from typing import Any

import pytest
from tests.tables import for_each

from permitry.actions.extract import ReadActions
from permitry.core.action import (
    Access,
    Action,
    Actions,
    Connect,
    Delegate,
    Run,
    Touch,
    Unknown,
    phrase,
)
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.spec import ArgumentRole, ToolSpec, ToolTraits
from permitry.core.well_known import well_known

WORK, HOME = "/nowhere/me/work", "/nowhere/me"
READ, WRITE, DELETE = Access.READ, Access.WRITE, Access.DELETE
Role = ArgumentRole


def _read(
    arguments: dict[str, Any],
    roles: dict[str, ArgumentRole] | None,
    *,
    workspace: str | None = WORK,
    home: str | None = HOME,
    **spec: Any,  # noqa: ANN401 -- passed on to the spec
) -> Actions:
    declared = ToolSpec("tool", roles=roles, **spec)
    return ReadActions(home)(ToolCall("tool", arguments), AuthContext(workspace=workspace), declared)


def _told(actions: Actions) -> list[str]:
    return [phrase(action) for action in actions.certain]


def _reasons(actions: Actions) -> list[str]:
    return [action.reason for action in actions.certain if isinstance(action, Unknown)]


def _touched(actions: Actions) -> list[tuple[str, ...]]:
    return [touch.place.names for touch in actions.touches()]


def _of_server(arguments: dict[str, Any], roles: dict[str, ArgumentRole], **spec: Any) -> Actions:  # noqa: ANN401 -- as above
    call, declared = ToolCall("mcp:files/tool", arguments), ToolSpec("mcp:files/tool", roles=roles, **spec)
    return ReadActions(HOME)(call, AuthContext(workspace=WORK), declared)


# Roles ------------------------------------------------------------------------------------------------------------


@for_each(("role", "access", "goes_below"), [(Role.READ_TREE, READ, True), (Role.LIST_TREE, Access.LIST, False)])
def test_of_a_folder_whose_names_are_listed_nothing_below_is_touched(
    tmp_path: Path, role: ArgumentRole, access: Access, *, goes_below: bool
) -> None:
    """As by `ls -R`; the folder itself is, and left out it is the workspace."""
    [touch] = _read({"path": "."}, {"path?": role}, workspace=str(tmp_path)).touches()
    assert (touch.access, touch.place.names) == (access, (str(tmp_path),))
    assert touch.place.tops == ((str(tmp_path),) if goes_below else ())
    assert _touched(_read({}, {"path?": role})) == [(WORK,)]


@for_each(
    ("role", "access", "doubt"),
    [
        (Role.READ_PATH, READ, None),
        (Role.WRITE_PATH, WRITE, "it may write `a`"),
        (Role.DELETE_PATH, DELETE, "it may delete `a`"),
    ],
)
def test_a_path_is_touched_in_the_workspace(role: ArgumentRole, access: Access, doubt: str | None) -> None:
    """The argument is reported as its origin, and only reading leaves no doubt."""
    actions = _read({"path": "a"}, {"path": role})
    [touch] = actions.certain
    assert isinstance(touch, Touch)
    assert (touch.access, touch.origin, touch.place.lexical) == (access, "path", (f"{WORK}/a",))
    assert touch.place.is_certain
    assert actions.doubt == doubt


def test_an_address_is_connected_to() -> None:
    """It is a doubt, as no one knows what goes out."""
    actions = _read({"url": "https://Example.com/a"}, {"url": Role.URL})
    assert actions.certain == (Connect("https://Example.com/a", "https", "example.com", 443, origin="url"),)
    assert actions.doubt == "it connects to `https://Example.com/a`"


@for_each("text", ["file:///etc/passwd", "file://localhost/etc/passwd", "FILE://h/etc/passwd", "/etc/passwd"])
def test_an_address_without_a_host_may_be_a_path(text: str) -> None:
    """A restriction on paths sees it; without a scheme it is a guess."""
    actions = _read({"url": text}, {"url": Role.URL})
    found = actions.possible if text.lower().startswith("file:") else actions.guessed
    assert any("/etc/passwd" in each.place.names for each in found if isinstance(each, Touch))
    assert all(isinstance(action, Connect) for action in actions.certain)


@for_each(
    ("text", "host", "port"),
    [("www.Example.com", "www.example.com", 443), ("example.com:8080/a?b", "example.com", 8080)],
)
def test_an_address_without_a_scheme_is_by_https_or_by_any_other(text: str, host: str, port: int) -> None:
    """The first is for permissions; a restriction sees what another client makes of it, and a path as well."""
    actions = _read({"url": text}, {"url": Role.URL})
    assert actions.certain == (Connect(text, "https", host, port, origin="url"),)
    connects = [each for each in actions.possible if isinstance(each, Connect)]
    assert [(each.scheme, each.host, each.is_certain) for each in connects] == [(None, host, False)]
    assert any(text in str(each.place.names) for each in actions.guessed if isinstance(each, Touch))


@for_each("text")
def test_what_is_not_so_plain_is_not_certain(text: str) -> None:
    """A name without a dot, an address in numbers, user information, other letters: clients differ on these."""
    [connect] = _read({"url": text}, {"url": Role.URL}).certain
    assert isinstance(connect, Connect)
    assert (text, connect.is_certain) == (text, False)


def test_a_patch_touches_what_it_names() -> None:
    """Each file with its access; a patch always changes something."""
    patch = "*** Begin Patch\n*** Add File: a\n+x\n*** Delete File: b\n*** End Patch"
    actions = _read({"patch": patch}, {"patch": Role.PATCH})
    assert _told(actions) == ["write a", "delete b"]
    assert actions.doubt == "it changes files"


def test_a_patch_that_cannot_be_read_is_unknown() -> None:
    """It may change anything."""
    assert _reasons(_read({"patch": "rubbish"}, {"patch": Role.PATCH})) == ["no header of a file was found"]


def test_an_agent_is_delegated_to() -> None:
    """By the name in the argument."""
    actions = _read({"agent": "reviewer"}, {"agent": Role.AGENT})
    assert (actions.certain, actions.doubt) == ((Delegate("reviewer"),), "it starts an agent")


def test_a_tool_that_starts_agents_delegates_to_one_without_a_name() -> None:
    """Its traits say so, where no argument does."""
    traits = ToolTraits(spawns_agent=True)
    assert _read({}, {}, traits=traits).certain == (Delegate(),)
    assert _read({"agent": "x"}, {"agent": Role.AGENT}, traits=traits).certain == (Delegate("x"),)
    assert _read({}, {}, traits=ToolTraits(spawns_agent=None)).certain == ()


def test_a_text_touches_nothing() -> None:
    """Whatever it says, and of whatever type."""
    for value in ("rm -rf /", ["a"], {"x": 1}, 7, True):
        assert _read({"note": value}, {"note": Role.TEXT}).certain == ()


@for_each("role", [Role.COMMAND_OR_ARGV, Role.ARGV])
def test_a_command_may_be_a_list_of_words(role: ArgumentRole) -> None:
    """No shell reads it, so nothing in it is special."""
    actions = _read({"command": ["ls", "a b", "*"]}, {"command": role})
    [run] = actions.certain
    assert isinstance(run, Run)
    assert (run.argv, actions.doubt) == (("ls", "a b", "*"), None)


def test_a_list_for_a_shell_is_every_command_it_may_become() -> None:
    """Each of them is certain, so that a permission must cover it."""
    actions = _read({"command": ["ls", "; rm a"]}, {"command": Role.COMMAND})
    assert _told(actions) == ["ls '; rm a'", "ls", "ls", "rm a", "ls,", "rm a"]
    assert actions.doubt == "`rm` deletes files"


def test_a_text_that_bytes_are_written_as_is_of_another_type() -> None:
    """A restriction sees what is in it; a note may be anything."""
    actions = _read({"x": "b'rm y'"}, {"x": Role.COMMAND})
    assert _reasons(actions) == ["the argument `x` is written as bytes"]
    assert [run.argv for run in actions.runs()] == [("rm", "y")]
    assert _reasons(_read({"x": 'b"a"'}, {"x": Role.READ_PATH})) == ["the argument `x` is written as bytes"]
    assert _read({"x": "b'a'"}, {"x": Role.TEXT}).certain == ()


def test_a_command_may_be_a_text() -> None:
    """A shell reads it."""
    actions = _read({"command": "ls 'a b' && rm x"}, {"command": Role.COMMAND})
    assert _told(actions) == ["ls 'a b'", "rm x"]
    assert actions.doubt == "`rm` deletes files"


# Keys -------------------------------------------------------------------------------------------------------------


@for_each(
    ("key", "arguments", "told"),
    [
        ("a|b", {"b": "x"}, ["read x"]),
        ("a|b", {"a": "x", "b": "y"}, ["read x", "read y"]),
        ("a|b", {"a": None, "b": "y"}, ["read y"]),
        ("a.b", {"a": {"b": "x"}}, ["read x"]),
        ("a[]", {"a": ["x", "y"]}, ["read x", "read y"]),
        ("a[]", {"a": []}, []),
        ("a[].b", {"a": [{"b": "x"}, {"b": "y"}]}, ["read x", "read y"]),
        ("a[].b[]", {"a": [{"b": ["x", "y"]}, {"b": ["z"]}]}, ["read x", "read y", "read z"]),
        ("a[].b.c", {"a": [{"b": {"c": "x"}}]}, ["read x"]),
        ("a[][]", {"a": [["x"], ["y"]]}, ["read x", "read y"]),
        ("a?", {}, []),
        ("a?", {"a": "x"}, ["read x"]),
        ("a?", {"a": None}, []),
        ("a?|b?", {}, []),
        ("a.b?", {"a": {}}, []),
    ],
)
def test_a_key_names_arguments(key: str, arguments: dict[str, Any], told: list[str]) -> None:
    """Either of several names, all that are there; inside objects and lists; left out where it may be."""
    assert _told(_read(arguments, {key: Role.READ_PATH})) == told


def test_an_argument_inside_a_list_is_told_with_its_place() -> None:
    """So that a human finds it."""
    actions = _read({"items": [{"path": "a"}, {"path": "b"}]}, {"items[].path": Role.READ_PATH})
    assert [touch.origin for touch in actions.touches()] == ["items[0].path", "items[1].path"]


@for_each(
    ("key", "arguments"),
    [
        ("path", {}),
        ("path", {"path": None}),
        ("path|file", {"other": "x"}),
        ("path?|file", {}),
        ("a.b", {"a": {}}),
        ("a.b", {"a": {"b": None}}),
        ("a[].b", {}),
    ],
)
def test_an_argument_that_is_missing_is_unknown(key: str, arguments: dict[str, Any]) -> None:
    """No one knows what the tool does without it; null is not a value."""
    actions = _read(arguments, {key: Role.READ_PATH})
    assert _reasons(actions) == [f"the argument `{key}` is missing"]
    assert actions.doubt == f"the argument `{key}` is missing"


@for_each(("schema", "is_missing"))
def test_a_schema_says_what_may_be_left_out(*, schema: dict[str, Any], is_missing: bool) -> None:
    """Only an argument it knows and does not require."""
    actions = _read({}, {"path": Role.READ_PATH}, parameters=schema)
    assert bool(actions.certain) is is_missing


# Arguments of another type ----------------------------------------------------------------------------------------


@for_each("value", [7, True, ["/etc/passwd"], {"x": ["/etc/passwd"]}])
@for_each("role", [Role.READ_PATH, Role.WRITE_PATH, Role.DELETE_PATH, Role.URL, Role.PATCH, Role.AGENT, Role.FOLDER])
def test_what_is_no_text_is_unknown(role: ArgumentRole, value: object) -> None:
    """A restriction still sees the texts in it."""
    actions = _read({"x": value}, {"x": role})
    assert _reasons(actions) == ["the argument `x` is not a string"]
    assert actions.doubt is not None
    is_text_within = isinstance(value, list | dict)
    touches = [each for each in actions.guessed if isinstance(each, Touch)]
    assert any("/etc/passwd" in touch.place.names for touch in touches) is is_text_within


@for_each("value", [7, {"x": "rm y"}, [], ["ls", 7], [["rm", "y"]]])
def test_what_is_no_command_is_unknown(value: object) -> None:
    """A restriction still sees what the texts in it would run."""
    actions = _read({"x": value}, {"x": Role.COMMAND})
    assert _reasons(actions) == ["the argument `x` is not a command"]
    runs = [run.argv[0] for run in actions.runs()]
    assert runs == {"{'x': 'rm y'}": ["rm"], "['ls', 7]": ["ls"], "[['rm', 'y']]": ["y", "rm"]}.get(str(value), [])


def test_a_list_of_words_is_not_one_text() -> None:
    """A shell would read it otherwise."""
    actions = _read({"x": "rm y"}, {"x": Role.ARGV})
    assert _reasons(actions) == ["the argument `x` is not a command"]
    assert [run.argv for run in actions.runs()] == [("rm", "y")]


@for_each(
    ("key", "arguments"),
    [
        ("a[]", {"a": "x"}),
        ("a[]", {"a": {"b": "x"}}),
        ("a[].b", {"a": "x"}),
        ("a[].b", {"a": {"b": "x"}}),
        ("a[].b", {"a": ["x"]}),
        ("a[].b", {"a": [{}]}),
        ("a[].b", {"a": [{"b": "y"}, {}]}),
        ("a[].b", {"a": [{"b": "y"}, {"b": None}]}),
        ("a[].b", {"a": [{"b": "y"}, None]}),
        ("a[].b", {"a": [{"b": "y"}, {"c": "x"}]}),
        ("a[].b", {"a": [{"b": "y"}, "x"]}),
        ("a.b", {"a": "x"}),
        ("a.b", {"a": ["x"]}),
    ],
)
def test_an_argument_of_another_shape_is_unknown(key: str, arguments: dict[str, Any]) -> None:
    """Law 4: what the tool makes of it no one knows, so it is nothing that could be permitted."""
    assert _read(arguments, {key: Role.DELETE_PATH}).unknown is not None


# Next to a command -------------------------------------------------------------------------------------------------


def test_an_argument_nobody_explains_may_change_a_command() -> None:
    """So what runs is not certain."""
    actions = _read({"command": "ls", "root": True}, {"command": Role.COMMAND})
    reason = "nothing declares what the argument `root` does to the command"
    assert (_reasons(actions), actions.doubt) == ([reason], reason)


@for_each("value", [None, "", [], {}, False])
def test_an_argument_that_says_nothing_changes_nothing(value: object) -> None:
    """It is as good as left out."""
    assert _read({"command": "ls", "root": value}, {"command": Role.COMMAND}).doubt is None


@for_each("key", ["note", "note?", "note|x", "note.y", "note[]", "note[].y"])
def test_an_argument_with_a_role_is_explained(key: str) -> None:
    """Whatever the rest of its key."""
    actions = _read({"command": "ls", "note": "x"}, {"command": Role.COMMAND, key: Role.TEXT})
    assert actions.doubt is None


def test_beside_anything_else_an_argument_needs_no_role() -> None:
    """What is not listed touches nothing."""
    assert _read({"path": "a", "limit": 9}, {"path": Role.READ_PATH}).doubt is None


# Folders ----------------------------------------------------------------------------------------------------------


@for_each(
    ("folder", "name"),
    [
        ("sub", f"{WORK}/sub/a"),
        ("..", f"{HOME}/a"),
        ("/elsewhere", "/elsewhere/a"),
        ("", f"{WORK}/a"),
        (".", f"{WORK}/a"),
    ],
)
def test_a_folder_is_where_the_rest_happens(folder: str, name: str) -> None:
    """Before anything else, whatever the order of the roles."""
    actions = _read({"command": "cat a", "cwd": folder}, {"command": Role.COMMAND, "cwd": Role.FOLDER})
    assert (_touched(actions), actions.doubt) == ([(name,)], None)


@for_each(("folder", "is_doubtful"), [("sub", True), ("", False), (".", False), (WORK, False)])
def test_in_another_folder_git_may_find_a_repository_that_runs_programs(*, folder: str, is_doubtful: bool) -> None:
    """As it may behind a `cd`; the folder it is in anyway changes nothing."""
    roles = {"command": Role.COMMAND_OR_ARGV, "cwd": Role.FOLDER}
    for command in ("git status", ["git", "status"]):
        actions = _read({"command": command, "cwd": folder}, roles)
        assert (actions.doubt is not None) is is_doubtful


@for_each("arguments", [{"cwd": "/etc", "workdir": f"{WORK}/src"}, {"cwd": f"{WORK}/src", "workdir": "/etc"}])
@for_each("roles", [{"workdir?|cwd?": Role.FOLDER}, {"workdir": Role.FOLDER, "cwd": Role.FOLDER}])
def test_of_two_folders_either_may_count(arguments: dict[str, str], roles: dict[str, ArgumentRole]) -> None:
    """Which one a tool prefers is its own affair, so a permission needs both and a restriction sees either."""
    actions = _read({"command": "cat a", **arguments}, {"command": Role.COMMAND, **roles})
    assert {"/etc/a", f"{WORK}/src/a"} <= {name for names in _touched(actions) for name in names}


# Where relative paths start ---------------------------------------------------------------------------------------


@for_each(
    ("folder", "name"),
    [
        (".", f"{WORK}/a"),
        ("sub/of", f"{WORK}/sub/of/a"),
        ("~/notes", f"{HOME}/notes/a"),
        ("/srv", "/srv/a"),
        ("~", f"{HOME}/a"),
    ],
)
def test_a_declared_folder_is_where_relative_paths_start(folder: str, name: str) -> None:
    """With certainty, for the tools of a server and for all others."""
    for actions in (
        _of_server({"path": "a"}, {"path": Role.READ_PATH}, folder=folder),
        _read({"path": "a"}, {"path": Role.READ_PATH}, folder=folder),
    ):
        [touch] = actions.certain
        assert isinstance(touch, Touch)
        assert (touch.place.names, touch.place.is_certain) == ((name,), True)


def test_where_a_server_looks_for_a_relative_path_is_not_known() -> None:
    """It may be anywhere; the path in the workspace is possible, for restrictions."""
    actions = _of_server({"path": "a"}, {"path": Role.WRITE_PATH})
    [unknown], [likely] = actions.certain, actions.possible
    assert isinstance(unknown, Touch)
    assert isinstance(likely, Touch)
    assert (unknown.place.names, unknown.place.is_certain) == ((), False)
    assert (likely.access, likely.place.names) == (WRITE, (f"{WORK}/a",))


def test_an_absolute_path_of_a_server_is_what_it_is() -> None:
    """It is there once, and as certain as that of any tool."""
    ours = _read({"path": "/etc/hosts"}, {"path": Role.READ_PATH})
    theirs = _of_server({"path": "/etc/hosts"}, {"path": Role.READ_PATH})
    assert (theirs.certain, theirs.possible) == (ours.certain, ours.possible)


def test_a_tree_that_a_server_reads_by_default_is_not_known() -> None:
    """What is left out is the folder in which the server looks."""
    actions = _of_server({}, {"path?": Role.READ_TREE})
    [touch] = (each for each in actions.certain if isinstance(each, Touch))
    assert (touch.place.names, touch.place.is_certain) == ((), False)


def test_a_command_of_a_server_runs_in_a_folder_that_is_not_known() -> None:
    """Its paths may be anywhere, and in the workspace."""
    actions = _of_server({"command": "cat a"}, {"command": Role.COMMAND})
    assert [touch.place.names for touch in actions.touches()] == [(), (f"{WORK}/a",)]


def test_a_folder_that_the_call_names_is_known_only_where_it_is_absolute() -> None:
    """A relative one starts where the server looks."""
    roles = {"command": Role.COMMAND, "cwd": Role.FOLDER}
    absolute = _of_server({"command": "cat a", "cwd": "/srv"}, roles)
    relative = _of_server({"command": "cat a", "cwd": "sub"}, roles)
    assert [touch.place.names for touch in absolute.touches()][:1] == [("/srv/a",)]
    assert [touch.place.names for touch in relative.touches()][:1] == [()]


def test_the_texts_of_an_undeclared_tool_are_guessed_at_in_its_folder() -> None:
    """A spec may know the folder, and not the arguments."""
    actions = _read({"any": "a"}, None, folder="sub")
    assert (f"{WORK}/sub/a",) in [each.place.names for each in actions.guessed if isinstance(each, Touch)]


def test_a_link_leads_to_its_target(tmp_path: Path) -> None:
    """The workspace too may be reached by one."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    actions = _read({"path": "a"}, {"path": Role.READ_PATH}, workspace=str(tmp_path / "link"))
    assert _touched(actions) == [(str(tmp_path / "real" / "a"),)]
    assert actions.roots.workspace == (str(tmp_path / "link"), str(tmp_path / "real"))


def test_without_a_workspace_no_relative_path_is_certain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A restriction takes it from where this process stands; a permission does not."""
    monkeypatch.chdir(tmp_path)
    actions = _read({"path": "a"}, {"path": Role.READ_PATH}, workspace=None)
    [touch] = actions.certain
    assert isinstance(touch, Touch)
    assert (touch.place.names, touch.place.is_certain) == ((str(tmp_path / "a"),), False)
    assert actions.roots.workspace == ()


def test_where_this_process_stands_may_be_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then a relative path may be anywhere."""

    def gone() -> str:
        raise FileNotFoundError

    monkeypatch.setattr("os.getcwd", gone)
    assert _touched(_read({"path": "a"}, {"path": Role.READ_PATH}, workspace=None)) == [()]


def test_without_a_home_a_tilde_leads_nowhere_in_particular() -> None:
    """The name as it is written is one reading, and not certain."""
    actions = _read({"path": "~/a"}, {"path": Role.READ_PATH}, home=None)
    [touch] = actions.certain
    assert isinstance(touch, Touch)
    assert not touch.place.is_certain


# Tools no one declared --------------------------------------------------------------------------------------------


def _guesses(arguments: dict[str, Any]) -> tuple[Action, ...]:
    actions = _read(arguments, None)
    assert (actions.certain, actions.possible) == ((), ())
    assert actions.doubt == "what it does is not declared"
    return actions.guessed


@for_each("arguments", [{"x": "~/.ssh/id"}, {"x": {"y": ["~/.ssh/id"]}}, {"a": 7, "x": "~/.ssh/id"}])
def test_every_text_may_be_a_path(arguments: dict[str, Any]) -> None:
    """At any depth; it may be written, and none of its names is certain."""
    touched = [each for each in _guesses(arguments) if isinstance(each, Touch)]
    assert [(each.access, each.place.is_certain) for each in touched] == [(WRITE, False)]
    assert f"{HOME}/.ssh/id" in touched[0].place.names


def test_every_text_may_be_an_address() -> None:
    """Never a certain one."""
    met = [each for each in _guesses({"x": "https://example.com"}) if isinstance(each, Connect)]
    assert [(each.host, each.is_certain) for each in met] == [("example.com", False)]


def test_every_text_may_be_a_command() -> None:
    """With all that it would run, but for a word that could be any program."""
    runs = [each.argv for each in _guesses({"x": "ls && rm -r y"}) if isinstance(each, Run)]
    assert runs == [("ls",), ("rm", "-r", "y")]
    assert not any(isinstance(each, Run) for each in _guesses({"x": "$20"}))


@for_each("arguments", [{}, {"x": ""}, {"x": 7, "y": None, "z": [True]}])
def test_where_there_is_no_text_there_is_nothing_to_guess(arguments: dict[str, Any]) -> None:
    """Numbers name nothing."""
    assert not any(isinstance(each, Touch | Connect) for each in _guesses(arguments))


def test_the_words_of_a_list_may_be_those_of_a_command() -> None:
    """Of an undeclared tool that is not known to take text or lists."""
    for value in (["git", "push"], [["git", "push"]], {"a": ["git", 7, "push"]}):
        assert ("git", "push") in [each.argv for each in _guesses({"x": value}) if isinstance(each, Run)]
    assert ("git", "push") not in [each.argv for each in _guesses({"x": ["git"], "y": "push"}) if isinstance(each, Run)]


def test_guessing_has_an_end() -> None:
    """What is left is unknown."""
    guesses = _guesses({"x": ["a"] * 501})
    assert guesses[-1] == Unknown("", "the call has too many arguments to look at")
    assert not any(isinstance(each, Unknown) for each in _guesses({"x": ["a"] * 500}))


def test_a_tool_without_a_spec_is_guessed_at_too() -> None:
    """No spec is no roles."""
    actions = ReadActions(HOME)(ToolCall("tool", {"x": "a"}), AuthContext(workspace=WORK), None)
    assert (actions.certain, bool(actions.guessed)) == ((), True)


# Well-known tools -------------------------------------------------------------------------------------------------


@for_each(
    ("call", "told"),
    [
        (ToolCall("bash", {"command": "ls", "timeout": 9, "description": "look", "workdir": "."}), ["ls"]),
        (ToolCall("exec_command", {"cmd": "ls", "yield_time_ms": 9}, kind=PayloadKind.UNIFIED_EXEC), ["ls"]),
        (ToolCall("bash", {"command": "ls", "cmd": "rm x"}), ["ls", "rm x"]),
        (ToolCall("sh", {"command": ["ls"], "type": "exec"}, kind=PayloadKind.LOCAL_SHELL), ["ls"]),
        (ToolCall("read_file", {"file_path": "a"}), ["read a"]),
        (ToolCall("delete_file", {"path": "a"}), ["delete a"]),
        (ToolCall("fetch_url", {"urls": ["https://a", "https://b"]}), ["connect https://a", "connect https://b"]),
        (ToolCall("task", {"subagent_type": "x", "prompt": "do"}), ["delegate to x"]),
        (ToolCall("think", {"thought": "rm x"}), []),
    ],
)
def test_the_arguments_of_well_known_tools_are_known(call: ToolCall, told: list[str]) -> None:
    """As their makers name them."""
    actions = ReadActions(HOME)(call, AuthContext(workspace=WORK), well_known(call))
    assert _told(actions) == told


def test_a_task_for_nobody_in_particular_is_delegated_all_the_same() -> None:
    """The agent may be left out, the delegation not."""
    call = ToolCall("task", {"prompt": "do"})
    actions = ReadActions(HOME)(call, AuthContext(workspace=WORK), well_known(call))
    assert _told(actions) == ["delegate to an agent"]


# Bounds -----------------------------------------------------------------------------------------------------------


_URLS = [f"https://a.com/{i}" for i in range(40_000)]


@for_each("value", ["a/b c " * 100_000, "(" * 1_000_000, "a", _URLS, ["echo", *["w"] * 5_000], ["a " * 200] * 400])
def test_the_arguments_of_a_tool_nobody_declared_are_looked_at_so_far(value: Any) -> None:  # noqa: ANN401 -- JSON
    """What is left is unknown, so that a restriction asks."""
    started = time.process_time()
    actions = _read({"x": value}, None)
    assert time.process_time() - started < 2
    is_unknown = any(isinstance(action, Unknown) for action in actions.guessed)
    assert is_unknown is (value != "a")
    assert len(actions.guessed) < 10_000


@for_each(
    ("role", "items", "reason"),
    [
        (Role.URL, _URLS, "the call has more than 2000 actions"),
        (Role.READ_PATH, [f"src/{i}" for i in range(40_000)], "the call has more than 2000 actions"),
        (Role.PATCH, ["--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n"] * 3_000, "the call has more than 2000 actions"),
    ],
)
def test_a_call_of_too_many_actions_is_unknown(role: ArgumentRole, items: list[str], reason: str) -> None:
    """The first ones are reported, and that there are more."""
    started = time.process_time()
    actions = _read({"x": items}, {"x[]": role})
    assert time.process_time() - started < 2
    assert _reasons(actions)[-1] == reason
    assert len(actions.certain) == 2_001
    assert _reasons(_read({"x": items[:2_000]}, {"x[]": role})) == []


def test_a_patch_of_too_many_files_is_unknown() -> None:
    """No name of it is certain then."""
    patch = "*** Begin Patch\n" + "".join(f"*** Add File: f{i}\n+x\n" for i in range(10_000)) + "*** End Patch"
    started = time.process_time()
    actions = _read({"x": patch}, {"x": Role.PATCH})
    assert time.process_time() - started < 2
    assert _reasons(actions) == ["the patch touches more than 4096 files"]
    [unknown] = actions.certain
    assert isinstance(unknown, Unknown)
    assert unknown.about == "path"


# What is typed ----------------------------------------------------------------------------------------------------


@for_each("arguments", [{}, {"chars": None}, {"chars": ""}, {"chars": "\x03"}])
def test_nothing_typed_is_nothing_done(arguments: dict[str, Any]) -> None:
    """The call only looks at what a program has written, or ends it."""
    actions = _read(arguments, {"chars?": Role.INPUT})
    assert (actions.certain, actions.possible, actions.doubt) == ((), (), None)


@for_each("value", ["ls\n", "\n", " ", "\x03\n", 0, False, [], {}, ["ls"]])
def test_what_is_typed_is_unknown(value: object) -> None:
    """No one knows the program, so no one knows what it makes of it; a wrong type least of all."""
    actions = _read({"chars": value}, {"chars?": Role.INPUT})
    assert _reasons(actions) == ["it is not known what a running program does with `chars`"]
    assert actions.unknown is not None
    assert actions.unknown.about == ""
    assert actions.doubt is not None


@for_each("value", ["cd sub; rm -r x >log\n", ["cd sub", "rm -r x >log"]])
def test_what_is_typed_is_looked_through_for_restrictions(value: object) -> None:
    """The reader is likely a shell; what it then would do is possible."""
    actions = _read({"chars": value}, {"chars?": Role.INPUT})
    assert ("rm", "-r", "x") in [run.argv for run in actions.runs()]
    assert (WRITE, True) in [(touch.access, touch.place.text == "log") for touch in actions.touches()]


def test_what_is_typed_may_be_left_out_only_where_the_tool_says_so() -> None:
    """As with every role: what is required and missing is unknown."""
    assert _reasons(_read({}, {"chars": Role.INPUT})) == ["the argument `chars` is missing"]
