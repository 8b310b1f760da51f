"""Calls that fulfil the literals of a way: for each of its dimensions what fits, and the combinations of these."""

import functools
import itertools
import os.path
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from permitry.conditions.agent import AgentCondition
from permitry.conditions.args import ArgumentCondition, SourceCondition
from permitry.conditions.attended import AttendedCondition
from permitry.conditions.label import LabelCondition
from permitry.conditions.match import Match
from permitry.conditions.mode import ModeCondition
from permitry.conditions.repaired import RepairedCondition
from permitry.conditions.template import TemplateCondition
from permitry.conditions.text import TextCondition
from permitry.conditions.tools import ToolsCondition, ToolSelector
from permitry.core.action import Access
from permitry.core.spec import ArgumentRole
from permitry.core.well_known import WELL_KNOWN
from permitry.errors import CallError
from permitry_ops.diff import regions, values
from permitry_ops.diff.contexts import PATCHES, Patch, argument_at, merge, where_seen
from permitry_ops.diff.language import (
    ANYTHING,
    Chars,
    Language,
    Repeat,
    TooLargeError,
    shortest,
    texts,
)
from permitry_ops.diff.regex import UnreadError
from permitry_ops.diff.side import Line, Side
from permitry_ops.diff.ways import Literal, Patterns, Way

__all__ = ["Solution", "Solver"]

_MOST_TOOLS, _MOST_CONTEXTS, _MOST_VALUES, _MOST_TEXTS, _MOST_LINES = 5, 4, 6, 3, 24
_SHELL = "run_shell"
_BY_ACCESS = {
    Access.READ: ("read_file", "cat"),
    Access.LIST: ("list_dir", "ls"),
    Access.WRITE: ("write_file", "touch"),
    Access.DELETE: ("delete_file", "rm"),
}
_OF_CURL = {Access.READ: "-T", Access.WRITE: "-o"}
_ROLES: Mapping[str, Mapping[ArgumentRole, Access | None]] = {
    "command": {ArgumentRole.COMMAND: None, ArgumentRole.COMMAND_OR_ARGV: None},
    "path": {
        ArgumentRole.READ_PATH: Access.READ,
        ArgumentRole.READ_TREE: Access.READ,
        ArgumentRole.LIST_TREE: Access.LIST,
        ArgumentRole.WRITE_PATH: Access.WRITE,
        ArgumentRole.DELETE_PATH: Access.DELETE,
    },
    "host": {ArgumentRole.URL: None},
}
_ENDINGS = (("--help",), ("status",), ("--dry-run",), ("-c", "zz x"))
_UNSURE = frozenset({"@agent", "@network", "@reads"})
"""The traits that may not be known of a tool."""
_LIKELY = {"command": "command", "path": "path", "host": "url"}
_KINDS = ("command", "path", "host")
_SOLVED = frozenset(
    {AgentCondition, AttendedCondition, LabelCondition, ModeCondition, RepairedCondition, TemplateCondition}
)
"""The conditions on the context of which every kind of value is tried."""


@attrs.frozen
class Solution:
    """Calls that fulfil a way; `unsolved`: the conditions for which there may be others that fare otherwise."""

    lines: tuple[Line, ...]
    unsolved: tuple[str, ...] = ()


@attrs.define
class _Search:
    """What is collected while one way is solved."""

    unsolved: dict[str, None] = attrs.field(factory=dict)

    def leave(self, name: str) -> None:
        self.unsolved[name] = None


@attrs.frozen
class Solver:
    """Finds calls by what both sides know of tools and templates."""

    old: Side
    new: Side

    @functools.cached_property
    def _declared(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.new.policy.declared, *self.old.policy.declared)))

    @functools.cached_property
    def _templates(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.new.rules.templates, *self.old.rules.templates)))

    def solve(self, way: Way) -> Solution:
        """Return calls that fulfil all literals, as far as they are solved; without any none is known."""
        search = _Search()
        lines = list(itertools.islice(self._lines(way, search), _MOST_LINES))
        return Solution(tuple(lines), tuple(search.unsolved))

    def _lines(self, way: Way, search: _Search) -> Iterator[Line]:
        patterns = [each for each in way if isinstance(each.part, Patterns)]
        others = [each for each in way if not isinstance(each.part, Patterns)]
        contexts = self._contexts(others, search)
        arguments = self._arguments(others, search)
        for tool in itertools.islice(self._tools(way, search), _MOST_TOOLS):
            for action in self._actions(tool, patterns, search):
                for parts in itertools.product(contexts, *arguments):
                    line = merge({"name": tool, "arguments": {}}, (action, *parts))
                    if self._fits(others, line):
                        yield line

    def _fits(self, literals: Iterable[Literal], line: Line) -> bool:
        try:
            request = self.new.request(line)
        except CallError:
            return False
        return all(self.new.truth(each, request) in each.truths for each in literals)

    # Tools ----------------------------------------------------------------------------------------

    def _tools(self, way: Way, search: _Search) -> Iterator[str]:
        """Yield names of tools that the selectors of a way select, natural ones first."""
        literals = [each for each in way if _selectors(each)]
        likely = self._select(literals, (*self._likely(way), *self._declared))
        if likely and not any(each.is_wanted for each in literals):
            # Another tool of which something is known is decided as one of these.
            yield from likely
            return
        named = () if any(each.is_wanted for each in literals) else ("tool",)
        pool = (*self._names_in(literals), *likely, *named, *self._declared, "tool")
        if any(each.pattern is None for some in literals for each in _selectors(some)):
            pool = (*pool, *WELL_KNOWN)
        fitting = self._select(literals, pool) or self._select(literals, self._make_names(literals, search))
        if not fitting and any(each.text in _UNSURE for some in literals for each in _selectors(some)):
            search.leave("`tools`")
        yield from fitting

    def _select(self, literals: Sequence[Literal], names: Iterable[str]) -> list[str]:
        """Return those of some names of tools that selectors select, or do not select, as is needed."""
        return [name for name in dict.fromkeys(names) if self._fits(literals, {"name": name, "arguments": {}})]

    def _names_in(self, literals: Sequence[Literal]) -> Iterator[str]:
        """Yield a name for each selector that gives one, or a pattern of names."""
        for each in literals:
            for selector in _selectors(each) if each.is_wanted else ():
                if selector.pattern is not None:
                    yield selector.text.replace("*", "").replace("?", "x")
                    yield selector.text.replace("*", "x").replace("?", "x")

    def _likely(self, way: Way) -> Iterator[str]:
        """Yield the tools whose calls do what patterns of the way are about."""
        for each in way:
            if isinstance(each.part, Patterns) and each.is_wanted:
                match each.part.kind:
                    case "path":
                        accesses = each.part.accesses or frozenset(_BY_ACCESS)
                        yield from (tool for access, (tool, _) in _BY_ACCESS.items() if access in accesses)
                    case "host":
                        yield "web_fetch"
                yield _SHELL

    def _make_names(self, literals: Sequence[Literal], search: _Search) -> Iterator[str]:
        """Yield a name that the selectors select; none where there is none, or where these are traits."""
        try:
            wanted = [regions.tools_language(_selectors(each)) for each in literals if each.is_wanted]
            refused = [regions.tools_language(_selectors(each)) for each in literals if not each.is_wanted]
            found = shortest([regions.TOOLS, *wanted], refused) or shortest([regions.NAMES, *wanted], refused)
        except UnreadError:
            return
        except TooLargeError:
            search.leave("`tools`")
            return
        yield from filter(None, [found])

    # Contexts -------------------------------------------------------------------------------------

    def _contexts(self, literals: Sequence[Literal], search: _Search) -> list[Patch]:
        """Return parts of lines that make the conditions on the context true or false as is needed."""
        by_kind: dict[type, list[Literal]] = {}
        for each in literals:
            if not isinstance(each.part, tuple | ArgumentCondition | ToolsCondition | SourceCondition):
                by_kind.setdefault(type(each.part), []).append(each)
        found: list[list[Patch]] = []
        for kind, some in by_kind.items():
            patches = list(self._patches(kind, some, search))
            probe = {"name": "tool", "arguments": {}}
            fitting = [patch for patch in patches if self._fits(some, merge(probe, [patch]))]
            found.append(fitting if kind is not TextCondition else patches)
        products = itertools.islice(itertools.product(*found), _MOST_CONTEXTS)
        return [merge({}, each) for each in products]

    def _patches(self, kind: type, literals: Sequence[Literal], search: _Search) -> Iterator[Patch]:
        if kind is TemplateCondition:
            yield from ({}, *({"context": {"template": name}} for name in self._templates))
        elif kind in PATCHES:
            yield from PATCHES[kind]([each.part for each in literals], [each.is_wanted for each in literals])
        else:
            yield {}
        if kind not in _SOLVED:
            search.leave(f"`{literals[0].name}`")

    # Arguments ------------------------------------------------------------------------------------

    def _arguments(self, literals: Sequence[Literal], search: _Search) -> list[list[Patch]]:
        """Return for each argument that conditions are about, the parts of lines with values of it."""
        by_path: dict[tuple[str, ...], list[Literal]] = {}
        for each in literals:
            if isinstance(each.part, ArgumentCondition | SourceCondition):
                by_path.setdefault(each.part.path, []).append(each)
        if any(path[: len(other)] == other for path in by_path for other in by_path if path != other):
            search.leave("`args`")
        return [self._values(path, some, search) for path, some in by_path.items()]

    def _values(self, path: tuple[str, ...], literals: Sequence[Literal], search: _Search) -> list[Patch]:
        tests = [each.part.test for each in literals if isinstance(each.part, ArgumentCondition)]
        sources = [each.part for each in literals if isinstance(each.part, SourceCondition)]
        found, is_all = values.candidates(tests)
        if not is_all or sources:
            search.leave(f"`args.{'.'.join(path)}`")
        patches: Iterable[Patch] = [argument_at(path, value) for value in found]
        if sources:
            patches = [merge(patch, [seen]) for patch in patches for seen in where_seen(path, patch, sources)]
        probe = {"name": "tool", "arguments": {}}
        fitting = (patch for patch in patches if self._fits(literals, merge(probe, [patch])))
        return list(itertools.islice(fitting, _MOST_VALUES))

    # Actions --------------------------------------------------------------------------------------

    def _actions(self, tool: str, literals: Sequence[Literal], search: _Search) -> Iterator[Patch]:
        """Yield the arguments with which a tool does what patterns are about, or nothing of it."""
        wanted = {each.part.kind for each in literals if each.is_wanted and isinstance(each.part, Patterns)}
        if any(isinstance(each.part, Patterns) and each.part.looks for each in literals):
            search.leave("`looks`")
        placed = self._arguments_of(tool, wanted, search)
        try:
            if "command" in placed:
                for words in self._commands(literals, wanted):
                    yield {"arguments": {placed["command"][0][0]: shlex.join(words)}}
            elif wanted <= set(placed):
                arguments = [(name, kind, access) for kind, names in placed.items() for name, access in names]
                choices = [self._texts(kind, literals, access) for _, kind, access in arguments]
                for some in itertools.product(*choices):
                    yield {"arguments": {name: text for (name, _, _), text in zip(arguments, some, strict=True)}}
        except (UnreadError, TooLargeError) as error:
            search.leave(str(error) or f"`{next(iter(wanted), 'command')}`")

    def _arguments_of(
        self, tool: str, wanted: set[str], search: _Search
    ) -> Mapping[str, Sequence[tuple[str, Access | None]]]:
        """Return the arguments that hold what patterns are about, by kind, and what is done to a path."""
        spec = self.new.tool(tool) or self.old.tool(tool)
        if spec is not None and spec.roles is not None:
            every = ((kind, list(_arguments_for(kind, spec.roles))) for kind in _KINDS)
            return {kind: names for kind, names in every if names}
        if wanted:
            search.leave(f"what the arguments of `{tool}` are")
        return {kind: [(_LIKELY[kind], None)] for kind in wanted}

    def _commands(self, literals: Sequence[Literal], wanted: set[str]) -> Iterator[list[str]]:
        """Yield the words of commands that patterns are about; at their end is what else is wanted."""
        if "command" not in wanted and wanted:
            yield from self._commands_on(literals, wanted)
            return
        paths, hosts = (self._texts(kind, literals)[:1] if kind in wanted else [] for kind in ("path", "host"))
        if ("path" in wanted and not paths) or ("host" in wanted and not hosts):
            return
        kept, refused = self._languages("command", literals)
        ending = Language((ANYTHING, *((word, regions.END) for word in (*paths, *hosts))))
        for text in itertools.islice(texts([regions.COMMANDS, *kept, ending], refused), _MOST_TEXTS):
            yield text.split(regions.END)[:-1]
        # What follows may make it a command that only looks, or that runs another, which other rules permit.
        for last in _ENDINGS if kept else ():
            found = shortest(
                [regions.COMMANDS, *kept, Language((ANYTHING, *((word, regions.END) for word in last)))], refused
            )
            if found is not None:
                yield found.split(regions.END)[:-1]

    def _commands_on(self, literals: Sequence[Literal], wanted: set[str]) -> Iterator[list[str]]:
        """Yield commands that touch a path as patterns ask for, or connect to a host, or both."""
        hosts = self._texts("host", literals)[:1] if "host" in wanted else []
        if "path" not in wanted or ("host" in wanted and not hosts):
            yield from (["curl", host] for host in hosts)
            return
        for access, (_, program) in _BY_ACCESS.items():
            for path in self._texts("path", literals, access)[:1]:
                if not hosts:
                    yield [program, path]
                elif access in _OF_CURL:
                    yield ["curl", _OF_CURL[access], path, *hosts]

    def _texts(self, kind: str, literals: Sequence[Literal], access: Access | None = None) -> list[str]:
        """Return paths or addresses that patterns of a kind are about, or that none of them is about."""
        wanted = [each.part for each in literals if each.is_wanted and isinstance(each.part, Patterns)]
        if access is not None and any(not _is_met(access, each) for each in wanted if each.kind == kind):
            return []
        kept, refused = self._languages(kind, literals, access)
        for natural in regions.HOSTS if kind == "host" else (_below(self.new.workspace), regions.PATHS):
            found = list(itertools.islice(texts([natural, *kept], refused), _MOST_TEXTS))
            if found:
                return [_show(kind, text, self.new.workspace) for text in found]
        return []

    def _languages(
        self, kind: str, literals: Sequence[Literal], access: Access | None = None
    ) -> tuple[list[Language], list[Language]]:
        """Return the languages of the patterns of a kind that must match, and of those that must not.

        Patterns that are about less than their texts say may not match any of these.
        """
        kept: list[Language] = []
        refused: list[Language] = []
        for each in literals:
            part = each.part
            if not isinstance(part, Patterns) or part.kind != kind:
                continue
            language = regions.language_of(part.each, self._roots, is_permission=each.needed is Match.YES)
            if each.is_wanted:
                kept.append(language)
            elif not part.looks and (not part.accesses or access in part.accesses):
                refused.append(language)
        return kept, refused

    @functools.cached_property
    def _roots(self) -> Any:  # noqa: ANN401 -- the roots of paths
        return self.new.roots


def _selectors(literal: Literal) -> tuple[ToolSelector, ...]:
    part = literal.part
    return part if isinstance(part, tuple) else part.selectors if isinstance(part, ToolsCondition) else ()


def _arguments_for(kind: str, roles: Mapping[str, ArgumentRole]) -> Iterator[tuple[str, Access | None]]:
    """Yield the arguments of a tool that hold what patterns of a kind are about, and what is done to a path."""
    for key, role in roles.items():
        if role not in _ROLES[kind]:
            continue
        # A list, or a field of an object, is written otherwise.
        plain = (name for name in key.removesuffix("?").split("|") if not set(name) & set("[].?"))
        if (name := next(plain, None)) is not None:
            yield name, _ROLES[kind][role]


def _is_met(access: Access, patterns: Patterns) -> bool:
    """Return whether patterns may be about an access; who reads a file sees that it is there."""
    looks = {Access.READ, Access.LIST}
    accesses = patterns.accesses | looks if patterns.accesses & looks else patterns.accesses
    return not accesses or access in accesses


def _below(workspace: str) -> Language:
    return Language((workspace.rstrip("/"), Repeat(("/", Repeat(Chars(frozenset("/\0"), is_negated=True), 1)), 1)))


def _show(kind: str, text: str, workspace: str) -> str:
    """Return a path or an address as a caller would write it."""
    if kind == "path":
        inner = os.path.relpath(text, workspace)
        return text if inner.startswith("..") else inner
    return text.removesuffix(":443") if text.startswith("https://") else text.removesuffix(":80")
