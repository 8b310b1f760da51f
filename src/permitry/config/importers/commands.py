"""Patterns of hosts over the text of a command, as ours over its words."""

import re
import shlex

__all__ = ["examples_of", "pattern_of"]


def pattern_of(text: str) -> str:
    """Return a pattern over text as one over words: a star in it may be several words."""
    words = re.sub(r":\*$", " *", text).split()
    if not words:
        return "*"
    last = len(words) - 1
    wide = ["**" if word == "*" and 0 < at < last else word for at, word in enumerate(words)]
    if last and wide[0] == "*":
        wide.insert(1, "**")
    return " ".join([*wide, "*"] if wide[-1].endswith("*") and wide[-1] != "*" else wide)


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
