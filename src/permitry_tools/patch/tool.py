"""The tool `apply_patch`: a patch over several files, verified as a whole and then made as a whole."""

import attrs
from pydantic import Field, model_validator

from permitry.port import PayloadKind, ToolError, ToolRegistry
from permitry_tools._reading import ReadMemory
from permitry_tools._spec import ROLES, WRITES, Arguments, fit, preview, tool
from permitry_tools.patch.commit import commit
from permitry_tools.patch.grammar import GRAMMAR
from permitry_tools.patch.parse import parse_patch
from permitry_tools.patch.preview import preview_of
from permitry_tools.patch.update import LineEndings
from permitry_tools.patch.verify import FileChange, Verified, verify
from permitry_tools.workspace import Workspace

__all__ = ["FAILED", "Patching", "apply_patch", "read_patch", "register"]

FAILED = "apply_patch verification failed"
_LETTERS = "AMD"
_DESCRIPTION = """\
Edit files with a patch. All of it is applied, or nothing. Paths are relative to the workspace; a path occurs once.

*** Begin Patch
*** Add File: path           then every line of the new file, with + before it
*** Delete File: path
*** Update File: path        then, if it gets another path, a line *** Move to: new path
@@ a line above the change   or only @@
 context line
-old line
+new line
*** End Patch

Give three lines of context above and below a change. Write *** End of File below lines that end the file."""


class ApplyPatch(Arguments):
    """The arguments of `apply_patch`; one of the two is given."""

    patch: str | None = Field(None, description="The patch, from `*** Begin Patch` to `*** End Patch`.")
    input: str | None = Field(None, description="The same; the name free-form calls use.")

    @model_validator(mode="after")
    def _is_one(self) -> "ApplyPatch":
        if (self.patch is None) == (self.input is None):
            raise ValueError("give the patch as `patch`, or as `input`")
        return self

    @property
    def text(self) -> str:
        """The patch."""
        return self.patch or self.input or ""


@attrs.frozen
class Patching:
    """Patches being made in a workspace; `memory` holds what the model knows of files, None where it is not checked."""

    workspace: Workspace
    memory: ReadMemory | None = None
    endings: LineEndings = attrs.field(default=LineEndings.KEEP, kw_only=True)

    def verify(self, patch: str, *, folder: str | None = None) -> Verified:
        """Return what the patch would do; the relative paths in it start from `folder`, or the root.

        Raises: `ToolError` when it does not fit.
        """
        try:
            return verify(self.workspace, patch, folder=folder, endings=self.endings)
        except ToolError as error:
            raise ToolError(f"{FAILED}: {error}") from error

    def apply(self, verified: Verified) -> str:
        """Make all changes and return what the model is shown.

        Raises: `ToolError` when one cannot be made. Then nothing was changed, unless the message says so.
        """
        commit(self.workspace.root, verified.changes)
        for file in verified.files:
            self._note(file)
        lines = [f"{letter} {file.name}" for letter in _LETTERS for file in verified.files if file.letter == letter]
        return "\n".join(["Success. Updated the following files:", *lines, ""])

    def _note(self, file: FileChange) -> None:
        """Have a new file known; one that was changed is known if it was known before."""
        if self.memory is None or file.letter == "D":
            return
        is_known = file.source is None or file.before is None or self.memory.knows(file.source, file.before.encode())
        if is_known:
            self.memory.note(file.place, file.after.encode())


def register(
    registry: ToolRegistry,
    workspace: Workspace,
    memory: ReadMemory | None = None,
    *,
    endings: LineEndings = LineEndings.KEEP,
) -> None:
    """Add `apply_patch` to `registry`, confined to `workspace`; `memory` holds what the model knows of files."""
    patching = Patching(workspace, memory, endings=endings)

    @tool(
        registry, ApplyPatch, _DESCRIPTION, attrs.evolve(WRITES, idempotent=False),
        lambda given: read_patch(fit(ApplyPatch, given).text),
        roles={"patch|input": ROLES.PATCH}, kinds=(PayloadKind.FUNCTION, PayloadKind.CUSTOM), grammar=GRAMMAR,
        preview=preview(ApplyPatch, lambda arguments: preview_of(workspace, patching.verify(arguments.text))),
    )  # fmt: skip
    def apply_patch(arguments: ApplyPatch) -> tuple[bool, str]:
        return True, patching.apply(patching.verify(arguments.text))


def read_patch(text: str) -> None:
    """Read a patch, without a look at the files it is about.

    Raises: `ToolError` when it is none.
    """
    try:
        parse_patch(text)
    except ToolError as error:
        raise ToolError(f"{FAILED}: {error}") from error


def apply_patch(
    workspace: Workspace, patch: str, *, folder: str | None = None, endings: LineEndings = LineEndings.KEEP
) -> str:
    """Apply a patch and return what the model is shown; the relative paths in it start from `folder`, or the root.

    Raises: `ToolError` when it does not fit, or cannot be made. Then nothing was changed, unless the message says so.
    """
    patching = Patching(workspace, endings=endings)
    return patching.apply(patching.verify(patch, folder=folder))
