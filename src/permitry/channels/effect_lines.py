"""What a call would do, as lines for the human who is asked."""

from collections.abc import Iterator

import attrs

from permitry.core.action import Access, Action, Actions, Run, Unknown, phrase

__all__ = ["EffectLine", "effect_lines"]

_MOST = 200


@attrs.frozen
class EffectLine:
    """One action of a call, in words; `depth` is how many constructs of a shell are around it."""

    depth: int
    text: str


def effect_lines(actions: Actions) -> tuple[EffectLine, ...]:
    """Return a line for each action, in order; below a program come the files and hosts it names.

    Of the files only those that it changes. Then comes what is only possible, where that is new.
    """
    lines: dict[EffectLine, None] = {}
    for action in actions.certain:
        lines.update(dict.fromkeys(_lines(action)))
    known = set(map(_line, actions.certain))
    for line in map(_line, actions.possible):
        if line not in known:
            lines[EffectLine(line.depth, f"perhaps {line.text}")] = None
    if len(lines) > _MOST:
        return (*list(lines)[:_MOST], EffectLine(0, f"and {len(lines) - _MOST} more"))
    return tuple(lines)


def _lines(action: Action) -> Iterator[EffectLine]:
    line = _line(action)
    if not isinstance(action, Run):
        yield line
        return
    doubt = action.doubt or ""
    yield EffectLine(line.depth, f"{line.text} ({doubt})".removesuffix(" ()"))
    operands = action.operands
    for touch in operands.touches:
        if touch.access is not Access.READ:
            yield EffectLine(line.depth + 1, phrase(touch))
    for connect in operands.connects:
        yield EffectLine(line.depth + 1, phrase(connect))


def _line(action: Action) -> EffectLine:
    match action:
        case Unknown():
            return EffectLine(0, f"not certain: {action.reason}")
        case Run() if action.within:
            return EffectLine(len(action.within), f"{' '.join(action.within)}: {phrase(action)}")
    return EffectLine(0, phrase(action))
