"""Commands that only apply a patch: done by `apply_patch`, and only where the policy was shown every file."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.result import ToolResult
from permitry.dispatch.registry import ToolRegistry
from permitry.errors import ToolError
from permitry.guard.session import Session
from permitry.handler import Blocked, Cause, ToolHandler
from permitry_tools import files, sessions, shell
from permitry_tools._reading import ReadMemory
from permitry_tools.patch import Patching
from permitry_tools.shell import codex
from permitry_tools.shell.patching import apply_patch_in
from permitry_tools.workspace import Workspace

ADD = "*** Begin Patch\n*** Add File: new\n+x\n*** End Patch"
SCRIPT = f"apply_patch <<'EOF'\n{ADD}\nEOF\n"
DONE = "Success. Updated the following files:\nA new\n"


@pytest.fixture
def registry(workspace: Workspace) -> Iterator[ToolRegistry]:
    """Yield a registry of the shells and the file tools, with one memory."""
    memory = ReadMemory()
    with ToolRegistry() as registry:
        for family in (files, shell, codex, sessions):
            family.register(registry, workspace, memory)
        yield registry


@pytest.fixture
def use(registry: ToolRegistry) -> Callable[..., ToolResult]:
    """Return a function that runs a tool through the door."""
    handler = ToolHandler(Session(yolo_mode=True), registry=registry)
    return lambda tool, **arguments: handler.handle(ToolCall(tool, arguments))


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("run_shell", {"command": SCRIPT}),
        ("shell", {"command": SCRIPT}),
        ("shell", {"command": ["bash", "-lc", SCRIPT]}),
        ("shell", {"command": ["apply_patch", ADD]}),
        ("shell", {"command": ["pwsh", "-command", SCRIPT]}),
        ("shell_command", {"command": SCRIPT, "timeout_ms": 1}),
        ("local_shell", {"command": ["sh", "-c", SCRIPT]}),
        ("exec_command", {"cmd": SCRIPT}),
    ],
)
def test_a_command_that_only_applies_a_patch_is_done_here(
    root: Path, use: Callable[..., ToolResult], tool: str, arguments: dict[str, Any]
) -> None:
    """The answer is that of `apply_patch`."""
    assert use(tool, **arguments) == ToolResult(True, DONE)
    assert (root / "new").read_text(encoding="utf-8") == "x\n"


@pytest.mark.parametrize(
    ("workdir", "before", "where"),
    [("d", "", "d/new"), ("d", "cd e && ", "d/e/new"), (None, "cd link/.. && ", "new"), ("link", "cd .. && ", "d/new")],
)
def test_paths_start_where_the_command_would(
    root: Path, use: Callable[..., ToolResult], workdir: str | None, before: str, where: str
) -> None:
    """From the working folder, and from there as a shell goes: by the names of folders."""
    (root / "d" / "e").mkdir(parents=True)
    (root / "link").symlink_to("d/e")
    assert use("shell", command=before + SCRIPT, workdir=workdir).ok
    assert [path.relative_to(root).as_posix() for path in root.rglob("new")] == [where]


@pytest.mark.parametrize("tool", ["run_shell", "shell", "shell_command"])
def test_a_patch_alone_is_reported_to_be_one(root: Path, use: Callable[..., ToolResult], tool: str) -> None:
    """A shell would try its lines as commands."""
    done = use(tool, command=ADD)
    assert (done.ok, done.text[:46]) == (False, "A patch was found without a call of `apply_pat")
    assert list(root.iterdir()) == []


def test_a_patch_that_does_not_fit_is_reported_as_by_the_tool(use: Callable[..., ToolResult]) -> None:
    """And nothing is run."""
    done = use("shell", command=SCRIPT.replace("Add File: new\n+x", "Delete File: gone"))
    assert done == ToolResult(False, "apply_patch verification failed: Failed to delete file gone")


def test_a_patch_in_a_command_leads_nowhere_outside(outside: Path, use: Callable[..., ToolResult]) -> None:
    """A shell could write there; the tool that does its work does not."""
    done = use("shell", command=f"cd {outside} && {SCRIPT}")
    assert (done.ok, done.text.endswith("The path `new` lies outside the workspace.")) == (False, True)
    assert not (outside / "new").exists()


def test_a_file_that_a_command_has_made_is_known(use: Callable[..., ToolResult]) -> None:
    """The model has written it as a whole, so it may write it again."""
    assert use("run_shell", command=SCRIPT).ok
    assert use("write_file", path="new", content="y\n").ok


@pytest.mark.parametrize(
    "command",
    [
        "ls", ["ls", ADD], "grep -rn apply_patch src", "which apply_patch", "./apply_patch p", "ssh far apply_patch <p",
        "apply_patch() { :; }; apply_patch", "PATH=.:$PATH apply_patch <p", "echo 'apply_patch <p'",
    ],
)  # fmt: skip
def test_everything_else_is_left_to_the_shell(workspace: Workspace, command: str | list[str]) -> None:
    """So is a command that only names `apply_patch`, or says what it means."""
    assert apply_patch_in(command, workspace.root, Patching(workspace)) is None
    assert list(workspace.root.iterdir()) == []


def test_a_file_the_policy_was_not_told_of_is_not_touched(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Should the two readings of a command ever differ, nothing is done."""
    other = SCRIPT.replace("File: new", "File: other")
    real = apply_patch_in.__globals__["paths_touched"]
    monkeypatch.setitem(apply_patch_in.__globals__, "paths_touched", lambda _, folder: real(other, folder))
    with pytest.raises(ToolError, match="a file that was not decided on"):
        apply_patch_in(SCRIPT, workspace.root, Patching(workspace))
    assert list(workspace.root.iterdir()) == []


def test_a_folder_that_is_not_there_is_an_error(workspace: Workspace) -> None:
    """No shell gets the command: a permission for the paths of a patch is none for a program."""
    with pytest.raises(ToolError, match="is not there"):
        apply_patch_in(f"cd gone && {SCRIPT}", workspace.root, Patching(workspace))


@pytest.mark.parametrize(
    "command",
    [
        SCRIPT.replace("'EOF'", "'EOF' && echo done", 1), SCRIPT.replace("'EOF'", "'EOF' &", 1), f"{SCRIPT}\nls",
        f'apply_patch "{ADD}"', "cat p | apply_patch", f"echo '{ADD}' | applypatch", "(apply_patch <p)",
        "apply_patch <p || true", f"X=1 {SCRIPT}", f"cd '' && {SCRIPT}", "bash -c 'apply_patch <p'",
        "timeout 5 apply_patch <p", "echo $(apply_patch <p)", ["apply_patch"], ["bash", "-c", "cat p | apply_patch"],
        ["timeout", "5", "apply_patch", ADD],
    ],
)  # fmt: skip
def test_a_patch_applied_in_another_way_is_refused(workspace: Workspace, command: str | list[str]) -> None:
    """There is no such program; a shell would say so in its output alone, and go on."""
    with pytest.raises(ToolError, match="give the patch to `apply_patch` as a here-document") as told:
        apply_patch_in(command, workspace.root, Patching(workspace))
    assert "There is no program `apply" in str(told.value)


def test_a_program_of_that_name_is_run(workspace: Workspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where it is installed, a shell finds it."""
    (tmp_path / "apply_patch").write_text("#!/bin/sh\n", encoding="utf-8")
    (tmp_path / "apply_patch").chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert apply_patch_in("cat p | apply_patch", workspace.root, Patching(workspace)) is None


def test_a_long_patch_is_judged_and_made(workspace: Workspace) -> None:
    """The strict reader stops at 64 Ki characters; the other one finds the files, and the call is asked about."""
    command = SCRIPT.replace("+x\n", "+x\n" * 50_000)
    assert apply_patch_in(command, workspace.root, Patching(workspace)) == DONE


def test_an_error_of_a_command_is_the_models_to_read(workspace: Workspace) -> None:
    """A here-document that the shell would rewrite is refused."""
    with pytest.raises(ToolError, match="Quote the end of the here-document"):
        apply_patch_in(SCRIPT.replace("'EOF'", "EOF").replace("+x", "+$x"), workspace.root, Patching(workspace))


# Before the question ----------------------------------------------------------------------------------------------

UPDATE = "*** Begin Patch\n*** Update File: a\n-old\n+new\n*** End Patch"
BAD = "*** Begin Patch\n*** Update File: a\n*** End Patch"


def _calls(patch: str) -> list[tuple[str, dict[str, Any]]]:
    script = f"apply_patch <<'EOF'\n{patch}\nEOF\n"
    return [
        ("run_shell", {"command": script}),
        ("shell", {"command": ["bash", "-lc", script]}),
        ("shell_command", {"command": f"cd . && {script}", "workdir": "."}),
        ("local_shell", {"command": ["apply_patch", patch]}),
        ("exec_command", {"cmd": script}),
    ]


@pytest.fixture
def asked(registry: ToolRegistry, root: Path) -> Callable[[str, dict[str, Any]], Any]:
    """Return a function that begins a call under rules that ask about each shell."""
    handler = ToolHandler(Session(workspace=str(root)), registry=registry)
    return lambda tool, arguments: handler.begin(ToolCall(tool, arguments))


@pytest.mark.parametrize(("tool", "arguments"), _calls(UPDATE))
def test_the_question_shows_what_the_patch_would_change(
    root: Path, asked: Callable[[str, dict[str, Any]], Any], tool: str, arguments: dict[str, Any]
) -> None:
    """As the one about `apply_patch` does."""
    (root / "a").write_text("old\n", encoding="utf-8")
    assert asked(tool, arguments).request.preview == "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-old\n+new\n"


@pytest.mark.parametrize(("tool", "arguments"), _calls(BAD))
def test_a_patch_that_cannot_be_read_is_not_asked_about(
    asked: Callable[[str, dict[str, Any]], Any], tool: str, arguments: dict[str, Any]
) -> None:
    """The model hears what is wrong with it."""
    outcome = asked(tool, arguments)
    assert isinstance(outcome, Blocked)
    assert "apply_patch verification failed: Invalid patch hunk on line 2" in outcome.result.text


@pytest.mark.parametrize("command", [ADD, f"apply_patch <<EOF\n{ADD.replace('+x', '+$x')}\nEOF\n"])
def test_a_patch_the_shell_would_not_apply_is_not_asked_about(
    asked: Callable[[str, dict[str, Any]], Any], command: str
) -> None:
    """Without `apply_patch`, or rewritten."""
    outcome = asked("run_shell", {"command": command})
    assert isinstance(outcome, Blocked)
    assert outcome.cause is Cause.MISFIT


@pytest.mark.parametrize("tool", ["run_shell", "shell"])
def test_whether_a_patch_fits_is_for_the_human_alone(asked: Callable[[str, dict[str, Any]], Any], tool: str) -> None:
    """The answer to the model would tell what is in a file that no rule has permitted."""
    outcome = asked(tool, {"command": f"apply_patch <<'EOF'\n{UPDATE}\nEOF\n"})
    assert outcome.request.preview.startswith("(no preview: apply_patch verification failed: Failed to read file")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("run_shell", {"command": "make; ls <<'EOF'\n*** Begin Patch\nEOF\n"}),
        ("shell", {"command": ["make", "x"], "workdir": "no/such"}),
        ("exec_command", {"cmd": "make"}),
    ],
)
def test_other_commands_have_no_preview(
    asked: Callable[[str, dict[str, Any]], Any], tool: str, arguments: dict[str, Any]
) -> None:
    """They are asked about as before."""
    assert asked(tool, arguments).request.preview is None


# What is decided --------------------------------------------------------------------------------------------------

RULES = """
schema = 1
[[rule]]
id = "src"
effect = "allow"
when.path = ["src/**"]
when.access = "write"
[[rule]]
id = "docs"
effect = "allow"
when.path = ["docs/**"]
[[rule]]
id = "no-git"
effect = "block"
when.path = ["**/.git/**"]
"""
NEVER = '[[rule]]\nid = "never"\neffect = "block"\nwhen.command = ["apply_patch **"]\n'
BY_COMMAND = 'schema = 1\n[[rule]]\nid = "by-command"\neffect = "allow"\nwhen.command = ["apply_patch **"]\n'


def _in(path: str) -> str:
    return SCRIPT.replace("File: new", f"File: {path}")


@pytest.fixture
def decide(registry: ToolRegistry, root: Path) -> Callable[..., tuple[str, str | None]]:
    """Return a function that decides a call by rules."""

    def decided(rules: str, tool: str, **arguments: Any) -> tuple[str, str | None]:  # noqa: ANN401 -- of the tool
        handler = ToolHandler(Session(workspace=str(root)), load_policy(rules), registry=registry)
        decision = handler.decide(ToolCall(tool, arguments))
        return decision.verdict.value, decision.rule_id

    return decided


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("run_shell", {"command": _in("src/a")}),
        ("run_shell", {"command": f"cd src && {SCRIPT}"}),
        ("shell", {"command": ["bash", "-lc", _in("src/a")]}),
        ("shell", {"command": ["apply_patch", ADD.replace("new", "src/new")]}),
        ("shell_command", {"command": SCRIPT, "workdir": "src"}),
        ("local_shell", {"command": ["apply_patch", ADD.replace("new", "src/new")]}),
        ("exec_command", {"cmd": _in("src/a")}),
    ],
)
def test_a_permission_for_paths_holds_for_a_patch_in_a_shell(
    root: Path, decide: Callable[..., tuple[str, str | None]], tool: str, arguments: dict[str, Any]
) -> None:
    """As for the tool `apply_patch`, which does it; so does one for the command, and a restriction of either."""
    (root / "src").mkdir()
    assert decide(RULES, tool, **arguments) == ("allow", "src")
    assert decide(BY_COMMAND, tool, **arguments) == ("allow", "by-command")
    assert decide(RULES + NEVER, tool, **arguments) == ("block", "never")


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("run_shell", {"command": _in("src/a").replace("*** End", "*** Add File: docs/b\n+x\n*** End")}, "allow"),
        ("run_shell", {"command": _in("src/a").replace("*** End", "*** Add File: other\n+x\n*** End")}, "confirm"),
        ("run_shell", {"command": _in("src/a").replace("*** End", "*** Delete File: src/b\n*** End")}, "confirm"),
        ("run_shell", {"command": _in("src/../a")}, "confirm"),
        ("run_shell", {"command": f"cd .. && {_in('src/a')}"}, "confirm"),
        ("run_shell", {"command": _in("src/.git/config")}, "block"),
        ("run_shell", {"command": f"X=1 {_in('src/a')}"}, "confirm"),
        ("run_shell", {"command": f"{_in('src/a')}make\n"}, "confirm"),
        ("run_shell", {"command": _in("src/a").replace("'EOF'", "'EOF' | cat", 1)}, "confirm"),
        ("exec_command", {"cmd": _in("src/a"), "login": True}, "confirm"),
    ],
)
def test_nothing_but_the_paths_of_the_patch_is_permitted(
    root: Path, registry: ToolRegistry, tool: str, arguments: dict[str, Any], expected: str
) -> None:
    """Every one of them, by whichever rule; a command that a shell gets is decided as before."""
    context = AuthContext(workspace=str(root))
    decision = load_policy(RULES).decide(ToolCall(tool, arguments), context, registry.get(tool))
    assert decision.verdict.value == expected
