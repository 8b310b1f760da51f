"""The keys of `_index`: the needs of a scope, and the facts of another scope or a command to find it by.

What may contain a scope is found by what both begin with; patterns that may match a command, by its program and a word.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence

from permitry.conditions._argv import MAX_ALTERNATIVES, Token
from permitry.conditions.command import ArgvPattern
from permitry.conditions.host import HostPattern
from permitry.conditions.scope import Condition, Scope
from permitry.conditions.tools import ToolSelector
from permitry.conditions.written import PlainCondition
from permitry.core.action import Word
from permitry.core.facts import program_name
from permitry.core.pattern import Pattern
from permitry.core.spec import TRAIT_SELECTORS
from permitry_ops.lint._index import Key, Need
from permitry_ops.lint._scopes import ONE, ROOTS, command_samples, selects_any

__all__ = [
    "TRAITS",
    "command_facts",
    "command_needs",
    "name_facts",
    "needs_within",
    "scope_facts",
    "tool_needs",
    "word_facts",
    "word_needs",
]

_ANY_TOOL: Key = ("tool-any",)


def needs_within(scope: Scope) -> Iterator[Need]:
    """Yield the needs of a scope that are met by the `scope_facts` of any scope within it."""
    when = scope.when
    if when.commands:
        yield from command_needs(scope)
    if when.paths:
        yield Need(tuple(("folder", *_literal_head(path.text)) for path in when.paths))
    if when.hosts:
        yield Need(tuple(("host", host.host) for host in when.hosts))
    yield from (Need((("plain", each),)) for each in when.plain if not _is_compared(each))
    yield from tool_needs(scope)


def _is_compared(condition: Condition) -> bool:
    """Return whether the condition may imply one that is not equal to it."""
    kind = type(condition)
    if not issubclass(kind, PlainCondition):
        return False
    has_words = bool(kind.any_of) and not kind.has_wildcards
    return has_words or kind.implies is not PlainCondition.implies


def command_needs(scope: Scope) -> Iterator[Need]:
    """Yield the needs that are met by the `command_facts` of any command that certainly matches."""
    yield Need(tuple(key for pattern in scope.when.commands for key in _heads(pattern)))
    yield from word_needs(scope)


def scope_facts(scope: Scope) -> Iterator[Key]:
    """Yield the facts of a scope; they meet the `needs_within` of any scope that contains it."""
    when = scope.when
    yield from (("plain", each) for each in when.plain)
    if when.commands:
        yield from command_facts(command_samples(when.commands[0])[:1])
    if when.paths:
        yield from _beginnings("folder", _literal_head(when.paths[0].text))
    if when.hosts:
        yield from _host_facts(when.hosts[0])
    yield from _selector_facts(scope.selectors)


def command_facts(samples: Iterable[Sequence[Word]]) -> Iterator[Key]:
    """Yield the facts of commands, which meet the `command_needs` of patterns that match one."""
    for words in samples:
        yield from _beginnings("command", [word.text for word in words])
        yield from word_facts(words)


def _heads(pattern: ArgvPattern) -> list[Key]:
    """Return the words with which every match begins, one key for each way through alternatives."""
    heads: list[Key] = [("command",)]
    for token in pattern.tokens:
        texts = _literals(token)
        if not texts or len(heads) * len(texts) > MAX_ALTERNATIVES:
            break
        heads = [(*head, text) for head in heads for text in texts]
    return heads


def _literals(token: Token) -> list[str]:
    """Return the alternatives of a word; empty if one of them has a wildcard."""
    is_plain = all(pattern.is_exact and pattern.text.isprintable() for pattern in token.alternatives)
    return [pattern.text for pattern in token.alternatives] if is_plain else []


def _literal_head(text: str) -> list[str]:
    """Return the names, from the root, with which every path that matches the pattern begins."""
    anchor, _, below = text.partition("/")
    base = {"": "", "~": ROOTS.home[0]}.get(anchor, ROOTS.workspace[0])
    names = f"{base}/{below if anchor in ('', '~') else text}".split("/")
    kept = (name for name in names if name not in ("", "."))
    return list(itertools.takewhile(lambda name: set(name).isdisjoint("*?["), kept))


def _host_facts(pattern: HostPattern) -> Iterator[Key]:
    yield from (("host", "*"), ("host", pattern.host))
    labels = pattern.host.split(".")
    yield from (("host", "*." + ".".join(labels[at:])) for at in range(1, len(labels)))


def _beginnings(kind: str, parts: Sequence[str]) -> Iterator[Key]:
    for end in range(len(parts) + 1):
        yield (kind, *parts[:end])


def tool_needs(scope: Scope, forms: Callable[[str], Iterable[str]] = lambda text: (text,)) -> Iterator[Need]:
    """Yield a need met by the `name_facts` of all selected tools; `forms` are of a selector."""
    patterns = (form for selector in scope.selectors for form in forms(selector.text))
    yield Need((_ANY_TOOL,) if selects_any(scope.selectors) else tuple(map(_name_key, patterns)))


def name_facts(name: str) -> Iterator[Key]:
    """Yield the facts of a name or glob, which meet the `tool_needs` of any glob that covers it."""
    sample = name.replace("?", ONE).replace("*", "")
    yield from (("tool", name), _ANY_TOOL)
    yield from (("tool-head", sample[:end]) for end in range(1, len(sample) + 1))
    yield from (("tool-tail", sample[start:]) for start in range(len(sample)))


def _name_key(text: str) -> Key:
    if Pattern(text).is_exact:
        return ("tool", text)
    pieces = text.replace("?", "*").split("*")
    if pieces[0]:
        return ("tool-head", pieces[0])
    return ("tool-tail", pieces[-1]) if pieces[-1] else _ANY_TOOL


def _selector_facts(selectors: Sequence[ToolSelector]) -> Iterator[Key]:
    yield _ANY_TOOL
    if selectors:
        text = selectors[0].text
        yield from [("tool", text)] if text.startswith("@") else (*name_facts(text), *TRAITS)


TRAITS: tuple[Key, ...] = tuple(("tool", text) for text in TRAIT_SELECTORS)
"""The keys of selectors for traits, which depend on more than a name."""


def word_needs(scope: Scope) -> Iterator[Need]:
    """Yield the needs of a scope that are met by the `word_facts` of any command that may match."""
    for at in (0, -1):
        keys = tuple(key for pattern in scope.when.commands for key in _word_keys(pattern, at))
        yield Need(keys, tuple(key[:end] for key in keys for end in (1, 2)))


def word_facts(words: Sequence[Word]) -> Iterator[Key]:
    """Yield the facts of a command; they meet the `word_needs` of any pattern that may match it."""
    if not words:
        return
    first, *rest = words
    if not _is_fixed(first):
        yield ("words",)
    for program in (program_name(first.text), ""):
        if all(map(_is_fixed, rest)):
            yield from (("words", program, text) for text in ("", *(word.text.casefold() for word in rest)))
        else:
            yield ("words", program)


def _is_fixed(word: Word) -> bool:
    return not (word.is_glob or word.is_home or word.is_open)


def _word_keys(pattern: ArgvPattern, at: int) -> Iterator[Key]:
    """Yield keys of the program with its first or last word; options have other spellings."""
    needed = [texts for token in pattern.operands if (texts := _literals(token))]
    words = needed[at] if needed else [""]
    for program in _literals(pattern.tokens[0]) or [""]:
        yield from (("words", program_name(program), word.casefold()) for word in words)
