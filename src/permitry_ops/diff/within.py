"""That a pattern of commands, or of names of tools, matches nothing that another one does not."""

from permitry.conditions._argv import Token
from permitry.conditions.command import ArgvPattern
from permitry.conditions.tools import ToolSelector
from permitry.core.pattern import Pattern

__all__ = ["is_within", "selects_all"]


def selects_all(wider: ToolSelector, narrower: ToolSelector, *, is_permission: bool) -> bool:
    """Return whether one selector selects every call that another one does."""
    if wider == narrower or wider.text == "*":
        return True
    if wider.pattern is None or narrower.pattern is None:
        return False
    if is_permission:
        return _has_names(wider.text, narrower.text)
    forms = (*narrower.pattern.forms, narrower.text)
    return all(any(_has_names(other, form) for other in (*wider.pattern.forms, wider.text)) for form in forms)


def _has_names(wider: str, narrower: str) -> bool:
    """Return whether a pattern fits another one as it is written, and so all names that one fits."""
    return wider == narrower or ("?" not in wider and Pattern(wider).matches(narrower))


def is_within(narrower: object, wider: object) -> bool:
    """Return whether a restriction that has one command pattern needs no other one, in any spelling of a command.

    Both are matched word by word, and a word that fits a word of one fits that of the other. What is an option may be
    anywhere, so that of patterns with options nothing is said; nor of those of permissions, which want some words
    spelled out.
    """
    if not (isinstance(wider, ArgvPattern) and isinstance(narrower, ArgvPattern)):
        return False
    patterns = (narrower, wider)
    if any(each.assignments or any(token.may_be_option for token in each.tokens) for each in patterns):
        return False
    return _covers(wider.tokens, narrower.tokens)


def _covers(wider: tuple[Token, ...], narrower: tuple[Token, ...]) -> bool:
    """Return whether the words of one pattern can be laid over those of another one."""
    # Of the words of `wider` so many are laid, after each word of `narrower`.
    laid = _skip(wider, {0})
    for token in narrower:
        stays = {at for at in laid if at < len(wider) and wider[at].is_any}
        moves = {at + 1 for at in laid - stays if at < len(wider) and _has_all(wider[at], token)}
        laid = _skip(wider, stays | moves)
    return len(wider) in laid


def _skip(tokens: tuple[Token, ...], laid: set[int]) -> set[int]:
    """Return the places, and those behind words that may match nothing."""
    reached = set(laid)
    for at in range(len(tokens)):
        if at in reached and tokens[at].is_any:
            reached.add(at + 1)
    return reached


def _has_all(wider: Token, narrower: Token) -> bool:
    """Return whether a word has each alternative of another one."""
    return not narrower.is_any and set(narrower.alternatives) <= set(wider.alternatives)
