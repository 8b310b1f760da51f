"""What the adapters share: answers that come as plain JSON, and a run with its start and its end in the record."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, overload

import attrs

from permitry.channels.response import ToolConfirmationResponse
from permitry.errors import ReplayError
from permitry.guard.outcome import Ask, Cause, Permit, Refusal, Silence
from permitry.guard.refusal import already_handled

__all__ = ["APPROVED", "CHANGED", "SILENT", "Run", "answer_of", "ended", "run_guarded", "settle"]

APPROVED = ToolConfirmationResponse(approved=True)
CHANGED = Refusal("The rules have changed, so the call did not run. Make it again if you need it.", Cause.NOT_ASKED)
SILENT = 'nothing else asks here: use a Guard without unmatched="silence"'


def answer_of(value: object) -> ToolConfirmationResponse:
    """Return the answer that a host carries as JSON: an object with the fields of a response, or true, or false.

    Whatever cannot be read is a no.
    """
    if isinstance(value, ToolConfirmationResponse):
        return value
    if isinstance(value, bool):
        return ToolConfirmationResponse(approved=value)
    if isinstance(value, Mapping):
        with suppress(TypeError, ValueError):
            return ToolConfirmationResponse(**value)
    return ToolConfirmationResponse(approved=False, instructions="(The answer could not be read.)")


@overload
def settle(outcome: Permit | Refusal | Silence) -> Permit | Refusal: ...
@overload
def settle(outcome: Permit | Refusal | Ask | Silence) -> Permit | Refusal | Ask: ...
def settle(outcome: Permit | Refusal | Ask | Silence) -> Permit | Refusal | Ask:
    """Return what a guard says about a call, for a host where nothing else asks.

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

    def done(self, *, ok: bool, result: object = None) -> None:
        """Record how it ended, and with what; without this it ended well where no error is raised."""
        ended(self._permit, ok=ok, result=result)


def ended(permit: Permit, *, ok: bool, result: object) -> None:
    """Record how a run ended, and with what; rules cannot look into a result that is neither a text nor JSON."""
    try:
        permit.done(ok=ok, result=result)
    except (TypeError, ValueError, RecursionError):
        permit.done(ok=ok)


@contextmanager
def run_guarded(outcome: Permit | Refusal) -> Iterator[Run | Refusal]:
    """Begin a run, or give the refusal that is shown in its place; at the end record how it ended."""
    if isinstance(outcome, Refusal):
        yield outcome
        return
    try:
        arguments = outcome.take()
    except ReplayError:
        yield Refusal(already_handled(outcome.call), Cause.HANDLED)
        return
    with ExitStack() as stack:
        stack.push(outcome.__exit__)
        yield Run(arguments, outcome)
