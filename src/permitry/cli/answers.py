"""Answers written down beforehand, one JSON object a line, each bound to one call."""

from collections.abc import Iterable, Mapping

import attrs

from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.core.json_values import parse_json
from permitry.errors import CallError, ConfigError, Problem

__all__ = ["AnswersChannel", "read_answers"]

_RESPONSE_KEYS = frozenset(field.name for field in attrs.fields(ToolConfirmationResponse))
_BINDING_KEYS = frozenset({"call_id", "digest", "tool"})


@attrs.frozen
class _Answer:
    line: int
    binding: Mapping[str, str]
    response: ToolConfirmationResponse

    def is_for(self, request: ToolConfirmationRequest) -> bool:
        asked = {"call_id": request.call.call_id, "digest": request.call.digest, "tool": request.tool}
        return all(asked[key] == value for key, value in self.binding.items())


@attrs.define
class AnswersChannel:
    """Answers each question with the first unused answer bound to it, or not at all."""

    _answers: list[_Answer]

    def ask(self, request: ToolConfirmationRequest) -> ToolConfirmationResponse | None:
        """Return the answer to `request` and use it up, or None."""
        answer = next((answer for answer in self._answers if answer.is_for(request)), None)
        if answer is None:
            return None
        self._answers.remove(answer)
        return answer.response

    @property
    def spare_lines(self) -> tuple[int, ...]:
        """The lines of the answers no question was asked for."""
        return tuple(answer.line for answer in self._answers)


def read_answers(name: str, lines: Iterable[str]) -> AnswersChannel:
    """Return the answers of a file, or raise `ConfigError` with the problem of every bad line.

    A line holds the fields of `ToolConfirmationResponse` and what binds it to a call: an approval the `digest`, or
    `call_id`, `tool` and the `arguments` to run it with; a rejection `digest` or `call_id`. The model chooses call
    ids, so an id alone never lets anything run.
    """
    answers, problems = [], []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            answers.append(_answer(number, parse_json(line)))
        except (TypeError, ValueError) as error:
            hint = "`permitry run --unattended queue` prints the line that approves a call"
            problems.append(Problem(name, number, 1, len(line.rstrip()), str(error.args[0]), hint, line.rstrip()))
    if problems:
        raise ConfigError(problems)
    return AnswersChannel(answers)


def _answer(number: int, data: object) -> _Answer:
    if not isinstance(data, dict):
        raise CallError("an answer is a JSON object")
    if unknown := sorted(data.keys() - _RESPONSE_KEYS - _BINDING_KEYS):
        raise CallError(f"unknown key `{unknown[0]}`; known: {', '.join(sorted(_RESPONSE_KEYS | _BINDING_KEYS))}")
    binding = {key: data[key] for key in _BINDING_KEYS if key in data}
    if not all(isinstance(value, str) for value in binding.values()):
        raise CallError("`call_id`, `digest` and `tool` are strings")
    if "approved" not in data:
        raise CallError("the key `approved` is missing")
    arguments = data.get("arguments")
    if arguments is not None and not isinstance(arguments, dict):
        raise CallError("`arguments` must be an object")
    if data["approved"] is True and "digest" not in binding and (arguments is None or "tool" not in binding):
        raise CallError("an approval is bound to one call: `digest` is missing (or `call_id`, `tool` and `arguments`)")
    if not binding.keys() & {"call_id", "digest"}:
        raise CallError("an answer is bound to a call: `call_id` or `digest` is missing")
    fields = {key: value for key, value in data.items() if key in _RESPONSE_KEYS}
    return _Answer(number, binding, ToolConfirmationResponse(**fields))
