"""In which order the commands of a script run, and which of them may write."""

from collections.abc import Sequence

from permitry.actions.derive.unwrap import Classified, Refused

__all__ = ["is_in_order", "start_together", "writers_in"]

_NOT_IN_ORDER = frozenset(["&", "<(…)", ">(…)", "for", "function", "select", "until", "while"])
_NOT_AT_ONCE = _NOT_IN_ORDER | {"$(…)", "case", "if"}


def writers_in(found: Sequence[Classified | Refused]) -> set[int]:
    """Return the indices of the commands that may change any file; all where one is not known."""
    if any(isinstance(one, Refused) for one in found):
        return set(range(-1, len(found)))
    return {at for at, one in enumerate(found) if _may_write(one)}


def _may_write(one: Classified | Refused) -> bool:
    return isinstance(one, Refused) or one.doubt is not None or one.command.writes_files


def start_together(found: Sequence[Classified | Refused]) -> bool:
    """Return whether all are one pipeline in which every command opens its files at once, not after its input."""
    commands = [each.command for each in found]
    are_piped = all(command.follows in ("", "|") for command in commands)
    are_at_once = all(_NOT_AT_ONCE.isdisjoint(command.within) for command in commands)
    is_pipeline = are_piped and are_at_once and len(commands) > 1
    return is_pipeline and all(map(_opens_at_once, found[1:]))


def is_in_order(one: Classified | Refused) -> bool:
    """Return whether a command runs once, after those before it and before those after it."""
    return one.command.follows != "|" and _NOT_IN_ORDER.isdisjoint(one.command.within)


def _opens_at_once(one: Classified | Refused) -> bool:
    if isinstance(one, Refused):
        return False
    return one.doubt is None or one.command.words[0].text == "tee"
