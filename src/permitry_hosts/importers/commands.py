"""Patterns of hosts over the text of a command, as ours over its words and its text.

A star of a host goes over blanks, and ours does not: a permission becomes narrower, and a restriction several patterns
over words, and one over the text, which sees assignments and redirections as well.
"""

import itertools
import re
import shlex
from collections.abc import Iterator, Sequence

import attrs

from permitry.config.rule_text import Conditions, Draft

__all__ = ["add_examples", "escape_words", "examples_of", "narrow_pattern", "restrict"]

_MOST_PATTERNS = 16
_MOST_WORDS = 32
_OPERATORS = re.compile(r"[|&;<>`$()]|^\w+=")
_STAR = re.compile(r"(?<!\\)\*+")
_OF_ONE_COMMAND = r"[^;&|\n]*"
_BEGINS = r"(?:.*[;&|(`\n]\s*)?(?:\w+=\S*\s+)*"
_ENDS = r"\s*[;&|)`\n].*"


def narrow_pattern(text: str) -> str | None:
    """Return a pattern over text as a narrower one over words, of which a star is several; or None."""
    words = _words(text)
    if not words or _OPERATORS.search(text.strip()):
        return None
    last = len(words) - 1
    for at in reversed(range(last)):
        if words[at] == "*":
            words.insert(at + 1, "**")
    has_star = words[-1] != "*" and _STAR.search(words[-1][-2:])
    return " ".join([*words, "*"] if has_star and words[-1].endswith("*") else words)


def restrict(text: str) -> list[Conditions]:
    """Return conditions for a restriction, of which one is enough; rather about more commands."""
    words = _words(text)
    if not words:
        return []
    if _OPERATORS.search(text.strip()):
        # Over several commands, or with a variable: compared with the text of the whole.
        return [{"args": {"command": {"glob": f"*{text.strip().removesuffix(':*')}*"}}}]
    found: list[Conditions] = []
    if patterns := _wide_patterns(words):
        found.append({"command": patterns})
    if not patterns or _STAR.search(re.sub(r"[ *]+$", "", text)):
        found.append({"args": {"command": {"regex": _regex(text)}}})
    return found


def _words(text: str) -> list[str]:
    """Return the words of a pattern, with a backslash where ours knows more; none for a star alone."""
    text = re.sub(r":\*$", " *", _STAR.sub("*", text))
    if not text.removesuffix(" *").strip():
        return []
    return [re.sub(r"(?<!\\)[?{}]|^@", r"\\\g<0>", word) for word in text.split()]


def escape_words(text: str) -> str:
    """Return a text without wildcards as a pattern over words."""
    return re.sub(r"(?<!\\)[*?{}]|(?<!\S)@", r"\\\g<0>", text)


def _wide_patterns(words: Sequence[str]) -> list[str]:
    """Return the patterns for every way of stars over blanks; none if too many, or quotes are open."""
    try:
        shlex.split(" ".join(words))
    except ValueError:
        return []
    ways = [list(_ways(word, is_first=at == 0, is_last=at == len(words) - 1)) for at, word in enumerate(words)]
    count = 1
    for each in ways:
        count *= len(each)
    if count > _MOST_PATTERNS:
        return []
    found = [" ".join(chosen) for chosen in itertools.product(*ways)]
    return found if all(len(pattern.split()) <= _MOST_WORDS for pattern in found) else []


def _ways(word: str, *, is_first: bool, is_last: bool) -> Iterator[str]:
    """Yield what a word of a pattern may become: its stars stay in a word, or go from one to another."""
    if word == "*":
        inside = "* **" if is_first else "**"
        yield "*" if is_last else inside
        return
    lead, core, trail = _without_stars_around(word)
    before = "** " if lead and not is_first else ""
    after = f" {'*' if is_last else '**'}" if trail else ""
    first, *others = _STAR.split(core)
    for joints in itertools.product(("*", "* ** *"), repeat=len(others)):
        inner = "".join(map("".join, zip(joints, others, strict=True)))
        yield f"{before}{lead}{first}{inner}{trail}{after}"


def _regex(text: str) -> str:
    """Return a pattern over the text of a whole command: one of its parts fits, of which no star is about more."""
    lead, core, trail = _without_stars_around(re.sub(r":\*$", " *", text).strip())
    start = ".*" if lead else _BEGINS
    end = f"(?:{_ENDS})?"
    if trail:
        end = rf"(?:\s.*|{_ENDS})?" if core.endswith(" ") else ".*"
        core = core.rstrip()
    pieces = [re.escape(piece.replace(r"\*", "*")) for piece in _STAR.split(core)]
    body = _OF_ONE_COMMAND.join(re.sub(r"(?:\\ )+", r"\\s+", piece) for piece in pieces)
    return f"(?s){start}{body}{end}"


def _without_stars_around(text: str) -> tuple[str, str, str]:
    """Return the stars at the beginning, what is between, and the stars at the end."""
    rest = text.lstrip("*")
    core = re.sub(r"(?<!\\)\*+$", "", rest)
    return text[: len(text) - len(rest)], core, rest[len(core) :]


def examples_of(pattern: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return commands that a pattern over words is about, and others, as far as it is plain."""
    stem = pattern.removesuffix(" *")
    if stem == "*" or re.search(r"[*?{}\\\[\]@]", stem):
        return (), ()
    try:
        words = shlex.split(stem)
    except ValueError:
        return (), ()
    return (stem,), (shlex.join(words[:-1]),) if len(words) > 1 else ()


def add_examples(draft: Draft) -> Draft:
    """Return a rule with examples of the first pattern of its command, if it has one and no exceptions."""
    if "command" not in draft.when or draft.unless:
        return draft
    match, no_match = examples_of(draft.when["command"][0])
    return attrs.evolve(draft, match=match, no_match=no_match)
