"""What the name of a tool may mean: in other letters, and split in every way into a server and its tool.

Permissions compare names as they are written. Restrictions compare every reading of the name that is called with every
form of the name that a rule gives, so that no other spelling of a name escapes them.
"""

import functools
import hashlib
import itertools
import re
import unicodedata
from collections.abc import Iterator

import attrs

from permitry.core.pattern import Pattern

__all__ = ["NamePattern", "name_forms", "readings", "server_tool", "servers", "wire_name"]

_WORDS = "[a-z0-9*?]+(?:_[a-z0-9*?]+)*"
# Where a word begins in `sendMoney` and `mcp:bank/HTTPGet`.
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PLAIN = re.compile(f"(?:mcp:{_WORDS}/)?(?!mcp_){_WORDS}")
_NEITHER = re.compile(r"[^\w*?./:]")
_BETWEEN = r"[_./:]*(?:[./:]|__)[_./:]*"
_SEPARATOR = re.compile(_BETWEEN)
_MARK = re.compile(f"mcp{_BETWEEN}")
_NAMESPACE = re.compile(f"_*(?:default_api|api|functions?|tools?){_BETWEEN}")
"""What providers and models put before the name of a tool that belongs to no server."""

_NUMBER = re.compile(r"[./:][0-9]+$")
_INVISIBLE = frozenset({"Cf", "Me", "Mn"})

_UNFIT = re.compile(r"[^a-zA-Z0-9_-]")
# No part has a `_` at an end, or two in a row.
_CLEAR = re.compile("mcp__([^_]+(?:_[^_]+)*)__([^_]+(?:_[^_]+)*)")
_LONGEST_NAME = 64


def wire_name(name: str) -> str:
    """Return the name as providers take one, such as `mcp__docs__search`: letters, digits, `_` and `-`.

    A longer one than 64 characters ends in eight digits of its SHA-256, so that long names differ.
    """
    wire = _UNFIT.sub("_", name.replace(":", "__").replace("/", "__"))
    if len(wire) <= _LONGEST_NAME:
        return wire
    return f"{wire[: _LONGEST_NAME - 9]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def server_tool(name: str, server: str | None = None) -> tuple[str | None, str]:
    """Return the server and the tool that `mcp__server__tool` names, if clear; `server` is what the host says."""
    if server:
        return server, name.removeprefix(f"mcp__{_UNFIT.sub('_', server)}__") or name
    clear = _CLEAR.fullmatch(name)
    return (clear[1], clear[2]) if clear else (server, name)


def readings(name: str) -> frozenset[str]:
    """Return every name that the name of a call may mean, the name itself among them.

    Where `mcp:server/tool` names the server, only the letters are open. A plain name has one reading.
    """
    if _PLAIN.fullmatch(name):
        return frozenset((name,))
    apart = _CAMEL.sub("_", name)
    if apart != name:
        return frozenset((name, *_readings(_fold(name), name), *_readings(_fold(apart), name)))
    return _readings(_fold(name), name)


def _readings(text: str, name: str) -> frozenset[str]:
    """Return the readings of a name that is written as `text`."""
    if name.startswith("mcp:"):
        return frozenset((name, text, *_server_twice(text)))
    found = {name, text}
    bares = tuple(_without_namespaces(text))
    for bare in bares:
        found.update(_splits(_in_parts(bare).strip("/")))
    # A name of nothing but namespaces would have thousands of cuts.
    for bare in (*bares[:1], *bares[-2:]):
        found.update(_cuts(bare))
    return frozenset(found)


def name_forms(pattern: str) -> frozenset[str]:
    """Return the patterns that fit every reading of a name that a pattern in a rule means."""
    if _PLAIN.fullmatch(pattern) and len(pattern) < _LONGEST_NAME:
        return frozenset((pattern,))
    text = _fold(pattern)
    found = {pattern, text, *_splits(_in_parts(text))}
    # Where a name may hold no dot, it comes with `_` instead.
    wire = _fold(wire_name(pattern)) if Pattern(pattern).is_exact else text.replace(".", "_")
    return frozenset((*found, *_splits(_in_parts(wire))))


def servers(name: str, server: str | None) -> frozenset[str]:
    """Return every server that a tool of this name may belong to; `server` is the known one."""
    if server is not None:
        return frozenset((server, _fold(server)))
    split = (reading.removeprefix("mcp:") for reading in readings(name) if reading.startswith("mcp:"))
    return frozenset(text[:at] for text in split for at, char in enumerate(text) if char == "/")


@attrs.frozen
class NamePattern(Pattern):
    """A pattern of the names of tools."""

    @functools.cached_property
    def forms(self) -> frozenset[str]:
        """Its `name_forms`."""
        return name_forms(self.text)

    @functools.cached_property
    def _patterns(self) -> tuple[Pattern, ...]:
        return tuple(map(Pattern, self.forms))

    def may_mean(self, names: frozenset[str]) -> bool:
        """Return whether one of the names, all readings of one, may be meant."""
        return any(pattern.matches(name) for pattern, name in itertools.product(self._patterns, names))


def _fold(text: str) -> str:
    """Return a name without what a reader may overlook: case, width, accents, kinds of joints."""
    if text.isascii():
        shown = text.lower()
    else:
        wide = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
        shown = "".join(char for char in wide if unicodedata.category(char) not in _INVISIBLE)
    return _NEITHER.sub("_", shown)


def _in_parts(text: str) -> str:
    """Return a folded name with one slash for each separator of any form: `__`, `.`, `:`, `/`."""
    return _SEPARATOR.sub("/", text)


def _without_namespaces(text: str) -> Iterator[str]:
    """Yield a folded name, and what is behind each namespace, also without a number at its end."""
    yield text
    while space := _NAMESPACE.match(text):
        text = text[space.end() :]
        yield from (text, _NUMBER.sub("", text))


def _cuts(text: str) -> Iterator[str]:
    """Yield a folded name as that of a server's tool, cut at each separator."""
    mark = _MARK.match(text)
    rest = text[mark.end() :] if mark else text
    yield from (f"mcp:{rest[: each.start()]}/{rest[each.end() :]}" for each in _SEPARATOR.finditer(rest))


def _splits(parts: str) -> Iterator[str]:
    """Yield the name of an own tool, and with `mcp:` that of a server's, split at any slash."""
    marked = parts.removeprefix("mcp/")
    if marked != parts and ("/" in marked or "*" in marked):
        yield f"mcp:{marked}"
        return
    yield parts
    if "/" in parts:
        yield f"mcp:{parts}"
    # Some hosts write one `_` behind the server: `mcp_bank_pay`, `mcp__bank_pay`.
    marked = marked if marked != parts else parts.removeprefix("mcp_")
    if marked != parts:
        if "/" in marked:
            yield f"mcp:{marked}"
        yield from (f"mcp:{marked[:at]}/{marked[at + 1 :]}" for at, char in enumerate(marked) if char == "_")


def _server_twice(text: str) -> Iterator[str]:
    """Yield what `mcp:bank/mcp__bank__pay` means, where the name of the tool has the server too."""
    server, _, tool = text.removeprefix("mcp:").partition("/")
    start = f"mcp:{_in_parts(server)}/"
    yield from (each for each in _splits(_in_parts(tool)) if each.startswith(start))
