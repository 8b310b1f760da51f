"""The tool `search_files`."""

from collections.abc import Iterator
from itertools import islice

from pydantic import Field

from permitry.port import ToolRegistry
from permitry_tools._looking import LONGEST_GLOB, LONGEST_LOOK, Look
from permitry_tools._reading import body_of, lines_of
from permitry_tools._spec import READS, ROLES, Arguments, require, tool
from permitry_tools.workspace import Workspace

__all__ = ["register"]

_MOST_MATCHES = 200
_LONGEST_LINE = 500


class SearchFiles(Arguments):
    """The arguments of `search_files`."""

    query: str = Field(description="The text to look for, within one line; case does not matter.")
    glob: str = Field("*", max_length=LONGEST_GLOB, description="Which files to look into, as for `list_files`.")


def register(registry: ToolRegistry, workspace: Workspace) -> None:
    """Add `search_files` to `registry`, confined to `workspace`."""

    # It reads what lies below the workspace: the role of an argument that there is not says so.
    @tool(
        registry, SearchFiles, "Find a text in files.", READS,
        require("query", "search_files requires non-empty query"),
        roles={"path?": ROLES.READ_TREE}, timeout=LONGEST_LOOK,
    )  # fmt: skip
    def search_files(arguments: SearchFiles) -> tuple[bool, str]:
        look = Look(workspace, arguments.glob)
        found = list(islice(_matches(look, arguments.query.lower()), _MOST_MATCHES + 1))
        more = [f"...[only the first {_MOST_MATCHES} matches are shown]..."] if len(found) > _MOST_MATCHES else []
        return True, "\n".join([*(found[:_MOST_MATCHES] or ["(no matches)"]), *more, *look.notes()])


def _matches(look: Look, query: str) -> Iterator[str]:
    for path in look.names():
        text = look.text(path)
        if text is None or query not in text.lower():
            continue
        for number, line in enumerate(lines_of(text), 1):
            if query in line.lower():
                yield f"{path}:{number}:{_short(body_of(line))}"


def _short(line: str) -> str:
    rest = len(line) - _LONGEST_LINE
    return line if rest <= 0 else f"{line[:_LONGEST_LINE]}...[truncated {rest} chars]..."
