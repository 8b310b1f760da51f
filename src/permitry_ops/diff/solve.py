"""Calls that fulfil the literals of a way: for each of its dimensions what fits, and the combinations of these."""

import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence

import attrs

from permitry.conditions.agent import AgentCondition
from permitry.conditions.args import ArgumentCondition, SourceCondition
from permitry.conditions.attended import AttendedCondition
from permitry.conditions.label import LabelCondition
from permitry.conditions.mode import ModeCondition
from permitry.conditions.repaired import RepairedCondition
from permitry.conditions.server import ServerCondition
from permitry.conditions.template import TemplateCondition
from permitry.conditions.text import TextCondition
from permitry.conditions.tools import ToolsCondition, ToolSelector
from permitry.conditions.traits import TraitsCondition
from permitry.core.well_known import WELL_KNOWN
from permitry.errors import CallError
from permitry_ops.diff import regions, values
from permitry_ops.diff.actions import BY_ACCESS, Actions, Unsolved
from permitry_ops.diff.contexts import PATCHES, Patch, argument_at, merge, where_seen
from permitry_ops.diff.deadline import check_time
from permitry_ops.diff.doubts import doubts, doubts_of_names, shells_apart
from permitry_ops.diff.language import TooLargeError, shortest
from permitry_ops.diff.regex import UnreadError
from permitry_ops.diff.side import Line, Side
from permitry_ops.diff.ways import Literal, Patterns, Way

__all__ = ["Solution", "Solver"]

_MOST_TOOLS, _MOST_CONTEXTS, _MOST_VALUES, _MOST_LINES = 5, 4, 6, 24
_SHELL = "run_shell"
_UNSURE = frozenset({"@agent", "@network", "@reads"})
"""The traits that may not be known of a tool."""
_SOLVED = frozenset(
    {AgentCondition, AttendedCondition, LabelCondition, ModeCondition, RepairedCondition, TemplateCondition}
)
"""The conditions on the context of which every kind of value is tried."""
_OF_TOOLS = (ServerCondition, TraitsCondition)
"""The conditions that the tool alone decides; there may be others than those that are tried."""
_ELSEWHERE = (tuple, ArgumentCondition, ToolsCondition, SourceCondition, *_OF_TOOLS)
"""The parts that are about tools or arguments, and not about the context."""


@attrs.frozen
class Solution:
    """Calls that fulfil a way; `unsolved`: the conditions for which there may be others that fare otherwise."""

    lines: tuple[Line, ...]
    unsolved: tuple[str, ...] = ()


@attrs.frozen
class Solver:
    """Finds calls by what both sides know of tools and templates."""

    old: Side
    new: Side

    @functools.cached_property
    def _actions(self) -> Actions:
        return Actions(self.old, self.new)

    @functools.cached_property
    def _own_tools(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.new.policy.declared, *self.old.policy.declared)))

    @functools.cached_property
    def _templates(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.new.rules.templates, *self.old.rules.templates)))

    def solve(self, way: Way, *, is_restriction: bool = False) -> Solution:
        """Return calls that fulfil all literals, as far as they are solved.

        `is_restriction`: it is looked for what a restriction no longer restricts.
        """
        unsolved = Unsolved()
        for each in way:
            if isinstance(each.part, _OF_TOOLS):
                unsolved.add(f"`{each.name}`")
        tools = {tool: self.new.tool(tool) or self.old.tool(tool) for tool in self._tools(way, unsolved)}
        for doubt in doubts_of_names(way):
            unsolved.add(doubt)
        for tool in shells_apart(tools):
            for doubt in doubts(way, tool, tools[tool], is_restriction=is_restriction):
                unsolved.add(doubt)
        lines: list[Line] = []
        try:
            lines.extend(itertools.islice(self._lines(way, list(tools), unsolved), _MOST_LINES))
        except (TooLargeError, UnreadError):
            unsolved.add("patterns that are too large")
        return Solution(tuple(lines), tuple(unsolved.names))

    def _lines(self, way: Way, tools: Sequence[str], unsolved: Unsolved) -> Iterator[Line]:
        patterns = [each for each in way if isinstance(each.part, Patterns)]
        others = [each for each in way if not isinstance(each.part, Patterns)]
        contexts = self._contexts(others, unsolved)
        arguments = self._arguments(others, unsolved)
        for tool in tools[:_MOST_TOOLS]:
            for action in self._actions.patches(tool, patterns, unsolved):
                for parts in itertools.product(contexts, *arguments):
                    line = merge(_call_of(tool), (action, *parts))
                    if self._fits(others, line):
                        yield line

    def _fits(self, literals: Iterable[Literal], line: Line) -> bool:
        check_time()
        try:
            request = self.new.request(line)
        except CallError:
            return False
        return all(self.new.truth(each, request) in each.truths for each in literals)

    # Tools ----------------------------------------------------------------------------------------

    def _tools(self, way: Way, unsolved: Unsolved) -> Iterator[str]:
        """Yield names of tools that the selectors of a way select, natural ones first."""
        literals = [each for each in way if _selectors(each) or isinstance(each.part, _OF_TOOLS)]
        is_named = any(each.is_wanted for each in literals)
        likely = self._select(literals, (*self._likely(way), *self._own_tools))
        if likely and not is_named:
            # Another tool of which something is known is decided as one of these.
            yield from likely
            return
        pool = self._names_in(literals) if is_named else iter(["tool"])
        pool = itertools.chain(pool, likely, self._own_tools, ["tool"], WELL_KNOWN if _has_traits(literals) else ())
        fitting = self._select(literals, pool) or self._select(literals, self._make_names(literals, unsolved))
        if not is_named and any(isinstance(each.part, Patterns) for each in way):
            # Those that do such things are all among the ones that must not be called.
            unsolved.add("`tools`")
        if not fitting and any(each.text in _UNSURE for some in literals for each in _selectors(some)):
            unsolved.add("`tools`")
        yield from fitting

    def _select(self, literals: Sequence[Literal], names: Iterable[str]) -> list[str]:
        """Return those of some names of tools that selectors select, or do not select, as is needed."""
        return [name for name in dict.fromkeys(names) if self._fits(literals, _call_of(name))]

    def _names_in(self, literals: Sequence[Literal]) -> Iterator[str]:
        """Yield a name for each selector that gives one, or a pattern of names."""
        for each in literals:
            texts = _patterns_of_names(each) if each.is_wanted else ()
            yield from (text.replace("*", star).replace("?", "x") for text in texts for star in ("", "x"))

    def _likely(self, way: Way) -> Iterator[str]:
        """Yield the tools whose calls do what patterns of the way are about."""
        for each in way:
            if isinstance(each.part, Patterns) and each.is_wanted:
                match each.part.kind:
                    case "path":
                        accesses = each.part.accesses or frozenset(BY_ACCESS)
                        yield from (tool for access, (tool, _) in BY_ACCESS.items() if access in accesses)
                    case "host":
                        yield "web_fetch"
                yield _SHELL

    def _make_names(self, literals: Sequence[Literal], unsolved: Unsolved) -> Iterator[str]:
        """Yield a name that the selectors select; none where there is none, or where these are traits."""
        try:
            languages = [
                (each.is_wanted, regions.tools_language(some)) for each in literals if (some := _selectors(each))
            ]
            wanted = [language for is_wanted, language in languages if is_wanted]
            refused = [language for is_wanted, language in languages if not is_wanted]
            found = shortest([regions.TOOLS, *wanted], refused) or shortest([regions.NAMES, *wanted], refused)
        except UnreadError:
            return
        except TooLargeError:
            unsolved.add("`tools`")
            return
        yield from filter(None, [found])

    # Contexts -------------------------------------------------------------------------------------

    def _contexts(self, literals: Sequence[Literal], unsolved: Unsolved) -> list[Patch]:
        """Return parts of lines that make the conditions on the context true or false as is needed."""
        by_kind: dict[type, list[Literal]] = {}
        for each in literals:
            if not isinstance(each.part, _ELSEWHERE):
                by_kind.setdefault(type(each.part), []).append(each)
        found: list[list[Patch]] = []
        for kind, some in by_kind.items():
            patches = list(self._patches(kind, some, unsolved))
            probe = {"name": "tool", "arguments": {}}
            fitting = [patch for patch in patches if self._fits(some, merge(probe, [patch]))]
            # A session in two modes at once only where one mode is not enough.
            fitting = [patch for patch in fitting if len(patch.get("context", ())) <= 1] or fitting
            found.append(fitting if kind is not TextCondition else patches)
        products = itertools.islice(itertools.product(*found), _MOST_CONTEXTS)
        return [merge({}, each) for each in products]

    def _patches(self, kind: type, literals: Sequence[Literal], unsolved: Unsolved) -> Iterator[Patch]:
        if kind is TemplateCondition:
            yield from ({}, *({"context": {"template": name}} for name in self._templates))
        elif kind in PATCHES:
            yield from PATCHES[kind]([each.part for each in literals], [each.is_wanted for each in literals])
        else:
            yield {}
        if kind not in _SOLVED:
            unsolved.add(f"`{literals[0].name}`")

    # Arguments ------------------------------------------------------------------------------------

    def _arguments(self, literals: Sequence[Literal], unsolved: Unsolved) -> list[list[Patch]]:
        """Return for each argument that conditions are about, the parts of lines with values of it."""
        by_path: dict[tuple[str, ...], list[Literal]] = {}
        for each in literals:
            if isinstance(each.part, ArgumentCondition | SourceCondition):
                by_path.setdefault(each.part.path, []).append(each)
        if any(path[: len(other)] == other for path in by_path for other in by_path if path != other):
            unsolved.add("`args`")
        return [self._values(path, some, unsolved) for path, some in by_path.items()]

    def _values(self, path: tuple[str, ...], literals: Sequence[Literal], unsolved: Unsolved) -> list[Patch]:
        tests = [each.part.test for each in literals if isinstance(each.part, ArgumentCondition)]
        sources = [each.part for each in literals if isinstance(each.part, SourceCondition)]
        found, is_all = values.candidates(tests)
        if not is_all or sources:
            unsolved.add(f"`args.{'.'.join(path)}`")
        patches: Iterable[Patch] = [argument_at(path, value) for value in found]
        if sources:
            patches = [merge(patch, [seen]) for patch in patches for seen in where_seen(path, patch, sources)]
        probe = {"name": "tool", "arguments": {}}
        fitting = (patch for patch in patches if self._fits(literals, merge(probe, [patch])))
        return list(itertools.islice(fitting, _MOST_VALUES))


def _call_of(tool: str) -> Line:
    """Return the call of a tool without arguments; a name such as `mcp:server/tool` names the server as well."""
    server, slash, name = tool.removeprefix("mcp:").partition("/")
    if tool.startswith("mcp:") and slash and name:
        return {"name": name, "server": server, "arguments": {}}
    return {"name": tool, "arguments": {}}


def _selectors(literal: Literal) -> tuple[ToolSelector, ...]:
    part = literal.part
    return part if isinstance(part, tuple) else part.selectors if isinstance(part, ToolsCondition) else ()


def _patterns_of_names(literal: Literal) -> Iterator[str]:
    """Yield the patterns of names of tools, or those of all tools of a server."""
    if isinstance(literal.part, ServerCondition):
        yield from (f"mcp:{pattern.text}/tool" for pattern in literal.part.servers)
    yield from (selector.text for selector in _selectors(literal) if selector.pattern is not None)


def _has_traits(literals: Iterable[Literal]) -> bool:
    """Return whether some look at what a tool is declared to be, or at its server."""
    return any(
        isinstance(each.part, _OF_TOOLS) or any(selector.pattern is None for selector in _selectors(each))
        for each in literals
    )
