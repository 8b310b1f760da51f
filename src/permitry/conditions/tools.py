"""Which tools a rule is about, and the exception `tools`."""

import re
from collections.abc import Iterator
from typing import Annotated

import attrs

from permitry.conditions._words import check_sign, nearest
from permitry.conditions.match import Match, best_of
from permitry.conditions.written import Place, PlainCondition, Problem, Words
from permitry.core.facts import Fact, Kind
from permitry.core.names import NamePattern
from permitry.core.rule import Request
from permitry.core.spec import TRAIT_SELECTORS
from permitry.errors import RuleError

__all__ = ["ToolSelector", "ToolsCondition", "is_shell", "name_problem", "own_name", "selector_problem"]

# Looked up once: that takes longer than to compare them.
_NO, _ALIKE, _YES = Match.NO, Match.ALIKE, Match.YES
_LONGEST = 256
_TRAITS = frozenset(TRAIT_SELECTORS)
_CALL = re.compile(r"(\w+)\((.*)\)")
_CALL_CONDITIONS = {
    **dict.fromkeys(("bash", "shell", "run_shell_command", "exec_command"), ("@shell", "command")),
    **dict.fromkeys(("read", "edit", "write", "multiedit", "glob", "grep"), ("", "path")),
    **dict.fromkeys(("webfetch", "web_fetch", "fetch"), ("", "host")),
}


def _check_selector(_: object, __: object, value: str) -> None:
    check_sign(value, ToolsCondition.key)
    if value.startswith("@") and value not in TRAIT_SELECTORS:
        raise RuleError(f"unknown trait selector `{value}`; known: {', '.join(TRAIT_SELECTORS)}")


def selector_problem(word: str) -> Problem | None:
    """Return what is wrong with one word of `tools`."""
    if word.startswith("@") and word not in TRAIT_SELECTORS:
        return f"unknown trait selector `{word}`", nearest(word, TRAIT_SELECTORS)
    return name_problem(word)


def name_problem(name: str) -> Problem | None:
    """Return what is wrong with the name of a tool, or a pattern of names."""
    if not name.strip():
        return "a tool name is empty", 'name a tool, or write "*" for every tool'
    if name != name.strip() or not name.isprintable():
        return f"the tool name `{name}` holds blanks at an end or invisible characters", "remove them"
    if set(name) & set("[]{}"):
        return f"the pattern `{name}` uses brackets or braces", "patterns know only `*` and `?`; list the names"
    if set(name) & set("()^$|\\ ") or name.startswith(("re:", "!")):
        return _sign_problem(name)
    if len(name) > _LONGEST:
        return f"a tool name is longer than {_LONGEST} characters", "no tool has such a name"
    return _server_problem(name) if name.startswith(("mcp:", "mcp__")) else None


def own_name(name: str) -> str | None:
    """Return `mcp:server/tool` for `mcp__server__tool`, as others write it; otherwise None."""
    server, _, tool = name.removeprefix("mcp__").partition("__")
    return f"mcp:{server}/{tool or '*'}" if name.startswith("mcp__") else None


def _sign_problem(name: str) -> Problem:
    if name.startswith("!"):
        rest = name.lstrip("! ") or "..."
        return f"the pattern `{name}` begins with `!`, which excepts nothing", f'write `unless.tools = "{rest}"`'
    call = _CALL.fullmatch(name)
    if call is not None:
        return f"`{name}` is another program's way to name calls", _call_hint(call[1], call[2])
    hint = "permitry judges by the name of the tool; `*` and `?` stand for characters of it"
    return f"`{name}` is not the name of a tool", hint


def _call_hint(tool: str, given: str) -> str:
    """Return how the calls that another program names `Bash(npm test:*)` are written here."""
    selector, key = _CALL_CONDITIONS.get(tool.lower(), ("", ""))
    if not key:
        return f'write `tools = ["{tool}"]`, and what follows as a condition, such as `when.args.NAME`'
    pattern = given.removesuffix(":*") + " *" if key == "command" and given.endswith(":*") else given
    condition = f'`when.{key} = "{pattern.removeprefix("domain:")}"`'
    return f'write {condition} with `tools = ["{selector}"]`' if selector else f"write {condition}"


def _server_problem(name: str) -> Problem | None:
    if (own := own_name(name)) is not None:
        return f"`{name}` is another program's way to name a tool", f"write `{own}`"
    server, _, tool = name.removeprefix("mcp:").partition("/")
    if server and tool:
        return None
    lacking = "a tool but no server" if tool else "a server but no tool" if server else "neither server nor tool"
    return f"`{name}` names {lacking}", "write `mcp:server/tool`, or `mcp:server/*` for all"


@attrs.frozen
class ToolSelector:
    """One word of a rule's `tools`: a name, a glob, `mcp:server/tool`, or a trait selector.

    `@reads` selects calls known to change nothing, `@writes` all others; `@shell` tools that take a
    command; `@network` tools that reach the world outside; `@agent` tools that start agents. If that
    is not known, the last two select for a restriction alone. For a permission, names must be equal;
    for a restriction, every name that the name in the call may mean counts.
    """

    text: str = attrs.field(validator=_check_selector)
    _pattern: NamePattern = attrs.field(init=False, repr=False, eq=False)

    @_pattern.default
    def _compile(self) -> NamePattern:
        return NamePattern(self.text)

    @property
    def pattern(self) -> NamePattern | None:
        """The pattern of names; None for a trait selector."""
        return None if self.text in _TRAITS else self._pattern

    def needs(self, *, is_permission: bool) -> Iterator[Fact]:
        """Yield facts of which a call has one, unless this selects it by no reading."""
        pattern = self.pattern
        if pattern is None:
            yield Fact(Kind.TRAIT, (), self.text)
        elif is_permission:
            yield Fact(Kind.TOOL, False, self.text)
        else:
            yield from (Fact(Kind.TOOL, True, form) for form in pattern.forms)

    def match(self, request: Request, needed: Match = _YES, /) -> Match:
        """Return how far it selects the call; what a name may mean only if `ALIKE` is `needed`."""
        if self.text in _TRAITS:
            return Match.of(self._is_true(request))
        call = request.call
        if call.tool == self.text or self._pattern.matches(call.tool):
            return _YES
        return _ALIKE if needed is not _YES and self._pattern.may_mean(call.readings) else _NO

    def _is_true(self, request: Request) -> bool | None:
        """Return whether a trait selector selects the call, None if that is not known."""
        match self.text:
            case "@reads":
                # INVARIANT: law 4. A restriction on `@reads` also applies to a command that cannot be read.
                is_unread = is_shell(request) and request.actions.unknown is not None
                return None if is_unread else request.is_read_only
            case "@writes":
                return not request.is_read_only
            case "@shell":
                return is_shell(request)
            case "@network":
                return _reaches_out(request)
            case _:  # `@agent`, the last of `_TRAITS`
                return None if request.tool is None else request.tool.traits.spawns_agent


@attrs.frozen
class ToolsCondition(PlainCondition):
    """Holds when a selector selects the call; only in `unless`, next to the rule's `tools`."""

    key = "tools"
    table = Annotated[Words, selector_problem]
    description = "In `unless`: tools that the rule is not about."
    is_pure = True

    selectors: tuple[ToolSelector, ...]

    @classmethod
    def read(cls, _place: Place, part: Words, /) -> "ToolsCondition":
        """Return the condition of a list of selectors."""
        return cls(tuple(map(ToolSelector, part)))

    def match(self, request: Request, needed: Match = _YES, /) -> Match:
        """Return how far one of the selectors selects the call."""
        return best_of((each.match(request, needed) for each in self.selectors), needed)

    def fact(self, request: Request) -> str:
        """Return what is true instead, as shown in near misses."""
        return f"tool = {request.call.tool}"


def is_shell(request: Request) -> bool:
    """Return whether the tool is known to take commands."""
    return request.tool is not None and request.tool.is_shell


def _reaches_out(request: Request) -> bool | None:
    tool = request.tool
    if tool is None:
        return None
    # A command that only reads opens no connection, whatever its tool could do.
    return False if tool.is_shell and request.is_read_only else tool.traits.open_world
