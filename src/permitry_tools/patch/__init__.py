"""The tool `apply_patch`: parse, verify as a whole, and commit as a whole; and patches that hide in commands."""

from permitry_tools.patch.invocation import patch_in_shell
from permitry_tools.patch.tool import Patching, apply_patch, register
from permitry_tools.patch.update import LineEndings

__all__ = ["LineEndings", "Patching", "apply_patch", "patch_in_shell", "register"]
