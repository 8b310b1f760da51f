"""The tool `think`."""

from pydantic import Field

from permitry.port import ToolRegistry
from permitry_tools._spec import READS, ROLES, Arguments, tool
from permitry_tools.workspace import Workspace

__all__ = ["register"]


class Think(Arguments):
    """The arguments of `think`."""

    note: str = Field("", description="The thought; nothing happens but that it is said.")


def register(registry: ToolRegistry, _workspace: Workspace) -> None:
    """Add `think` to `registry`. It touches nothing, so it needs no workspace."""

    @tool(registry, Think, "Note a thought before the next step.", READS, roles={"note": ROLES.TEXT})
    def think(arguments: Think) -> tuple[bool, str]:
        return True, f"Thought noted: {arguments.note}"
