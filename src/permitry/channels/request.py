"""What a human is shown when a call needs confirmation."""

import functools
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import attrs

from permitry.core.action import Access, Action, Actions, Run, Unknown, phrase
from permitry.core.call import ToolCall
from permitry.core.decision import Decision, Phase
from permitry.core.origin import Origin
from permitry.core.spec import ArgumentRole, ToolSpec, values_of

__all__ = ["ConfirmationRequestFactory", "EffectLine", "SuggestedGrant", "ToolConfirmationRequest", "effect_lines"]

_MOST_LINES = 200
_PATH_ROLES = (ArgumentRole.WRITE_PATH, ArgumentRole.DELETE_PATH, ArgumentRole.READ_PATH)
_PATH_NAMES = ("filepath", "file_path", "path")


@attrs.frozen
class SuggestedGrant:
    """An approval the human could have remembered; `scope` is `session`."""

    scope: str
    tool: str
    label: str


@attrs.frozen
class EffectLine:
    """One action of a call, in words; `depth` is how many constructs of a shell are around it."""

    depth: int
    text: str


@attrs.frozen
class ToolConfirmationRequest:
    """One question to a human: the call that would run, what it would change, and why it is asked.

    `path` is the file concerned, if any; `preview` is a unified diff for writes and edits. `suggested_grants` is
    empty when a restriction asks: such a call is asked about every time. With `is_plan` the call presents the
    agent's plan, and the question is whether to leave plan mode with it. `pending_id` is the id of the open
    question. `origins` say where the values came from that a rule asks that of. `effects` returns what the call
    would do, and `folder` is where. `turn` is an id of the message of the user that the agent works on, if the host
    gives one. `others` are what further rules decide that ask about the call.
    """

    call: ToolCall
    path: str | None = None
    preview: str | None = None
    reason: str = ""
    suggested_grants: tuple[SuggestedGrant, ...] = ()
    is_plan: bool = False
    pending_id: str | None = attrs.field(default=None, kw_only=True)
    origins: tuple[Origin, ...] = attrs.field(default=(), kw_only=True)
    _effects: Callable[[], tuple[EffectLine, ...]] = attrs.field(
        default=tuple,
        kw_only=True,
        eq=False,
        repr=False,
    )
    folder: str | None = attrs.field(default=None, kw_only=True)
    turn: str = attrs.field(default="", kw_only=True)
    others: tuple[Decision, ...] = attrs.field(default=(), kw_only=True)

    @functools.cached_property
    def effects(self) -> tuple[EffectLine, ...]:
        """What the call would do, read when someone looks: that takes longer than the rest of a question."""
        return self._effects()

    @property
    def tool(self) -> str:
        """The tool's name, as rules see it."""
        return self.call.tool

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments, read-only, as plain JSON values: a fresh copy, so that no change reaches the call."""
        return MappingProxyType(self.call.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Return what a human is shown as plain data, for `json.dumps`: a fresh copy."""
        call = self.call
        return {
            "tool": call.tool, "arguments": call.to_dict(), "reason": self.reason, "call_id": call.call_id,
            "digest": call.digest, "path": self.path, "preview": self.preview,
            "suggested_grants": [attrs.asdict(grant) for grant in self.suggested_grants],
            "origins": [attrs.asdict(origin) for origin in self.origins],
        }  # fmt: skip


@attrs.frozen
class ConfirmationRequestFactory:
    """Turns a call and the decision to ask into a request."""

    preview: Callable[[ToolCall], str | None] = lambda _: None

    def create(self, call: ToolCall, decision: Decision, spec: ToolSpec | None = None) -> ToolConfirmationRequest:
        """Return the request for `call`."""
        return ToolConfirmationRequest(
            call=call,
            path=_path(call, spec),
            preview=self.preview(call),
            reason=_reason(decision),
            suggested_grants=_suggestions(call, decision),
        )


def _reason(decision: Decision) -> str:
    if decision.rule_id is None:
        return decision.reason if decision.phase is Phase.HOST else "no rule allows this call"
    place = f", {decision.source}" if decision.source else ""
    return f"{decision.reason or 'the rule says so'} (rule `{decision.rule_id}`{place})"


def _path(call: ToolCall, spec: ToolSpec | None) -> str | None:
    roles = {} if spec is None or spec.roles is None else spec.roles
    keys = [key for key, role in roles.items() if role in _PATH_ROLES] or _PATH_NAMES
    paths = {value for key in keys for _, value in values_of(call.arguments, key) if isinstance(value, str)}
    # Several candidates are none: one that is not read must not be taken for the one that is.
    return next(iter(paths)) if len(paths) == 1 else None


def _suggestions(call: ToolCall, decision: Decision) -> tuple[SuggestedGrant, ...]:
    if decision.is_question_of_rule:
        return ()
    return (SuggestedGrant("session", call.tool, f"do not ask about `{call.tool}` again in this session"),)


def effect_lines(actions: Actions) -> tuple[EffectLine, ...]:
    """Return a line for each action, in order, then for what is only possible, where that is new."""
    lines: dict[EffectLine, None] = {}
    for action in actions.certain:
        lines.update(dict.fromkeys(_lines(action)))
    known = set(map(_line, actions.certain))
    for line in map(_line, actions.possible):
        if line not in known:
            lines[EffectLine(line.depth, f"perhaps {line.text}")] = None
    if len(lines) > _MOST_LINES:
        return (*list(lines)[:_MOST_LINES], EffectLine(0, f"and {len(lines) - _MOST_LINES} more"))
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
