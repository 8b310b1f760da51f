"""The tool `search_files`."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import ClassVar

from pydantic import Field, field_validator

from permitry.port import ToolError, ToolRegistry
from permitry_tools._looking import LONGEST_GLOB, LONGEST_LOOK, Look
from permitry_tools._reading import Asked, body_of, lines_of
from permitry_tools._spec import READS, ROLES, handler, spec
from permitry_tools.workspace import Workspace

__all__ = ["register"]

_MOST_MATCHES = 200
_LONGEST_LINE = 500
_ASKED = "search_files requires non-empty query"


class SearchFiles(Asked):
    """The arguments of `search_files`."""

    asked: ClassVar[Mapping[str, str]] = {"query": _ASKED}
    query: str = Field(description="The text to look for, within one line; case does not matter.")
    glob: str = Field("*", max_length=LONGEST_GLOB, description="Which files to look into, as for `list_files`.")

    @field_validator("query")
    @classmethod
    def _is_not_blank(cls, query: str) -> str:
        if not query.strip():
            raise ToolError(_ASKED)
        return query


def register(registry: ToolRegistry, workspace: Workspace) -> None:
    """Add `search_files` to `registry`, confined to `workspace`."""

    def search_files(arguments: SearchFiles) -> tuple[bool, str]:
        look = Look(workspace, arguments.glob)
        found = list(islice(_matches(look, arguments.query.lower()), _MOST_MATCHES + 1))
        more = [f"...[only the first {_MOST_MATCHES} matches are shown]..."] if len(found) > _MOST_MATCHES else []
        return True, "\n".join([*(found[:_MOST_MATCHES] or ["(no matches)"]), *more, *look.notes()])

    registry.register(
        # It reads what lies below the workspace: the role of an argument that there is not says so.
        spec(
            "search_files", "Find a text in files.", SearchFiles, READS,
            roles={"path?": ROLES.READ_TREE}, timeout=LONGEST_LOOK,
        ),
        handler(SearchFiles, search_files),
    )  # fmt: skip


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
