"""A call of `apply_patch` inside a command: an edit that looks like a command, so that shell tools can do it as one.

What is such a command is said in `permitry/actions/derive/applied.py`, which tells the policy too.

Source: shared facts on apply_patch, "Shell recognition".
"""

from collections.abc import Sequence

from permitry.port import AppliedPatch, ToolError, find_patch, script_in
from permitry_tools.patch.parse import parse_patch

__all__ = ["INSTEAD", "patch_in_shell"]

INSTEAD = "Use the tool `apply_patch`, or give the patch to `apply_patch` as a here-document."
"""What to say to a model that gave a patch to a shell in another way."""


def patch_in_shell(command: str | Sequence[str]) -> AppliedPatch | None:
    """Return the patch that `command`, shell text or a list of arguments, applies; None when it is another command.

    Raises: `ToolError` for a patch without `apply_patch`, and for a here-document the shell would rewrite.
    """
    script = script_in(command)
    for text in [script] if script is not None else command[:1]:
        if _is_patch(text):
            raise ToolError(f"A patch was found without a call of `apply_patch`. {INSTEAD}")
    found = find_patch(command)
    if found is not None and found.delimiter is not None:
        raise ToolError(
            f"The shell would rewrite this patch. Quote the end of the here-document: <<'{found.delimiter}'."
        )
    return found


def _is_patch(text: str) -> bool:
    try:
        parse_patch(text)
    except ToolError:
        return False
    return True
