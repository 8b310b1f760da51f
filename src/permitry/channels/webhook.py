"""Questions posted to a web address, and answered there; signed in both directions."""

import json
import secrets
import time
from collections.abc import Callable, Mapping
from concurrent.futures import wait
from typing import Any

import attrs

from permitry.audit.redaction import redacted
from permitry.channels.channel import ConfirmationChannel, check_channel
from permitry.channels.http_post import Reply, host_of, post
from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.channels.seal import Seal, SeenSignatures
from permitry.channels.stored_question import answer_text
from permitry.core.json_values import parse_json
from permitry.dispatch.waiting import start
from permitry.errors import CallError, ChannelError, safe_str

__all__ = ["SeenSignatures", "WebhookChannel", "sign", "verify"]

_QUESTION, _ANSWER = "permitry.question", "permitry.answer"
_MOST_ASKED = 4 * 1024 * 1024
_MOST_ANSWERED = 64 * 1024
_OK, _ACCEPTED = 200, 202
_AGAIN = frozenset({408, 429, 500, 502, 503, 504})
_LONGEST_PAUSE = 30.0


def _check_url(_: object, __: object, url: str) -> None:
    host_of(url)


def _seal(secret: str | Seal) -> Seal:
    return secret if isinstance(secret, Seal) else Seal(secret)


@attrs.frozen
class WebhookChannel:
    """Asks by posting each question to a web address; all within `wait` seconds.

    The reply is the answer, signed for this question; or 202, and the channel `then` has it. What fails is
    posted again with the same id, `attempts` times, after `pause` seconds, then twice as many. `redact` leaves
    secrets out of a question; no edit is taken to a call that was shown without some. Raises: `ValueError` for
    an address that is neither `https://` nor of this machine, and for a weak secret.
    """

    url: str = attrs.field(validator=_check_url)
    seal: Seal = attrs.field(alias="secret", converter=_seal)
    then: ConfirmationChannel | None = attrs.field(default=None)
    wait: float = attrs.field(default=300.0, kw_only=True)
    attempts: int = attrs.field(default=5, kw_only=True, validator=attrs.validators.ge(1))
    pause: float = attrs.field(default=1.0, kw_only=True)
    redact: Callable[[Any], Any] = attrs.field(default=redacted, kw_only=True, repr=False)
    _seen: SeenSignatures = attrs.field(factory=SeenSignatures, init=False, repr=False)

    @then.validator
    def _check_then(self, attribute: object, then: object) -> None:
        if then is not None:
            check_channel(self, attribute, then)

    def ask(self, request: ToolConfirmationRequest) -> ToolConfirmationResponse | None:
        """Return the answer; `ChannelError` where there is none, or none that can be trusted."""
        until = time.monotonic() + self.wait
        # A server that sends a byte now and then keeps every other time-out from ending this.
        work = start(lambda: self._ask(request, until))
        wait([work], self.wait)
        if not work.done():
            raise ChannelError(f"`{host_of(self.url)}` has not answered within {self.wait:g} seconds")
        if (answer := work.result()) is not None:
            return answer
        if self.then is None:
            raise ChannelError(f"`{host_of(self.url)}` has taken the question, and nothing waits for an answer")
        return self.then.ask(request)

    def _ask(self, request: ToolConfirmationRequest, until: float) -> ToolConfirmationResponse | None:
        """Return the answer, or None where it is given elsewhere."""
        name = request.pending_id or secrets.token_hex(8)
        shown = self.redact(self._show(request))
        body = json.dumps({"type": _QUESTION, "id": name, **shown, "digest": request.call.digest}).encode()
        if len(body) > _MOST_ASKED:
            raise ChannelError(f"the question has more than {_MOST_ASKED:,} bytes")
        reply = self._post(name, body, until)
        if reply.status == _ACCEPTED:
            return None
        if reply.status != _OK:
            raise ChannelError(f"`{host_of(self.url)}` did not take the question: {reply.status} {reply.reason}")
        return self._answer(reply, name, request)

    def _show(self, request: ToolConfirmationRequest) -> dict[str, Any]:
        """Return what is shown of a call, with origins that have no secrets."""
        shown = request.to_dict()
        for origin in shown["origins"]:
            [origin["value"]] = self.redact({origin["argument"]: origin["value"]}).values()
        return shown

    def _post(self, name: str, body: bytes, until: float) -> Reply:
        pause, why = self.pause, ""
        for attempt in range(1, self.attempts + 1):
            left = until - time.monotonic()
            try:
                reply = post(
                    self.url, body, self.seal.headers(name, body), seconds=max(left, 0.001), most=_MOST_ANSWERED
                )
            except OSError as error:
                why = safe_str(getattr(error, "reason", error))
            except ValueError as error:
                raise ChannelError(str(error)) from error
            else:
                if reply.status not in _AGAIN:
                    return reply
                why = f"{reply.status} {reply.reason}"
            if attempt == self.attempts or time.monotonic() + pause >= until:
                break
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        raise ChannelError(f"`{host_of(self.url)}` could not be asked, {attempt} times: {why}")

    def _answer(self, reply: Reply, name: str, request: ToolConfirmationRequest) -> ToolConfirmationResponse:
        """Return the answer in a reply; `ChannelError` for one unsigned, or to another call."""
        answered = self.seal.open(reply.headers, reply.body, self._seen)
        data = _read(reply.body, _ANSWER)
        # INVARIANT: law 5. An answer is for one question about one call.
        if answered != name or data.pop("digest", None) != request.call.digest:
            raise ChannelError("it answers another question")
        response = _response(data)
        arguments = request.call.to_dict()
        if response.arguments is not None and self.redact(arguments) != arguments:
            raise ChannelError("it edits arguments that were not shown in full")
        return response


def verify(headers: Mapping[str, str], body: bytes, secret: str, seen: SeenSignatures | None = None) -> dict[str, Any]:
    """Return the question in a request that a `WebhookChannel` has signed; each once, with one `seen` for all.

    Its `id` is the same when a question is posted again: answer it as before. Raises: `ChannelError` for what is
    not signed, late, or received before; `ValueError` for a weak secret.
    """
    name = Seal(secret).open(headers, body, SeenSignatures() if seen is None else seen)
    question = _read(body, _QUESTION)
    if question.get("id") != name:
        raise ChannelError("its id is not the one that is signed")
    return question


def sign(response: ToolConfirmationResponse, question: Mapping[str, Any], secret: str) -> tuple[dict[str, str], bytes]:
    """Return the headers and the body of the reply that answers a question."""
    body = json.dumps({"type": _ANSWER, "digest": question["digest"], **json.loads(answer_text(response))}).encode()
    return Seal(secret).headers(question["id"], body), body


def _read(body: bytes, kind: str) -> dict[str, Any]:
    try:
        data = parse_json(body.decode())
    except (CallError, ValueError) as error:
        raise ChannelError(f"it cannot be read: {safe_str(error)}") from error
    # What is asked is never taken for an answer to it, though both sides sign with one secret.
    if not isinstance(data, dict) or data.pop("type", None) != kind:
        raise ChannelError(f"it is not a `{kind}`")
    return data


def _response(data: Mapping[str, Any]) -> ToolConfirmationResponse:
    try:
        return ToolConfirmationResponse(**data)
    except (TypeError, ValueError) as error:
        raise ChannelError(f"it is not an answer: {safe_str(error)}") from error
