"""Which commands, paths and addresses a pattern of a rule is about, as languages of texts.

A command is its words, each with a NUL behind it, which no word can hold. A path is absolute, and an address is
`scheme://host:port`. For a restriction other spellings count as well, so that its region is a part of what it matches.
"""

import functools
from collections.abc import Sequence
from typing import Any

from permitry.conditions._argv import WRITTEN, Token
from permitry.conditions.command import ArgvPattern
from permitry.conditions.host import HostPattern
from permitry.conditions.path import PathPattern
from permitry.conditions.tools import ToolSelector
from permitry.core.action import DEFAULT_PORTS, Roots
from permitry.core.facts import Anchor
from permitry_ops.diff.language import Alternatives, Chars, Expression, Language, Repeat, between_stars, glob
from permitry_ops.diff.regex import UnreadError

__all__ = ["COMMANDS", "ENTRY", "HOSTS", "NAMES", "PATHS", "TOOLS", "language_of", "tools_language"]

END = "\0"
"""The end of a word of a command."""
_LETTER = Chars(frozenset(END), is_negated=True)
_WORD = Repeat(_LETTER)
_KEPT = Chars(frozenset("\0$`*?[]{}~!\\\"'"), is_negated=True)
"""What neither the shell nor a quote makes into something else."""
_NAME_LETTER = Chars(frozenset("/\0"), is_negated=True)
_NAME = Repeat(_NAME_LETTER, 1)
_LABEL = Repeat(Chars(frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")), 1)
_ANY_HOST = Repeat(Chars(frozenset("abcdefghijklmnopqrstuvwxyz0123456789.-")), 1)
_DIGITS = Repeat(Chars(frozenset("0123456789")), 1)
_TOOL_LETTER = Chars(frozenset("abcdefghijklmnopqrstuvwxyz0123456789_"))

COMMANDS = (
    Language(Repeat((Repeat(_LETTER, 1), END), 1)),
    Language((Repeat(_LETTER, 1), END, Repeat((_WORD, END)))),
)
"""The commands that are tried, those of words that are not empty first; the last has all."""
_DOTS = Chars(frozenset("./\0"), is_negated=True)
ENTRY = Alternatives(
    (
        (_DOTS, Repeat(_NAME_LETTER)),
        (".", _DOTS, Repeat(_NAME_LETTER)),
        ("..", _NAME),
    )
)
"""A name that a folder may have: neither `.` nor `..`."""
PATHS = Language(Repeat(("/", ENTRY)))
"""Every absolute path; the root is the empty one."""
HOSTS = (
    Language(("https://", _LABEL, Repeat((".", _LABEL), 1), ":443")),
    Language(("https://", _ANY_HOST, ":443")),
    Language((_LABEL, "://", _ANY_HOST, ":", _DIGITS)),
    Language(Repeat(Chars(frozenset(" "), is_negated=True), 1)),
)
"""The addresses that are tried, natural ones first; the last has all."""
TOOLS = Language((Chars(frozenset("abcdefghijklmnopqrstuvwxyz")), Repeat(_TOOL_LETTER, 1)))
"""The names of tools that are tried first."""
NAMES = Language(Repeat(Chars(frozenset(" \t\n"), is_negated=True), 1))
"""Every name that a tool may have."""


@functools.lru_cache(maxsize=4096)
def language_of(patterns: tuple[Any, ...], roots: Roots, *, is_permission: bool, is_refused: bool = False) -> Language:
    """Return what one of some patterns of one kind matches; if `is_refused`, what it certainly matches.

    Raises: `UnreadError`, `TooLargeError`.
    """
    make = functools.partial(_expression, roots=roots, is_permission=is_permission, is_refused=is_refused)
    return Language(Alternatives(tuple(map(make, patterns))))


@functools.lru_cache(maxsize=4096)
def tools_language(selectors: tuple[ToolSelector, ...]) -> Language:
    """Return the names of the tools that selectors select by name. Raises: `UnreadError` for a trait."""
    patterns = [each.pattern for each in selectors]
    if None in patterns:
        raise UnreadError("a trait of tools")
    return Language(Alternatives(tuple(glob(each) for each in patterns if each is not None)))


def _expression(pattern: object, roots: Roots, *, is_permission: bool, is_refused: bool) -> Expression:
    match pattern:
        case ArgvPattern():
            return _of_command(pattern, is_permission=is_permission, is_refused=is_refused)
        case PathPattern():
            return Alternatives(tuple(_of_path(pattern, base) for base in _bases(pattern, roots)))
        case HostPattern():
            return _of_host(pattern, is_permission=is_permission)
    raise UnreadError(f"a pattern of the class `{type(pattern).__name__}`")


def _of_command(pattern: ArgvPattern, *, is_permission: bool, is_refused: bool) -> Expression:
    if pattern.assignments:
        raise UnreadError("a pattern with a variable")
    # A wildcard within words certainly matches only what the shell keeps as it is.
    star = _KEPT if is_permission and is_refused else _LETTER
    words = [Repeat((_WORD, END)) if token.is_any else (_of_word(token, star), END) for token in pattern.tokens]
    # A restriction is about a program in any folder.
    first = words[0] if is_permission else Alternatives((words[0], ("/usr/bin/", words[0])))
    return first, *words[1:]


def _of_word(token: Token, star: Chars) -> Expression:
    return Alternatives(tuple(_translate(each.pieces, star) for each in token.alternatives))


def _translate(pieces: Sequence[Any], star: Chars) -> Expression:
    """Return the texts of pieces whose own stars and question marks stand for themselves."""
    plain = [piece.translate(WRITTEN) if isinstance(piece, str) else tuple(map(_plain, piece)) for piece in pieces]
    return between_stars(plain, star)


def _plain(unit: Any) -> Any:  # noqa: ANN401 -- a letter, or a set of letters
    return unit.translate(WRITTEN) if isinstance(unit, str) else unit


def _bases(pattern: PathPattern, roots: Roots) -> tuple[str, ...]:
    return {Anchor.WORKSPACE: roots.workspace, Anchor.HOME: roots.home, Anchor.TOP: ("",)}[pattern.anchor]


def _of_path(pattern: PathPattern, base: str) -> Expression:
    parts: list[Expression] = [base.rstrip("/")]
    for at, part in enumerate(pattern.components, 1):
        if part is None:
            # At the end it is what is below the folder, and not the folder.
            parts.append(Repeat(("/", _NAME), int(at == len(pattern.components))))
        else:
            parts.append(("/", between_stars(part.pieces, _NAME_LETTER)))
    return tuple(parts)


def _of_host(pattern: HostPattern, *, is_permission: bool) -> Expression:
    scheme: Expression = pattern.scheme or ("https" if is_permission else _LABEL)
    port: Expression = _DIGITS
    if pattern.port is not None:
        port = str(pattern.port)
    elif is_permission and pattern.scheme in (None, *DEFAULT_PORTS):
        port = str(DEFAULT_PORTS[pattern.scheme or "https"])
    if pattern.host == "private":
        raise UnreadError("`private`")
    host: Expression = pattern.host
    if pattern.host == "*":
        host = _ANY_HOST
    elif pattern.host.startswith("*."):
        host = (_ANY_HOST, pattern.host.removeprefix("*"))
    if is_permission and pattern.port is None and pattern.scheme not in (None, *DEFAULT_PORTS):
        # Of other schemes no port is known.
        return scheme, "://", host
    return scheme, "://", host, ":", port
