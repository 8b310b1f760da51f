"""Patterns of peers over the text of a command, as ours over its words."""

import re

EFFECTS = {"allow": "allow", "ask": "confirm", "deny": "block"}


def pattern_of(text: str) -> str:
    """Return a pattern over text as one over words: a star in it may be several words."""
    words = re.sub(r":\*$", " *", text).split()
    last = len(words) - 1
    wide = ["**" if word == "*" and 0 < at < last else word for at, word in enumerate(words)]
    if last and wide[0] == "*":
        wide.insert(1, "**")
    return " ".join([*wide, "*"] if wide[-1].endswith("*") and wide[-1] != "*" else wide)
