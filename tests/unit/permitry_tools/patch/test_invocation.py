"""Patches in commands; 23 commands of another tool are in `tests/peers/test_apply_patch.py`."""

import pytest
from tests.tables import for_each

from permitry.actions.derive.applied import AppliedPatch
from permitry.errors import ToolError
from permitry_tools.patch import patch_in_shell

PATCH = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"


@for_each(
    ("command", "folder"),
    [
        (f"apply_patch <<'EOF'\n{PATCH}\nEOF", None),
        (f'\n  applypatch << "EOF"\n{PATCH}\nEOF\n\n', None),
        (f"apply_patch <<EOF\n{PATCH}\nEOF\n", None),
        (f"cd 'a b' && apply_patch <<'EOF'\n{PATCH}\nEOF\n", "a b"),
        (["/bin/zsh", "-lc", f"apply_patch <<'EOF'\n{PATCH}\nEOF\n"], None),
        (["Pwsh.exe", "-noprofile", "-COMMAND", f"apply_patch <<'EOF'\n{PATCH}\nEOF\n"], None),
        (["apply_patch", PATCH], None),
    ],
)
def test_a_call_is_recognized(command: str | list[str], folder: str | None) -> None:
    """As shell text, as the script of a shell, and as a program."""
    assert patch_in_shell(command) == AppliedPatch(PATCH, folder)


def test_what_the_patch_holds_does_not_matter() -> None:
    """It may be longer than commands are read, and hold what no command may."""
    patch = f"*** Begin Patch\n*** Add File: a\n+\u200b$(rm x)\x0c`\n+{'x' * 100_000}\n*** End Patch"
    assert patch_in_shell(f"apply_patch <<'EOF'\n{patch}\nEOF\n") == AppliedPatch(patch)


@for_each(
    "command",
    [
        "ls",
        "",
        [],
        ["ls"],
        ["apply_patch"],
        ["apply_patch", PATCH, "more"],
        ["bash", "-x", f"apply_patch <<'EOF'\n{PATCH}\nEOF"],
        ["python", "-c", f"apply_patch <<'EOF'\n{PATCH}\nEOF"],
        f"apply_patch <<'EOF'\n{PATCH}",
        f"apply_patch <<'EOF'\n{PATCH}\nEOF\nls",
        f"apply_patch <<'EOF' && ls\n{PATCH}\nEOF",
        f"apply_patch <<-'EOF'\n{PATCH}\nEOF",
        f"! apply_patch <<'EOF'\n{PATCH}\nEOF",
        f"X=1 apply_patch <<'EOF'\n{PATCH}\nEOF",
        f"apply_patch >f <<'EOF'\n{PATCH}\nEOF",
        f"(apply_patch <<'EOF'\n{PATCH}\nEOF\n)",
        f"./apply_patch <<'EOF'\n{PATCH}\nEOF",
        f"cd - && apply_patch <<'EOF'\n{PATCH}\nEOF",
        f"cd ~/a && apply_patch <<'EOF'\n{PATCH}\nEOF",
        f"cd a* && apply_patch <<'EOF'\n{PATCH}\nEOF",
        f"cd $X && apply_patch <<'EOF'\n{PATCH}\nEOF",
        f"cd a >f && apply_patch <<'EOF'\n{PATCH}\nEOF",
        f"ls && apply_patch <<'EOF'\n{PATCH}\nEOF",
    ],
)
def test_everything_else_is_left_to_the_shell(command: str | list[str]) -> None:
    """One thing next to the patch, and it is another command."""
    assert patch_in_shell(command) is None


@for_each("command", [PATCH, [PATCH], ["bash", "-c", f"\n{PATCH}\n"], f"<<EOF\n{PATCH}\nEOF"])
def test_a_patch_alone_is_an_error(command: str | list[str]) -> None:
    """A model that forgot the program is shown that; the shell would try to run the patch line by line."""
    with pytest.raises(ToolError, match="A patch was found without a call of `apply_patch`"):
        patch_in_shell(command)


@for_each("line", ["+$HOME", "+`ls`", "+a\\"])
def test_a_patch_the_shell_would_rewrite_is_an_error(line: str) -> None:
    """Without quotes a here-document is expanded: what the policy has read is not what would be written."""
    patch = PATCH.replace("+x", line)
    with pytest.raises(ToolError, match="Quote the end of the here-document: <<'EOF'"):
        patch_in_shell(f"apply_patch <<EOF\n{patch}\nEOF")
