"""What the adapters share: answers that come as plain JSON, and a run with its start and its end in the record."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import attrs

from permitry.confirm.response import ToolConfirmationResponse
from permitry.core.call import ToolCall
from permitry.core.spec import ToolSpec
from permitry.errors import ReplayError
from permitry.guard import Guard
from permitry.outcome import Ask, Cause, Permit, Refusal, Silence

__all__ = ["APPROVED", "CHANGED", "SILENT", "Run", "answer_of", "checked", "running", "settled"]

APPROVED = ToolConfirmationResponse(approved=True)
CHANGED = Refusal("The rules have changed, so the call did not run. Make it again if you need it.", Cause.NOT_ASKED)
SILENT = 'there is no other way of asking here: use a Guard without unmatched="silence"'

_HANDLED = Refusal("This very call was handled before, so it did not run again.", Cause.HANDLED)


def answer_of(value: object) -> ToolConfirmationResponse:
    """Return the answer that a host carries as JSON: an object with the fields of a response, or true, or false.

    Whatever cannot be read is a no.
    """
    if isinstance(value, ToolConfirmationResponse):
        return value
    if isinstance(value, bool):
        return ToolConfirmationResponse(approved=value)
    if isinstance(value, Mapping):
        with suppress(TypeError):
            return ToolConfirmationResponse(**value)
    return ToolConfirmationResponse(approved=False, instructions="(The answer could not be read.)")


def checked(
    guard: Guard, call: ToolCall | Refusal, spec: ToolSpec | None = None, *, asked: bool = False
) -> Permit | Refusal | Ask:
    """Check a call for a host that has no other way of asking.

    Raises: `ValueError` where the guard leaves the call to its host.
    """
    match guard.check(call, spec, asked=asked):
        case Silence():
            raise ValueError(SILENT)
        case outcome:
            return outcome


def settled(outcome: Permit | Refusal | Silence) -> Permit | Refusal:
    """Return the outcome of a call that a human was asked about if need be.

    Raises: `ValueError` where the guard leaves the call to its host.
    """
    match outcome:
        case Silence():
            raise ValueError(SILENT)
        case _:
            return outcome


@attrs.frozen
class Run:
    """A run that has begun, with the arguments that were permitted."""

    arguments: dict[str, Any]
    _permit: Permit = attrs.field(repr=False)

    def done(self, *, ok: bool) -> None:
        """Record how it ended; without this it ended well where no error is raised."""
        self._permit.done(ok=ok)


@contextmanager
def running(outcome: Permit | Refusal) -> Iterator[Run | Refusal]:
    """Begin a run, or give the refusal that is shown in its place; at the end record how it ended."""
    if isinstance(outcome, Refusal):
        yield outcome
        return
    try:
        arguments = outcome.take()
    except ReplayError:
        yield _HANDLED
        return
    with ExitStack() as stack:
        stack.push(outcome.__exit__)
        yield Run(arguments, outcome)
