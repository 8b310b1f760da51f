"""Whether the scope of one rule certainly contains the scope of another.

Patterns are compared by texts that match one, with its wildcards filled with characters that occur in no rule.
"""

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from permitry.conditions._argv import Token
from permitry.conditions.command import ArgvPattern
from permitry.conditions.host import HostPattern
from permitry.conditions.match import Match
from permitry.conditions.path import PathPattern
from permitry.conditions.scope import Condition, Conditions, Scope
from permitry.conditions.tools import ToolSelector
from permitry.conditions.written import PlainCondition
from permitry.core.action import Place, Roots, Word
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.pattern import Pattern
from permitry.core.rule import Request
from permitry.core.spec import ToolSpec

__all__ = [
    "ONE",
    "ROOTS",
    "command_samples",
    "contains",
    "covers_host",
    "covers_path",
    "covers_pattern",
    "holds_within",
    "matches",
    "may_match",
    "selects_all",
    "selects_any",
    "selects_tool",
]

Specs: TypeAlias = Mapping[str, ToolSpec]

ONE, _TWO = "\ue000", "\ue001"
ROOTS = Roots(("/\ue002",), ("/\ue003",))


def contains(outer: Scope, inner: Scope, specs: Specs) -> bool:
    """Return whether every call in the scope `inner` is certainly in the scope `outer`."""
    return (
        set(outer.unless) <= set(inner.unless)
        and selects_all(outer.selectors, inner.selectors, specs)
        and holds_within(outer.when, inner.when)
    )


def selects_all(outer: Iterable[ToolSelector], inner: tuple[ToolSelector, ...], specs: Specs) -> bool:
    """Return whether `outer` selects all that `inner` selects; if empty, either selects all."""
    wide = tuple(outer)
    return selects_any(wide) or (
        bool(inner) and all(any(_selects(selector, each, specs) for selector in wide) for each in inner)
    )


def selects_any(selectors: Iterable[ToolSelector]) -> bool:
    """Return whether every tool is selected."""
    texts = {selector.text for selector in selectors}
    return not texts or "*" in texts or {"@reads", "@writes"} <= texts


def _selects(outer: ToolSelector, inner: ToolSelector, specs: Specs) -> bool:
    if outer.text == inner.text:
        return True
    if inner.text.startswith("@"):
        return False
    if outer.text.startswith("@"):
        return selects_tool(outer, inner.text, specs)
    return covers_pattern(Pattern(outer.text), inner.text)


def selects_tool(selector: ToolSelector, name: str, specs: Specs) -> bool:
    """Return whether every call of the tool `name` is certainly selected; False if it depends on the command."""
    spec = specs.get(name)
    if spec is None or (spec.is_shell and selector.text not in ("@shell", name)):
        return False
    return selector.match(Request(ToolCall(name), AuthContext(), spec)) is Match.YES


def covers_pattern(outer: Pattern, inner: str) -> bool:
    """Return whether every name that fits the glob `inner` fits `outer`."""
    return all(outer.matches(inner.replace("?", ONE).replace("*", fill)) for fill in ("", _TWO * (len(outer.text) + 1)))


def holds_within(outer: Conditions, inner: Conditions) -> bool:
    """Return whether `outer` certainly holds whenever `inner` does."""
    if not all(any(_implies(mine, theirs) for mine in inner.plain) for theirs in outer.plain):
        return False
    if outer.looks and not inner.looks:
        return False
    if outer.accesses and not (inner.accesses and inner.accesses <= outer.accesses):
        return False
    kinds: tuple[tuple[tuple[Any, ...], tuple[Any, ...], Callable[[Any, Any], bool]], ...] = (
        (outer.commands, inner.commands, _covers_command),
        (outer.paths, inner.paths, covers_path),
        (outer.hosts, inner.hosts, covers_host),
    )
    # Conditions on commands, paths and hosts affect each other, so they are compared together.
    return not outer.are_about_actions or all(
        bool(wide) is bool(narrow) and all(any(covers(each, other) for each in wide) for other in narrow)
        for wide, narrow, covers in kinds
    )


def _implies(inner: Condition, outer: Condition) -> bool:
    return inner.implies(outer) if isinstance(inner, PlainCondition) else inner == outer


def matches(pattern: ArgvPattern, words: Sequence[Word]) -> bool:
    """Return whether a command matches as a permission needs it."""
    return pattern.match_words(words, least=Match.YES) is Match.YES


def may_match(pattern: ArgvPattern, words: Sequence[Word]) -> bool:
    """Return whether a command may match, as for a restriction."""
    return pattern.match_words(words, enough=Match.MAYBE) is not Match.NO


@functools.lru_cache(maxsize=16_384)
def _covers_command(outer: ArgvPattern, inner: ArgvPattern) -> bool:
    return outer == inner or all(matches(outer, words) for words in command_samples(inner))


@functools.lru_cache(maxsize=16_384)
def command_samples(pattern: ArgvPattern) -> tuple[tuple[Word, ...], ...]:
    """Return command lines that fit the pattern: with each alternative, and with no, one and more further words."""
    return tuple(_samples(pattern))


def _samples(pattern: ArgvPattern) -> Iterator[tuple[Word, ...]]:
    tokens = pattern.tokens
    for number in range(max(1, *(len(token.alternatives) for token in tokens))):
        for fill, more in (("", ()), (ONE + _TWO, (ONE,)), (ONE, (f"-{ONE}", _TWO))):
            texts = (text for token in tokens for text in _texts(token, number, fill, more))
            yield tuple(Word(text) for text in texts)


def _texts(token: Token, number: int, fill: str, more: tuple[str, ...]) -> tuple[str, ...]:
    if token.is_any:
        return more
    text = token.alternatives[number % len(token.alternatives)].text
    return (text.replace("?", ONE).replace("*", fill) or ONE,)


def covers_path(outer: PathPattern, inner: PathPattern) -> bool:
    if outer == inner:
        return True
    # Sets such as `[ab]` are not compared.
    return "[" not in inner.text and all(outer.match_place(place, ROOTS) is Match.YES for place in _places(inner.text))


def _places(text: str) -> Iterator[Place]:
    head, names = "", text.replace("?", ONE).split("/")
    if names[0] == "~":
        head, names = ROOTS.home[0], names[1:]
    elif names[0]:
        head = ROOTS.workspace[0]
    names = [name for name in names if name not in ("", ".")]
    for deep in ([ONE], [ONE, _TWO], []):
        parts = [deep or [ONE] * (at == len(names) - 1) if name == "**" else [name] for at, name in enumerate(names)]
        lexical = "/".join((head, *itertools.chain.from_iterable(parts))).replace("*", ONE + _TWO)
        yield Place(lexical, (lexical,), (lexical,))


def covers_host(outer: HostPattern, inner: HostPattern) -> bool:
    if (outer.scheme, outer.port) != (inner.scheme, inner.port):
        return False
    is_below = outer.host.startswith("*.") and inner.host.endswith(outer.host[1:])
    return outer.host in ("*", inner.host) or is_below
