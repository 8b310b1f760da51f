"""The tool `apply_patch`."""

from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permitry.actions.patches import paths_of
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.result import ToolResult
from permitry.core.spec import ArgumentRole
from permitry.dispatch.registry import ToolRegistry
from permitry.errors import ToolError
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry_tools import files
from permitry_tools._reading import ReadMemory
from permitry_tools.patch import LineEndings, apply_patch, register
from permitry_tools.workspace import Workspace

PATCH = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"


def test_the_model_is_reported_what_was_done(root: Path, apply: Callable[..., ToolResult]) -> None:
    """Files that were added come first, then those that were modified and deleted, as the patch names them."""
    for name in "abc":
        (root / name).write_text(f"{name}\n", encoding="utf-8")
    lines = ["*** Delete File: c", "*** Update File: a", "-a", "*** Update File: b", "*** Move to: m/b", "+x"]
    result = apply(*lines, "*** Add File: ./n")
    assert result == ToolResult(True, "Success. Updated the following files:\nA ./n\nM a\nM m/b\nD c\n")
    files = {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in root.rglob("*") if path.is_file()}
    assert files == {"n": "", "a": "", "m/b": "b\nx\n"}


@pytest.mark.parametrize(
    ("kind", "name"),
    [(PayloadKind.FUNCTION, "patch"), (PayloadKind.FUNCTION, "input"), (PayloadKind.CUSTOM, "input")],
)
def test_a_patch_comes_under_two_names(root: Path, registry: ToolRegistry, name: str, kind: PayloadKind) -> None:
    """The second is that of free-form calls."""
    handler = ToolHandler(Session(yolo_mode=True), registry=registry)
    assert handler.handle(ToolCall("apply_patch", {name: PATCH}, kind=kind)).ok
    assert (root / "a").read_text(encoding="utf-8") == "x\n"


@pytest.mark.parametrize("arguments", [{}, {"patch": PATCH, "input": PATCH}, {"patch": None}, {"input": 1}])
def test_one_patch_is_given(root: Path, registry: ToolRegistry, arguments: dict[str, object]) -> None:
    """Two might be judged and applied differently."""
    handler = ToolHandler(Session(yolo_mode=True), registry=registry)
    result = handler.handle(ToolCall("apply_patch", arguments))
    assert result.text.startswith("The arguments do not fit: ")
    assert list(root.iterdir()) == []


def test_the_tool_says_that_it_writes(registry: ToolRegistry) -> None:
    """What it touches is in its patch; done twice, it may add twice."""
    spec = registry.get("apply_patch")
    assert spec is not None
    assert (spec.traits.only_reads, spec.traits.destructive, spec.traits.idempotent) == (False, True, False)
    assert dict(spec.roles or {}) == {"patch|input": ArgumentRole.PATCH}


def test_paths_start_from_a_folder(root: Path, workspace: Workspace) -> None:
    """A command that changes to a folder first means paths from there; out of the workspace it does not lead."""
    assert apply_patch(workspace, PATCH, folder="d/e").endswith("\nA a\n")
    assert (root / "d" / "e" / "a").read_text(encoding="utf-8") == "x\n"
    with pytest.raises(ToolError, match="lies outside the workspace"):
        apply_patch(workspace, PATCH, folder="..")


@pytest.mark.parametrize("folder", [None, "sub", "{root}/sub"])
@pytest.mark.parametrize(
    "operation", ["*** Update File: {}\n-1", "*** Delete File: x{}", "*** Add File: a/{}", "*** Add File: ../../{}"]
)
def test_errors_call_a_file_what_the_patch_calls_it(
    root: Path, workspace: Workspace, operation: str, folder: str | None
) -> None:
    """Where the workspace lies is nothing the model needs to know."""
    (root / "sub").mkdir()
    for name in ("a", "sub/a"):
        (root / name).write_text("2\n", encoding="utf-8")
    (root / "gone").symlink_to("nowhere/at/all")
    (root / "sub" / "gone").symlink_to("loop")
    (root / "sub" / "loop").symlink_to("loop")
    for path in ("a", "gone", "no"):
        patch = f"*** Begin Patch\n{operation.format(path)}\n*** End Patch"
        start = None if folder is None else folder.format(root=root)
        with pytest.raises(ToolError) as caught:
            apply_patch(workspace, patch, folder=start)
        assert str(root.parent) not in str(caught.value)


# What the model knows ---------------------------------------------------------------------------------------------


@pytest.fixture
def use(workspace: Workspace) -> Callable[..., ToolResult]:
    """Return a function that runs `apply_patch` or a file tool, which share a memory."""
    registry, memory = ToolRegistry(), ReadMemory()
    files.register(registry, workspace, memory)
    register(registry, workspace, memory)
    handler = ToolHandler(Session(yolo_mode=True), registry=registry)
    return lambda tool, **arguments: handler.handle(ToolCall(tool, arguments))


def _patch(*lines: str) -> str:
    return "\n".join(("*** Begin Patch", *lines, "*** End Patch"))


def test_a_file_that_was_added_is_known(root: Path, use: Callable[..., ToolResult]) -> None:
    """The model has written all of it, also where there was another."""
    (root / "b").write_text("old\n", encoding="utf-8")
    assert use("apply_patch", patch=_patch("*** Add File: a", "+x", "*** Add File: b", "+x")).ok
    for name in "ab":
        assert use("write_file", path=name, content="y\n").ok


@pytest.mark.parametrize("move", [(), ("*** Move to: m/b",)])
def test_a_file_that_was_known_stays_known(root: Path, use: Callable[..., ToolResult], move: tuple[str, ...]) -> None:
    """The one who knew it before knows it afterwards, wherever it is then."""
    (root / "a").write_text("1\n2\n", encoding="utf-8")
    assert use("read_file", path="a").ok
    assert use("apply_patch", patch=_patch("*** Update File: a", *move, "-1", "+x")).ok
    assert use("write_file", path="m/b" if move else "a", content="y\n").ok


def test_a_file_that_was_never_read_may_be_patched_and_not_replaced(root: Path, use: Callable[..., ToolResult]) -> None:
    """The context proves that a part of it is known, and no more."""
    (root / "a").write_text("1\n2\n", encoding="utf-8")
    assert use("apply_patch", patch=_patch("*** Update File: a", "-1", "+x")).ok
    done = use("write_file", path="a", content="y\n")
    assert (done.ok, done.text[:47]) == (False, "BLOCKED: a already exists but has not been read")


def test_a_patch_that_fails_makes_nothing_known(root: Path, use: Callable[..., ToolResult]) -> None:
    """Nothing of it was written."""
    (root / "a").write_text("1\n", encoding="utf-8")
    assert not use("apply_patch", patch=_patch("*** Add File: a", "+1", "*** Delete File: gone")).ok
    assert not use("write_file", path="a", content="y\n").ok


def test_ends_of_lines_are_the_hosts_choice(root: Path, workspace: Workspace) -> None:
    """They are kept unless the host wants them as the other tool made them of old."""
    patch = "*** Begin Patch\n*** Update File: a\n-1\n+x\n*** End Patch"
    for endings, content in ((LineEndings.KEEP, b"x\r\n2\r\n"), (LineEndings.LF, b"x\n2\r\n")):
        (root / "a").write_bytes(b"1\r\n2\r\n")
        registry = ToolRegistry()
        register(registry, workspace, endings=endings)
        handler = ToolHandler(Session(yolo_mode=True), registry=registry)
        assert handler.handle(ToolCall("apply_patch", {"patch": patch})).ok
        assert (root / "a").read_bytes() == content


def test_a_large_patch_takes_a_moment(root: Path, workspace: Workspace) -> None:
    """A patch of nearly a MiB is applied: twenty thousand chunks, none of which fits exactly."""
    (root / "a").write_text("".join(f"  line number {number}\n" for number in range(60_000)), encoding="utf-8")
    chunks = "".join(f"@@\n line number {number}\n-line number {number + 1}\n+new\n" for number in range(0, 60_000, 3))
    patch = f"*** Begin Patch\n*** Update File: a\n{chunks}*** End Patch"
    assert 700_000 < len(patch) < 1_048_576
    apply_patch(workspace, patch)
    assert (root / "a").read_text(encoding="utf-8").count("new\n") == 20_000


_NAMES = st.sampled_from(
    ["a", "b", "d/a", "./a", "d/../b", "l", "d/l", " a", "a ", "a\r", "a\x0cb", "*** Add File: b", "A"]
)
_GROUPS = st.one_of(
    st.builds(lambda name: [f"*** Add File: {name}", "+x"], _NAMES),
    st.builds(lambda name: [f"  *** Delete File: {name}"], _NAMES),
    st.builds(lambda name, to: [f"*** Update File: {name}", f"*** Move to: {to}", "+x"], _NAMES, _NAMES),
    st.builds(lambda name: [f"*** Update File: {name}\t", "@@", "+x"], _NAMES),
    st.just(["+*** Delete File: b", "+--- a/b", "+++ b/b"]),
)


@given(st.lists(_GROUPS, min_size=1, max_size=3).map(lambda groups: [line for group in groups for line in group]))
@settings(max_examples=300, deadline=None, database=None, derandomize=True)
def test_no_file_is_changed_that_the_policy_is_not_told(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    """Whatever a patch does to a folder, the files are among those it is judged by."""
    root = tmp_path_factory.mktemp("work")
    (root / "d").mkdir()
    for name in ("a", "b", "d/a"):
        (root / name).write_text(f"{name}\n", encoding="utf-8")
    (root / "l").symlink_to("d/a")
    (root / "d" / "l").symlink_to("../b")
    before = _contents(root)
    patch = "\n".join(("*** Begin Patch", *lines, "*** End Patch"))
    shown = {PurePosixPath(path) for _, path in paths_of(patch).touched}
    real = {(root / path).resolve().relative_to(root.resolve()).as_posix() for path in shown}
    named = {(root / path).parent.resolve() / PurePosixPath(path).name for path in shown}
    try:
        apply_patch(Workspace(root), patch)
    except ToolError:
        assert _contents(root) == before
        return
    after = _contents(root)
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    assert changed
    assert changed <= real | {path.relative_to(root.resolve()).as_posix() for path in named}


def _contents(root: Path) -> dict[str, str]:
    """Return what each file holds, and where each link leads."""
    return {
        path.relative_to(root).as_posix(): str(path.readlink()) if path.is_symlink() else path.read_text("utf-8")
        for path in root.rglob("*")
        if path.is_symlink() or path.is_file()
    }
