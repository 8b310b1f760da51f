"""What a record demands of the options and operands of a call, without which the call may do more than it seems."""

from permitry.actions.programs.arguments import Parts, is_spread
from permitry.actions.programs.entries import Entry, RefusedError
from permitry.core.action import Word

__all__ = ["check_limits", "has_option_behind"]


def check_limits(parts: Parts, entry: Entry, name: str) -> None:
    """Refuse operands and values that are not allowed, and the absence of options that are required.

    Raises: `RefusedError`.
    """
    has_patterns = parts.is_spread or any(map(is_spread, parts.operands))
    if entry.most_operands is not None and (has_patterns or len(parts.operands) > entry.most_operands):
        raise RefusedError(f"`{name}` with more operands than {entry.most_operands}")
    if entry.operands_need and (parts.operands or has_patterns) and not entry.operands_need & parts.names:
        raise RefusedError(f"`{name}` with an operand")
    if entry.needs and not entry.needs & parts.names and not ("operand" in entry.needs and parts.before):
        raise RefusedError(f"`{name}` without one of {', '.join(sorted(entry.needs))}")
    if has_option_behind(parts, entry):
        raise RefusedError(f"`{name}` with an option behind an operand")
    for word in parts.operands:
        if not word.text.startswith(entry.operand_start):
            raise RefusedError(f"`{name}` with the operand `{word.text}`")
        if entry.refused_start and (word.text.startswith(entry.refused_start) or _may_start(word)):
            raise RefusedError(f"`{name}` with the operand `{word.text}`")
    for option, value in parts.found:
        if value is not None:
            _check_value(option, value, entry, name)


def has_option_behind(parts: Parts, entry: Entry) -> bool:
    """Return whether a word looks like an option behind the first operand, where that ends the options."""
    before = parts.operands[: parts.before]
    return entry.options_first and any(word.may_be_option and word.text != "-" for word in before)


def _check_value(option: str, value: Word, entry: Entry, name: str) -> None:
    """Refuse values of options that make the program do more than read."""
    if entry.refused_start and (value.text.startswith(entry.refused_start) or _may_start(value)):
        raise RefusedError(f"`{name} {option}` with the value `{value.text}`")
    refused = entry.refused_values.get(option)
    if refused is not None and (refused in value.text.casefold() or is_spread(value)):
        raise RefusedError(f"`{name} {option}` with `{refused}`")


def _may_start(word: Word) -> bool:
    """Return whether the first character of a word is not known: an expansion or a pattern is there."""
    return word.is_open or (word.is_glob and word.text[:1] in ("*", "?", "["))
