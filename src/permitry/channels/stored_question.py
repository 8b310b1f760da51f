"""Questions that outlast the process that asks, and can be answered from another one."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from permitry.channels.clock import Moment
from permitry.channels.request import EffectLine, SuggestedGrant, ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.decision import Decision, Phase, RuleFailure, Verdict
from permitry.core.json_values import parse_json
from permitry.core.origin import Origin
from permitry.errors import CallError, LedgerError, safe_str
from permitry.store.questions import Row, StoredQuestions

__all__ = ["Row", "StoredQuestion", "answer_text", "answer_to", "row_of"]

_SHOWN = ("path", "preview", "reason", "is_plan")
_DECISION = ("rule_id", "reason", "message", "source", "policy_version")
_CALL = ("name", "arguments", "call_id", "kind", "server", "origin", "repaired", "shown")


@attrs.frozen
class StoredQuestion:
    """A question as the store has it; `request` is what a human is shown, and None once it is closed.

    `approvers` are those who may answer, if not all; `above` the processes that asked, the nearest first, on the
    machine that runs as `deadline.boot`; `arguments` those of the call, without secrets.
    """

    id: str
    session: str
    agent: str
    tool: str
    digest: str
    decision: Decision
    request: ToolConfirmationRequest | None
    spec: str | None
    approvers: tuple[str, ...]
    above: tuple[int, ...]
    asked_at: float
    deadline: Moment
    response: ToolConfirmationResponse | None = None
    answered_by: str | None = None
    is_closed: bool = False
    arguments: Mapping[str, Any] = attrs.field(factory=dict)
    turn: str = ""

    @classmethod
    def of(cls, row: Row) -> "StoredQuestion":
        """Return the question in a row; `LedgerError` for one that is damaged, or of another call."""
        try:
            return cls._read(row)
        except (CallError, LookupError, TypeError, ValueError) as error:
            raise LedgerError(f"the question `{row['id']}` is damaged: {safe_str(error)}") from error

    @classmethod
    def _read(cls, row: Row) -> "StoredQuestion":
        decision, redacted = parse_json(row["decision"]), parse_json(row["redacted"])
        if not isinstance(redacted["arguments"], dict):
            raise TypeError("its arguments are no object")
        response = None
        if row["answer"] is not None:
            response = ToolConfirmationResponse(**parse_json(row["answer"]))
        return cls(
            id=row["id"], session=row["session"], agent=row["agent"], tool=redacted["tool"], digest=row["digest"],
            decision=_decision(decision), request=_request_in(row, redacted), spec=row["spec"],
            approvers=tuple(parse_json(row["approvers"])), above=tuple(parse_json(row["above"])),
            asked_at=row["asked_at"], deadline=Moment(row["deadline"], row["boot"], row["steady"]),
            response=response, answered_by=row["answered_by"],
            is_closed=row["closed_at"] is not None, arguments=redacted["arguments"], turn=redacted.get("turn", ""),
        )  # fmt: skip


def row_of(question: StoredQuestion, request: ToolConfirmationRequest, redact: Callable[[Any], Any]) -> Row:
    """Return the row of a new question."""
    call, deadline = request.call, question.deadline
    kept = {key: getattr(call, key) for key in _CALL} | {"arguments": call.to_dict(), "kind": call.kind.value}
    return {
        **{key: getattr(question, key) for key in ("id", "session", "agent", "digest", "spec", "asked_at")},
        "call_id": call.call_id or "",
        "call": json.dumps(kept),
        "redacted": json.dumps({"tool": call.tool, "arguments": redact(call.to_dict()), "turn": request.turn}),
        "decision": _decision_text(question.decision, redact),
        "shown": json.dumps({
            **{key: getattr(request, key) for key in _SHOWN},
            "grants": [attrs.astuple(each) for each in request.suggested_grants],
            "origins": [attrs.astuple(each, recurse=False) for each in request.origins],
            "effects": [attrs.astuple(each) for each in request.effects], "folder": request.folder,
            "others": [_to_dict(each) for each in request.others],
        }),
        "approvers": json.dumps(question.approvers), "above": json.dumps(question.above),
        "deadline": deadline.wall, "boot": deadline.boot, "steady": deadline.steady,
    }  # fmt: skip


def _to_dict(decision: Decision) -> dict[str, Any]:
    fields = {key: getattr(decision, key) for key in _DECISION}
    fields["errors"] = [attrs.astuple(each) for each in decision.errors]
    return fields | {"verdict": decision.verdict.value, "phase": decision.phase.value}


def _decision_text(decision: Decision, redact: Callable[[Any], Any]) -> str:
    # It is kept when the question is closed, and a reason quotes the call. Its place is from the rule files,
    # and `secrets:7` has the form of a secret.
    return json.dumps(redact(_to_dict(decision)) | {"source": decision.source})


def answer_text(response: ToolConfirmationResponse) -> str:
    """Return an answer as it is kept: the same text for the same answer."""
    fields = attrs.asdict(response, recurse=False)
    fields["arguments"] = None if response.arguments is None else dict(response.arguments)
    if response.result is None:
        # Versions that know of no results read all other answers.
        del fields["result"]
    # Arguments that are not JSON are refused where the call is made of them.
    return json.dumps(fields, sort_keys=True, default=repr)


def answer_to(
    questions: StoredQuestions, question: StoredQuestion, response: ToolConfirmationResponse, *, by: str
) -> None:
    """Answer a question of a store; `LedgerError` when it is not open in time, or not to be answered `by`."""
    if question.approvers and by not in question.approvers:
        raise LedgerError(f"`{by}` may not answer the question `{question.id}`")
    if not questions.answer(question.id, question.digest, answer_text(response), by, Moment.now()):
        raise LedgerError(f"the question `{question.id}` is not open any more")


def _call(data: Any) -> ToolCall:  # noqa: ANN401 -- what was read
    rest = {key: data[key] for key in _CALL[2:]}
    return ToolCall(data["name"], data["arguments"], **{**rest, "kind": PayloadKind(rest["kind"])})


def _request_in(row: Row, redacted: Mapping[str, Any]) -> ToolConfirmationRequest | None:
    if row["call"] is None or row["shown"] is None:
        return None
    shown = parse_json(row["shown"]) | {"turn": redacted.get("turn", "")}
    request = _request(row["id"], _call(parse_json(row["call"])), shown)
    if request.call.digest != row["digest"]:
        raise ValueError("its call is another one")
    return request


def _request(name: str, call: ToolCall, shown: Any) -> ToolConfirmationRequest:  # noqa: ANN401 -- as above
    grants = tuple(SuggestedGrant(*each) for each in shown["grants"])
    # A question of an earlier version has none of these.
    origins = tuple(map(_origin, shown.get("origins", ())))
    effects = tuple(EffectLine(*each) for each in shown.get("effects", ()))
    return ToolConfirmationRequest(
        call, **{key: shown[key] for key in _SHOWN}, suggested_grants=grants, pending_id=name, origins=origins,
        effects=lambda: effects, folder=shown.get("folder"), turn=shown["turn"],
        others=tuple(map(_decision, shown.get("others", ()))),
    )  # fmt: skip


def _origin(data: Any) -> Origin:  # noqa: ANN401 -- as above
    argument, value, places, is_said, words = data
    return Origin(argument, value, tuple(places), is_said, words and (words[0], words[1]))


def _decision(data: Any) -> Decision:  # noqa: ANN401 -- as above
    rest = {key: data[key] for key in _DECISION}
    errors = tuple(RuleFailure(*each) for each in data["errors"])
    return Decision(verdict=Verdict(data["verdict"]), phase=Phase(data["phase"]), errors=errors, **rest)
