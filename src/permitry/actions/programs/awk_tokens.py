"""Splits a program of `awk` into tokens, as far as all implementations do that in the same way.

Text that two of them split differently is refused: a number with letters, a slash that may divide or begin a regular
expression, a bracket expression with a slash in it, a line that a backslash continues.

Source: POSIX awk, "Lexical Conventions"; the scanners of gawk, mawk, busybox and the one true awk.
"""

import re
from collections.abc import Iterator

import attrs

from permitry.actions.programs.entries import RefusedError

__all__ = ["FUNCTIONS", "Token", "tokens_of"]

FUNCTIONS = frozenset(
    {"and", "asort", "asorti", "atan2", "compl", "cos", "exp", "gensub", "gsub", "index", "int"}
    | {"isarray", "length", "log", "lshift", "match", "mktime", "or", "patsplit", "rand", "rshift"}
    | {"sin", "split", "sprintf", "sqrt", "srand", "strftime", "strtonum", "sub", "substr"}
    | {"systime", "tolower", "toupper", "typeof", "xor"}
)
"""The functions that only compute, of all implementations."""

_KEYWORDS = frozenset(
    {"BEGIN", "BEGINFILE", "END", "ENDFILE", "break", "continue", "delete", "do", "else", "exit"}
    | {"for", "func", "function", "if", "in", "next", "nextfile", "print", "printf", "return"}
    | {"while"}
)
_REFUSED = frozenset(
    {"ARGC", "ARGV", "FUNCTAB", "PROCINFO", "SYMTAB", "adump", "bindtextdomain", "case", "close"}
    | {"dcgettext", "dcngettext", "default", "eval", "extension", "fflush", "getline", "include"}
    | {"intdiv", "intdiv0", "load", "mkbool", "namespace", "stopme", "switch", "system"}
)
_BRACKET = r"\[\^?\]?(?:\[:[a-z]+:\]|\\[^\]\n]|[^\[\]\\/\n])*\]"
_TOKEN = re.compile(
    r"""
      (?P<blank>    [ \t]++ | \#(?:[^\n\\]|\\(?!\n|\Z))* (?=\n|\Z) )
    | (?P<string>   "(?:[^"\\\n]|\\[^\n])*" )
    | (?P<name>     [A-Za-z_][A-Za-z0-9_]*+ )
    | (?P<number>   (?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?![A-Za-z0-9_.]) )
    | (?P<sign>     \|\| | && | \*\*= | \*\* | [-+*%^<>=!]= | \+\+ | -- | !~
                  | [\n;,(){}\[\]?:=<>!~$^%*+-] )
    """,
    re.VERBOSE,
)
# What is read ahead is not read in another way again: a bracket may be read in two.
_REGEX = re.compile(rf"/(?!=)(?=((?:\\[^\n]|[^\[\\/\n]|{_BRACKET})*))\1/")
_DIVISION = re.compile("/=?")
_BEFORE_REGEX = frozenset({"", "\n", ";", "{", "}", "(", ",", "?", ":", "=", "+="})
_BEFORE_REGEX |= {"!", "~", "!~", "&&", "||"}
_BEFORE_DIVISION = frozenset({"name", "number", "string", "regex", ")", "]"})


@attrs.frozen
class Token:
    """A token of a program; `kind` is its kind in the grammar: for a sign or a keyword, its text.

    `is_called`: the token is a name, and an opening parenthesis follows it without a blank.
    """

    kind: str
    text: str
    is_called: bool = False


def tokens_of(text: str) -> Iterator[Token]:
    """Yield the tokens of a program, and an empty token at its end.

    Raises: `RefusedError` for text that is not a token, or not the same token in all implementations.
    """
    at, before = 0, ""
    while at < len(text):
        match = _slash(text, at, before) if text[at] == "/" else _TOKEN.match(text, at)
        if match is None:
            raise RefusedError(f"`{text[at]}` in a program of `awk`")
        at = match.end()
        if match.lastgroup == "blank":
            continue
        token = _token(match, text[at : at + 1])
        before = token.kind
        yield token
    yield Token("", "")


def _slash(text: str, at: int, before: str) -> re.Match[str] | None:
    """Return the division sign or the regular expression that begins here; None if it is not certain which it is."""
    if before in _BEFORE_DIVISION:
        return _DIVISION.match(text, at)
    if before in _BEFORE_REGEX:
        return _REGEX.match(text, at)
    return None


def _token(match: re.Match[str], following: str) -> Token:
    text, kind = match[0], match.lastgroup
    if kind is None:
        return Token("regex" if len(text) > 1 and text != "/=" else text, text)
    if kind == "name" and text in _REFUSED:
        raise RefusedError(f"`{text}` in a program of `awk`")
    if kind == "sign" or text in _KEYWORDS:
        return Token(text, text)
    if text in FUNCTIONS:
        return Token("function of awk", text)
    return Token(kind, text, is_called=following == "(")
