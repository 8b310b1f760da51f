"""The tool `edit_file`."""

from pydantic import Field

from permitry.dispatch.registry import ToolRegistry
from permitry.errors import ToolError
from permitry.tools._spec import ROLES, WRITES, Arguments, handler, preview, spec
from permitry.tools.files import MOST_BYTES, unified_diff
from permitry.tools.workspace import Workspace

__all__ = ["register"]


class EditFile(Arguments):
    """The arguments of `edit_file`."""

    path: str = Field(description="The file, relative to the workspace.")
    old_text: str = Field(min_length=1, description="The text to replace, exactly; it must occur once.")
    new_text: str = Field(description="The text to put there.")


def register(registry: ToolRegistry, workspace: Workspace) -> None:
    """Add `edit_file` to `registry`, confined to `workspace`."""

    def edited(arguments: EditFile) -> tuple[str, str]:
        data = workspace.read(arguments.path, MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise ToolError(f"`{arguments.path}` is larger than {MOST_BYTES} bytes.")
        try:
            # Exact bytes, not a lenient reading: what is written back must differ in this one place only.
            before = data.decode()
        except UnicodeDecodeError as error:
            raise ToolError(f"`{arguments.path}` is not UTF-8 text.") from error
        count = before.count(arguments.old_text)
        if count != 1:
            found = "was not found" if count == 0 else f"occurs {count} times"
            raise ToolError(f"`old_text` {found} in `{arguments.path}`; give text that occurs exactly once.")
        return before, before.replace(arguments.old_text, arguments.new_text)

    def edit_file(arguments: EditFile) -> tuple[bool, str]:
        workspace.write(arguments.path, edited(arguments)[1].encode())
        return True, f"Edited {workspace.locate(arguments.path).as_posix()}."

    def diff(arguments: EditFile) -> str:
        return unified_diff(workspace.locate(arguments.path), *edited(arguments))

    registry.register(
        spec("edit_file", "Replace one piece of text.", EditFile, WRITES, roles={"path": ROLES.WRITE_PATH}),
        handler(EditFile, edit_file),
        preview=preview(EditFile, diff),
    )
