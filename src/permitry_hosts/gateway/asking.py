"""How the user of an MCP client is asked about a call, and what counts as an answer."""

import contextvars
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar, TypeAlias

import attrs
import mcp_types as types

from permitry.channels.request import ConfirmationRequestFactory, ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.core.call import ToolCall
from permitry.core.decision import Decision
from permitry.core.spec import ToolSpec
from permitry.core.texts import one_line, visible
from permitry.guard.guard import Guard

__all__ = ["ANSWER", "Asks", "ClientChannel", "FullRequests", "OpenQuestions", "can_ask", "read_answer", "the_form"]

ANSWER = "permitry.answer"
"""The key of the question among the requests for input."""
_LONGEST = 8_000
_FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "approve": {"type": "boolean", "title": "Run this call?"},
        "instructions": {"type": "string", "title": "What the agent should do instead (optional)"},
    },
    "required": ["approve"],
}

Asks: TypeAlias = Callable[[ToolConfirmationRequest], Awaitable[ToolConfirmationResponse | None]]


@attrs.define(eq=False)
class ClientChannel:
    """Asks through the client whose request is handled, or where questions are stored instead."""

    is_stored: ClassVar[bool] = True
    _current: contextvars.ContextVar[Asks | None] = attrs.field(init=False)

    @_current.default
    def _no_one(self) -> contextvars.ContextVar[Asks | None]:
        return contextvars.ContextVar("permitry-gateway-client", default=None)

    def use(self, ask: Asks | None) -> None:
        """Ask by `ask` for the rest of the request that this task handles."""
        self._current.set(ask)

    def ask(self, request: ToolConfirmationRequest) -> None:
        """Return None: a client can only be awaited."""

    async def aask(self, request: ToolConfirmationRequest) -> ToolConfirmationResponse | None:
        """Return the answer of the client's user, or None."""
        ask = self._current.get()
        return None if ask is None else await ask(request)


@attrs.frozen
class FullRequests(ConfirmationRequestFactory):
    """Makes requests that say all there is to say of why they are made: another process shows them."""

    why: Callable[[ToolConfirmationRequest, Decision], tuple[str, ...]] = attrs.field(kw_only=True)

    def create(self, call: ToolCall, decision: Decision, spec: ToolSpec | None = None) -> ToolConfirmationRequest:
        """Return the request for `call`."""
        request = super().create(call, decision, spec)
        why = self.why(request, decision)
        return attrs.evolve(request, reason=" ".join(map(one_line, why))) if why else request


@attrs.define(eq=False)
class OpenQuestions:
    """Bounds how many questions a client has open: one more closes its oldest, and no other client is kept waiting."""

    guard: Guard
    most: int = 50
    _asked: list[tuple[str, str]] = attrs.field(factory=list, init=False)

    def add(self, client: str, pending_id: str) -> None:
        """Note that a client is asked a question."""
        self._asked = [each for each in self._asked if self.guard.ledger.find(each[1]) is not None]
        own = [each for asked, each in self._asked if asked == client]
        if len(own) >= self.most:
            self.guard.withdraw(own[0], f"the client left {self.most} questions open, and this was the oldest")
        self._asked.append((client, pending_id))


def can_ask(capabilities: types.ClientCapabilities | None) -> bool:
    """Return whether a client shows forms to its user; an older one says so without naming a mode."""
    elicitation = None if capabilities is None else capabilities.elicitation
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def the_form(request: ToolConfirmationRequest, *why: str) -> types.ElicitRequestFormParams:
    """Return the question about a call as a form, with the reasons `why` or that of the request.

    Each is on one line, and nothing in it is invisible: no text of a server or a model looks like another part of it.
    """
    arguments = visible(json.dumps(request.call.to_dict(), ensure_ascii=False, indent=2))
    if len(arguments) > _LONGEST:
        half = _LONGEST // 2
        hidden = len(arguments) - 2 * half
        arguments = f"{arguments[:half]}\n... {hidden} CHARACTERS ARE NOT SHOWN ...\n{arguments[-half:]}"
    lines = (f"The agent wants to call {request.tool}.", *(why or (f"Why you are asked: {request.reason}",)))
    message = "\n".join([*map(one_line, lines), arguments])
    return types.ElicitRequestFormParams(message=message, requested_schema=_FORM)


def read_answer(answer: object) -> ToolConfirmationResponse | None:
    """Return what a user answered; None for anything that does not answer this question."""
    if not isinstance(answer, types.ElicitResult):
        return None
    content: Mapping[str, object] = answer.content or {}
    approved, words = content.get("approve"), content.get("instructions", "")
    if answer.action == "decline":
        return ToolConfirmationResponse(approved=False)
    # Compared: a text is as true as another one.
    if answer.action != "accept" or not isinstance(approved, bool) or not isinstance(words, str):
        return None
    return ToolConfirmationResponse(approved=approved, instructions=words)
