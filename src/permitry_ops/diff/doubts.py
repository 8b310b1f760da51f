"""Why it is not proven that a way has no call where none was found: what the search for one does not cover.

Of a permission, patterns say exactly which actions it is about, and of a restriction at least which; so that no call is
left where the one is within the other. Everything else is in doubt.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from permitry.conditions.args import ArgumentCondition, SourceCondition
from permitry.conditions.match import Match
from permitry.core.spec import ArgumentRole, ToolSpec, names_of
from permitry_ops.diff.ways import Literal, Patterns

__all__ = ["doubts", "doubts_of_names", "shells_apart"]

_PLAIN = re.compile("[a-z0-9_*?]+")
_OPEN = frozenset({"@agent", "@network", "@reads", "@writes"})
_COMMANDS = frozenset({ArgumentRole.COMMAND, ArgumentRole.COMMAND_OR_ARGV})
_HARMLESS = frozenset({ArgumentRole.TEXT, ArgumentRole.FOLDER})
_TRIED = frozenset(
    {
        ArgumentRole.COMMAND, ArgumentRole.COMMAND_OR_ARGV, ArgumentRole.READ_PATH, ArgumentRole.WRITE_PATH,
        ArgumentRole.DELETE_PATH, ArgumentRole.URL,
    }
)  # fmt: skip


def doubts(literals: Sequence[Literal], tool: str, spec: ToolSpec | None, *, is_restriction: bool) -> Iterator[str]:
    """Yield what is not covered of the calls of a tool; `is_restriction`: a restriction is to match."""
    patterns = [each for each in literals if isinstance(each.part, Patterns)]
    if not patterns:
        return
    for each in patterns:
        yield from _of_patterns(each, patterns, is_restriction=is_restriction)
    yield from _of_tool(patterns, tool, spec)
    names = {name for key in (spec.roles if spec and spec.roles else ()) for name in names_of(key)}
    for each in literals:
        if isinstance(each.part, ArgumentCondition | SourceCondition) and each.part.path[0] in names:
            yield f"`{each.name}`, next to what the argument does"


def doubts_of_names(literals: Sequence[Literal]) -> Iterator[str]:
    """Yield the tools that are not all tried: by traits, or as a restriction reads their names in other letters."""
    for each in literals:
        part = each.part if isinstance(each.part, tuple) and each.is_wanted and each.needed is not Match.YES else ()
        if not all(selector.pattern is None or _PLAIN.fullmatch(selector.text) for selector in part):
            yield "`tools` in other letters"
        every = each.part if isinstance(each.part, tuple) else ()
        if any(selector.text in _OPEN for selector in every) or any(selector.pattern is None for selector in part):
            yield "`tools` by what they do"


def _of_patterns(literal: Literal, every: Sequence[Literal], *, is_restriction: bool) -> Iterator[str]:
    part = literal.part
    kind = part.kind if isinstance(part, Patterns) else ""
    if is_restriction or (literal.is_wanted and literal.needed is not Match.YES):
        yield f"`{kind}` in other spellings"
    if isinstance(part, Patterns) and part.looks:
        yield "`looks`"
    exact = {
        each.part.kind
        for each in every
        if isinstance(each.part, Patterns) and each.is_wanted and each.needed is Match.YES
    }
    if not literal.is_wanted and literal.needed is Match.YES and kind not in exact:
        yield f"calls of which `{kind}` is not known"


def _of_tool(patterns: Sequence[Literal], tool: str, spec: ToolSpec | None) -> Iterator[str]:
    wanted = {each.part.kind for each in patterns if isinstance(each.part, Patterns) and each.is_wanted}
    if spec is None or spec.roles is None:
        yield f"what the arguments of `{tool}` are"
        return
    if spec.is_shell and wanted and "command" not in wanted:
        yield f"what else a command does with {' and '.join(f'`{each}`' for each in sorted(wanted))}"
    meant = [(key, role) for key, role in spec.roles.items() if role not in _HARMLESS]
    if len(meant) != 1 or not _is_simple(*meant[0]):
        yield f"all that the arguments of `{tool}` may name"


def _is_simple(key: str, role: ArgumentRole) -> bool:
    """Return whether one of the names of an argument has the value itself: a list of them is several things."""
    return role in _TRIED and any(not set(name) & set("[].?") for name in key.split("|"))


def shells_apart(tools: Mapping[str, ToolSpec | None]) -> list[str]:
    """Return tools without the shells that are given commands in other ways, where one takes them as text."""
    texts = [tool for tool, spec in tools.items() if spec and _takes_text(spec)]
    return [tool for tool, spec in tools.items() if not (texts and spec and spec.is_shell) or tool in texts]


def _takes_text(spec: ToolSpec) -> bool:
    return any(role in _COMMANDS for role in (spec.roles or {}).values())
