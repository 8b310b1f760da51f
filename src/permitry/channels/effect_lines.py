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
    """Return a line for each action, in order, and below a program for each file it changes and host it connects to.

    Then come those that are only possible, where they say something new.
    """
    certain = [line for action in actions.certain for line in _lines(action)]
    known = set(map(_line, actions.certain))
    new = [line for line in map(_line, actions.possible) if line not in known]
    lines = tuple(dict.fromkeys([*certain, *(EffectLine(each.depth, f"perhaps {each.text}") for each in new)]))
    if len(lines) > _MOST:
        return (*lines[:_MOST], EffectLine(0, f"and {len(lines) - _MOST} more"))
    return lines


def _lines(action: Action) -> Iterator[EffectLine]:
    line = _line(action)
    if not isinstance(action, Run):
        yield line
        return
    doubt = action.doubt or ""
    yield EffectLine(line.depth, f"{line.text} ({doubt})".removesuffix(" ()"))
    named: list[Action] = [each for each in action.operands.touches if each.access is not Access.READ]
    named += action.operands.connects
    yield from (EffectLine(line.depth + 1, phrase(each)) for each in named)


def _line(action: Action) -> EffectLine:
    match action:
        case Unknown():
            return EffectLine(0, f"not certain: {action.reason}")
        case Run() if action.within:
            return EffectLine(len(action.within), f"{' '.join(action.within)}: {phrase(action)}")
    return EffectLine(0, phrase(action))
