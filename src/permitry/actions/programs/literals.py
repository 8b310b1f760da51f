"""The string literals of code in other languages, for guesses; no language is parsed."""

import itertools
import re
from collections.abc import Iterator, Sequence

__all__ = ["LITERAL", "MOST_LITERALS", "lists_in", "literals_in"]

MOST_LITERALS = 256
"""How many literals of each form are looked at in a text."""
# Without its closing quote a literal ends with the text, so that finding literals takes linear time.
LITERAL = re.compile(r""""((?:[^"\\]|\\.?)*)(?:"|\Z)|'((?:[^'\\]|\\.?)*)(?:'|\Z)""", re.DOTALL)
_QUOTED = re.compile(LITERAL.pattern + r"|`((?:[^`\\]|\\.?)*)(?:`|\Z)", re.DOTALL)
_BRACKETED = re.compile(
    # `q(…)`, `qw{…}` and `qq|…|` of Perl, `%q(…)` and `%[…]` of Ruby.
    r"""(?:\bq[qwx]?\s*+|%[qQwWix]?)(?:\{([^}]*+)\}?|\(([^)]*+)\)?|\[([^\]]*+)\]?|<([^>]*+)>?|([/|!,#~^])(.*?)(?:\5|\Z))"""
    # `[[…]]` of Lua, and the pattern `<…>` of Perl.
    r"""|\[=*+\[(.*?)(?:\]=*+\]|\Z)|<([^<>\s]++)>""",
    re.DOTALL,
)
_BETWEEN = re.compile(r"\s*+,\s*+(?:\{\s*+args\s*+:\s*+)?[\[(]?\s*+")
_ESCAPED = re.compile(r"\\([\\'\"`])")


def literals_in(code: str) -> Iterator[str]:
    """Yield the text of each literal, and each word of one in brackets: it may be a list of words."""
    return itertools.chain.from_iterable(lists_in(code))


def lists_in(code: str) -> Iterator[Sequence[str]]:
    """Yield the literals with nothing but commas and brackets between them, and the words of one in brackets."""
    yield from _lists(code, _QUOTED)
    for literals in _lists(code, _BRACKETED):
        yield literals
        yield from (text.split() for text in literals if len(text.split()) > 1)


def _lists(code: str, form: re.Pattern[str]) -> Iterator[Sequence[str]]:
    found: list[str] = []
    end = 0
    for literal in itertools.islice(form.finditer(code), MOST_LITERALS):
        if found and not _BETWEEN.fullmatch(code, end, literal.start()):
            yield found
            found = []
        found.append(_ESCAPED.sub(r"\1", next(filter(None, literal.groups()[::-1]), "")))
        end = literal.end()
    if found:
        yield found
