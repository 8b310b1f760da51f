"""Commands that only apply a patch; what tools make of them is in the tests of `permitry_tools/shell`."""

from permitry.actions.derive.applied import AppliedPatch, as_applied, calls_patching, find_patch, script_in
from permitry.actions.derive.script import read_command
from permitry.actions.folders import Folder
from permitry.core.action import Access, Run, Touch

PATCH = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"
COMMAND = f"apply_patch <<'EOF'\n{PATCH}\nEOF\n"


def test_a_command_that_does_nothing_else_is_recognized() -> None:
    """As a text, and in the arguments of a shell."""
    assert find_patch(COMMAND) == find_patch(["bash", "-lc", COMMAND]) == AppliedPatch(PATCH)
    assert find_patch(f"cd d && {COMMAND}") == AppliedPatch(PATCH, "d")
    assert find_patch(f"cd '' && {COMMAND}") is find_patch(f"{COMMAND}ls") is None
    assert script_in(["bash", "-lc", COMMAND]) == COMMAND


def test_what_is_certain_is_what_the_patch_touches() -> None:
    """The program is there for restrictions."""
    reading = as_applied(read_command(COMMAND, Folder(("/w",), None)))
    (touch,) = reading.certain
    assert isinstance(touch, Touch)
    assert (touch.access, touch.place.text, touch.is_all) == (Access.WRITE, "a", True)
    assert any(isinstance(each, Run) and each.argv == ("apply_patch",) for each in reading.possible)


def test_a_call_is_found_in_any_command() -> None:
    """A program in a folder is another one, and so is one on another machine."""
    calls = ("cat p | apply_patch", "bash -c 'applypatch <p'", ["timeout", "5", "apply_patch", PATCH])
    assert [calls_patching(each) for each in calls] == ["apply_patch", "applypatch", "apply_patch"]
    others = ("ls", "grep apply_patch f", "./apply_patch", "ssh h apply_patch", "apply_patch() { :; }; apply_patch")
    assert {calls_patching(each) for each in others} == {None}
