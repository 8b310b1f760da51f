"""The views of a program: its sub-commands that certainly only look.

A view may connect to what the user has set up, as `kubectl get` does, so it does not *only read*.
It changes nothing, runs no code of the workspace, and connects to no address in its words.
"""

import re
from collections.abc import Sequence

from permitry.actions.programs.arguments import Parts, is_spread, read_options
from permitry.actions.programs.entries import Entry, RefusedError
from permitry.actions.programs.limits import check_limits
from permitry.core.action import Word

__all__ = ["check_view"]

_DEEPEST = 3
"""How many words name a view at most: `aws ec2 describe-instances` has two."""
_EVERY = "*"


def check_view(words: Sequence[Word], entry: Entry) -> None:
    """Refuse a command that is not certainly a view of its program, whose record is `entry`.

    Raises: `RefusedError`.
    """
    name = words[0].text
    unclear = [word for word in words if is_spread(word) or word.is_home or word.text == "--"]
    before = _read_before(words[1:], entry, name)
    behind = before.operands
    count = _find(behind, entry)
    if unclear or not count:
        raise RefusedError(f"`{name}` is not known to only look here")
    view = entry.views[_key(behind[:count])]
    parts = read_options(behind[count:], view, name=name)
    # The options before the sub-command are options of it, too.
    parts.found += before.found
    check_limits(parts, view, name)
    _check_values(parts, view, name)
    _check_words(parts, view, name)


def _read_before(words: Sequence[Word], entry: Entry, name: str) -> Parts:
    """Return the options before the sub-command, which every view may have, and the words from that on as operands."""
    every = entry.views.get(_EVERY)
    if every is None or _find(words[:1], entry):
        return Parts(operands=list(words))
    return read_options(words, every, name=name, options_first=True)


def _find(words: Sequence[Word], entry: Entry) -> int:
    """Return how many words name a view; of several the most, and 0 if there is none."""
    counts = range(min(len(words), _DEEPEST), 0, -1)
    return next((count for count in counts if _key(words[:count]) in entry.views), 0)


def _key(words: Sequence[Word]) -> str:
    """Return the name of the view that some words name; an empty one for words with a sign of it."""
    texts = [word.text for word in words]
    if any("/" in text or text == _EVERY for text in texts):
        return ""
    return "/".join(texts)


def _check_values(parts: Parts, view: Entry, name: str) -> None:
    for option, value in parts.found:
        if value is None and option in view.options.valued:
            raise RefusedError(f"`{name} {option}` without a value")


def _check_words(parts: Parts, view: Entry, name: str) -> None:
    """Refuse an operand, or a value that is compared like one, that is not a plain name."""
    values = (value for option, value in parts.found if value and option in view.plain_values)
    for word in (*parts.operands, *values):
        reasons = (why for text, why in view.refused_text.items() if text in word.text.casefold())
        reason = next(reasons, None)
        if reason is not None or not re.fullmatch(view.plain, word.text):
            raise RefusedError(f"`{name}` with `{word.text}` {reason or 'may do more'}")
