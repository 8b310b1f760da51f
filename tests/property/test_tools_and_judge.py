"""The shipped tools and the judge: whatever a tool really touches, the judge has told of that very call.

The truth is taken from the system: which files were opened, by the descriptors themselves, and how the tree differs
afterwards. So a tool and the judge cannot agree on a mistake by sharing the code that makes it.
"""

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from permitry.actions.extract import ReadActions
from permitry.core.action import Access
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.spec import ToolSpec
from permitry.dispatch.registry import ToolRegistry
from permitry.errors import ToolError
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry_tools import edit, files, hashline, images, patch, repo_map, search
from permitry_tools._process import folder_of
from permitry_tools._reading import ReadMemory, line_hash
from permitry_tools.patch import Patching
from permitry_tools.shell import codex
from permitry_tools.shell.patching import apply_patch_in
from permitry_tools.workspace import Workspace

Touched: TypeAlias = set[tuple[Access, str]]
Tree: TypeAlias = dict[str, object]

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc to see what is opened")

PNG = b"\x89PNG\n"
LINKS = {"in": "d/b", "folder": "d", "up": "..", "out": "../outside/secret", "loop": "loop", "chain": "folder/in"}
_odd = st.text(st.sampled_from("ab ~\\*?\"'$:é\t\r\x0b\x85\0\u2028\u200b\N{COMBINING ACUTE ACCENT}"), max_size=4)
_names = st.one_of(
    st.sampled_from(("a", "b", "d", "new", "..", ".", "", "~", "file:", ".git", ".Permitry", *LINKS)),
    st.sampled_from(("work", "outside", "secret", "e\N{COMBINING ACUTE ACCENT}", "é", "A", "picture.png")),
    _odd,
)
_relative = st.lists(_names, min_size=1, max_size=4).map("/".join)
_prefixes = st.sampled_from(("", "", "", "{root}/", "//{root}/", "/", "../work/", "~/", "file://{root}/"))
_paths = st.builds("{}{}".format, _prefixes, _relative)
_plain = st.sampled_from(("a", "d/b", "new", "d/new/x", "in", "folder/b", "chain", "folder/../a", "up/work/a"))
_any_path = st.one_of(_plain, _paths)


@contextlib.contextmanager
def _world() -> Iterator[Path]:
    """Yield a workspace with files, links inside and outside, and a file next to it."""
    with tempfile.TemporaryDirectory() as name:
        above = Path(name).resolve()
        root = above / "work"
        for folder in (root / "d" / "deep", root / ".git", above / "outside"):
            folder.mkdir(parents=True)
        for file in (root / "a", root / "d" / "b", root / "é", root / ".git" / "config", above / "outside" / "secret"):
            file.write_bytes(b"x\n")
        (root / "picture.png").write_bytes(PNG)
        for link, target in LINKS.items():
            (root / link).symlink_to(target)
        (root / "d" / "in").symlink_to("../a")
        yield root


def _tree(above: Path) -> Tree:
    """Return every file and link, with what it holds."""
    found: Tree = {}
    for folder, subfolders, names in os.walk(above):
        for name in (*subfolders, *names):
            path = Path(folder) / name
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                found[str(path)] = path.readlink()
            elif stat.S_ISREG(mode):
                found[str(path)] = path.read_bytes()
    return found


def _changed(before: Tree, after: Tree) -> Touched:
    gone = {(Access.DELETE, path) for path in before.keys() - after.keys()}
    return gone | {(Access.WRITE, path) for path, value in after.items() if before.get(path) != value}


@contextlib.contextmanager
def _watched() -> Iterator[set[str]]:
    """Yield a set that gets the real path of each regular file that is opened to be read."""
    real_open, opened = os.open, set[str]()

    def noting_open(path: Any, flags: int, *rest: Any, **named: Any) -> int:  # noqa: ANN401 -- as the real one
        file = real_open(path, flags, *rest, **named)
        if flags & os.O_ACCMODE == os.O_RDONLY and stat.S_ISREG(os.fstat(file).st_mode):
            opened.add(os.readlink(f"/proc/self/fd/{file}"))  # noqa: PTH115 -- pathlib may open by itself
        return file

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "open", noting_open)
        yield opened


def _told(call: ToolCall, root: Path, spec: ToolSpec | None) -> tuple[Touched, set[str]]:
    """Return what the judge reports: each path with what is done to it, and the folders that are read as a whole."""
    actions = ReadActions(str(root.parent))(call, AuthContext(workspace=str(root)), spec)
    touches = list(actions.touches())
    named = {(touch.access, name) for touch in touches for name in touch.place.names}
    return named, {name for touch in touches if touch.place.is_tree for name in touch.place.names}


def _is_told(path: str, named: Touched, trees: set[str]) -> bool:
    """Return whether reading a file was reported: the one who writes a file may look at it first."""
    below = any(path.startswith(f"{tree.rstrip('/')}/") for tree in trees)
    # What was set aside of a file bears another name for a moment.
    is_aside = Path(path).name.startswith(".permitry-")
    return below or is_aside or any(path == name for _, name in named)


def _registry(root: Path) -> ToolRegistry:
    registry, workspace, memory = ToolRegistry(), Workspace(root), ReadMemory()
    for family in (files, edit, hashline, patch):
        family.register(registry, workspace, memory)
    for looking in (search, repo_map, images):
        looking.register(registry, workspace)
    return registry


@st.composite
def _patches(draw: st.DrawFn) -> str:
    """Return a patch of some operations."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        path = draw(_any_path)
        match draw(st.sampled_from(("add", "delete", "update", "move"))):
            case "add":
                lines += [f"*** Add File: {path}", "+y"]
            case "delete":
                lines += [f"*** Delete File: {path}"]
            case "update":
                lines += [f"*** Update File: {path}", "@@", "-x", "+y"]
            case _:
                lines += [f"*** Update File: {path}", f"*** Move to: {draw(_any_path)}", "-x", "+z"]
    return "\n".join(("*** Begin Patch", *lines, "*** End Patch"))


@st.composite
def _calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """Return the name of a tool and arguments for it; `{root}` in a path is to be the workspace."""
    path = draw(_any_path)
    anchor = f"1:{line_hash('x')}"
    choices: Mapping[str, dict[str, Any]] = {
        "read_file": {"path": path},
        "write_file": {"path": path, "content": draw(st.sampled_from(("x\n", "y\n")))},
        "edit_file": {"path": path, "old_text": "x", "new_text": "y"},
        "hashline_edit": {"path": path, "edits": [{"set_line": anchor, "content": "z"}]},
        "apply_patch": {draw(st.sampled_from(("patch", "input"))): draw(_patches())},
        "view_image": {"path": path},
        "read_image": {"path": path},
        "search_files": {"query": "x"},
        "list_files": {},
        "repo_map": {},
    }
    name = draw(st.sampled_from(tuple(choices)))
    return name, choices[name]


def _rooted(value: Any, root: Path) -> Any:  # noqa: ANN401 -- arguments are any JSON
    """Return arguments with the folder that is only known when they run."""
    if isinstance(value, dict):
        return {key: _rooted(inner, root) for key, inner in value.items()}
    return value.replace("{root}", str(root)) if isinstance(value, str) else value


def _both(path: str) -> list[tuple[str, dict[str, Any]]]:
    return [("read_file", {"path": path}), ("write_file", {"path": path, "content": "y\n"})]


@settings(max_examples=2 * settings().max_examples)
@given(st.lists(_calls(), min_size=1, max_size=3))
@example(_both("chain"))
@example(_both("up/work/./d/../in"))
@example(_both("e\N{COMBINING ACUTE ACCENT}"))
@example([("apply_patch", {"patch": "*** Begin Patch\n*** Delete File: folder/in\n*** End Patch"})])
@example([("apply_patch", {"patch": "*** Begin Patch\n*** Update File: in\n*** Move to: m/b\n-x\n+y\n*** End Patch"})])
def test_a_file_tool_touches_what_the_judge_has_told(calls: list[tuple[str, dict[str, Any]]]) -> None:
    """Every file that was read is among the paths, and every change is there as writing or deleting."""
    with _world() as root:
        registry = _registry(root)
        handler = ToolHandler(Session(yolo_mode=True, workspace=str(root)), registry=registry)
        for number, (name, arguments) in enumerate(calls):
            call = ToolCall(name, _rooted(arguments, root), call_id=str(number))
            named, trees = _told(call, root, registry.get(name))
            before = _tree(root.parent)
            with _watched() as opened:
                handler.handle(call)
            assert _changed(before, _tree(root.parent)) - named == set()
            # A tool without a path of its own looks at the whole workspace, which is where reading is free.
            everywhere = {str(root)} if name in ("list_files", "search_files", "repo_map") else set()
            assert [path for path in opened if not _is_told(path, named, trees | everywhere)] == []


@st.composite
def _commands(draw: st.DrawFn) -> str | list[str]:
    """Return a command that applies a patch, or nearly."""
    program = draw(st.sampled_from(("apply_patch", "applypatch")))
    text = draw(_patches())
    folder = draw(st.one_of(st.none(), _any_path))
    quote = draw(st.sampled_from(("'", '"', "")))
    end = draw(st.sampled_from(("EOF", "PATCH")))
    quoted = draw(st.sampled_from(("{}", "'{}'"))).format(folder)
    before = "" if folder is None else f"cd {quoted} && "
    script = f"{before}{program} <<{quote}{end}{quote}\n{text}\n{end}\n"
    shell = draw(st.sampled_from(("bash", "sh", "zsh", "/bin/bash", "pwsh")))
    option = draw(st.sampled_from(("-c", "-lc", "-command")))
    choices: list[str | list[str]] = [script, [program, text], [shell, option, script]]
    return draw(st.sampled_from(choices))


_SCRIPT = "apply_patch <<'EOF'\n*** Begin Patch\n{}\n*** End Patch\nEOF\n"


@settings(max_examples=2 * settings().max_examples)
@given(command=_commands(), workdir=st.one_of(st.none(), _any_path))
@example(command="cd folder/.. && " + _SCRIPT.format("*** Update File: a\n-x\n+y"), workdir=None)
@example(command="cd new/x && " + _SCRIPT.format("*** Add File: a\n+y"), workdir=None)
@example(command="cd .. && " + _SCRIPT.format("*** Delete File: d/in"), workdir="folder")
@example(command="cd ~ && " + _SCRIPT.format("*** Delete File: a"), workdir=None)
@example(command="cd '' && " + _SCRIPT.format("*** Delete File: a"), workdir=None)
@example(command=_SCRIPT.format("*** Add File: new\n+\u200b\x0c$(x)"), workdir="d")
@example(command=["bash", "-lc", "cd d && " + _SCRIPT.format("*** Update File: in\n-x\n+y")], workdir=None)
@example(command=["pwsh", "-command", _SCRIPT.format("*** Delete File: a")], workdir=None)
def test_a_patch_in_a_command_touches_what_the_judge_has_told(command: str | list[str], workdir: str | None) -> None:
    """What is done instead of the command is what was judged as the command, from the folder it would start in."""
    with _world() as root:
        workspace, registry = Workspace(root), ToolRegistry()
        codex.register(registry, workspace)
        given_command = (
            _rooted(command, root) if isinstance(command, str) else [_rooted(each, root) for each in command]
        )
        folder = _rooted(workdir, root)
        call = ToolCall("shell", {"command": given_command, "workdir": folder})
        named, _ = _told(call, root, registry.get("shell"))
        before = _tree(root.parent)
        with _watched() as opened, contextlib.suppress(ToolError):
            apply_patch_in(given_command, folder_of(workspace, folder), Patching(workspace))
        assert _changed(before, _tree(root.parent)) - named == set()
        assert [path for path in opened if not _is_told(path, named, set())] == []
