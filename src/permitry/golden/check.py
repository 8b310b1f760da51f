"""Decides the calls of golden cases, and compares each decision with the one that is wanted."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
from pydantic import BaseModel

from permitry.channels.request import ConfirmationRequestFactory
from permitry.channels.response import ToolConfirmationResponse
from permitry.config.ruleset import RuleSet
from permitry.core.decision import Decision
from permitry.core.rule import Request
from permitry.errors import CallError, ConfigError, GoldenMismatchError, Problem
from permitry.golden.case import Answer, GoldenCase
from permitry.golden.deciders import Decider, Deciders
from permitry.golden.request import read_request
from permitry.guard.session import Session
from permitry.handler import ToolHandler

__all__ = ["Row", "check_case", "list_differences", "read_rows", "shell_call"]


@attrs.frozen
class Row:
    """One call of a case in its context; `label` goes before what is said of one of several, and else is empty."""

    label: str
    asked: Request


def check_case(path: Path, case: GoldenCase, deciders: Deciders) -> None:
    """Check each call of one case.

    Raises: `GoldenMismatchError` when anything differs, a line for each call; `ConfigError` for bad rules or calls.
    """
    decider = deciders.find(path, case)
    rows = read_rows(path, case, decider.rules)
    checked = [(row, "; ".join(_check_row(case, row.asked, decider))) for row in rows]
    if lines := [f"{row.label}{differences}" for row, differences in checked if differences]:
        raise GoldenMismatchError("\n".join(lines))


def _check_row(case: GoldenCase, asked: Request, decider: Decider) -> Iterator[str]:
    """Yield what differs of one call."""
    decision = decider.policy.decide(asked.call, asked.context, asked.spec)
    yield from list_differences(case, decision)
    if case.request is not None:
        shown = ConfirmationRequestFactory().create(asked.call, decision, asked.spec)
        yield from _differences("request", case.request, {"path": shown.path})
    if case.answer is not None and case.then is not None:
        yield from _differences("then", case.then, _answer(asked, case.answer))


def read_rows(path: Path, case: GoldenCase, rules: RuleSet) -> list[Row]:
    """Return each call of a case in its context. Raises: `ConfigError` for those that are not valid."""
    rows, problems = [], []
    for place, label, call in _list_calls(case):
        if "context" in call:
            hint = "put it into `context` of the case"
            problems.append(Problem(str(path), 0, 0, 0, f"`{place}.context` is not read", hint))
            continue
        try:
            line = {**call, "context": case.context}
            asked = read_request(line, rules.templates)
            rows.append(Row(label, asked))
        except CallError as error:
            problems.append(Problem(str(path), 0, 0, 0, f"{label}{error}"))
    if problems:
        raise ConfigError(problems)
    return rows


def _list_calls(case: GoldenCase) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield the place of each call in its file, what it is called in a failure, and the call."""
    if case.call is not None:
        yield "call", "", case.call
    for at, given in enumerate(case.calls or ()):
        call = shell_call(given) if isinstance(given, str) else given
        yield f"calls.{at}", f"`calls.{at}` {json.dumps(given, ensure_ascii=False)}: ", call


def shell_call(command: str) -> dict[str, Any]:
    """Return the call that a text in `calls` is."""
    return {"name": "run_shell", "arguments": {"command": command}}


def list_differences(case: GoldenCase, decision: Decision) -> list[str]:
    """Return what a decision has that the case does not want, one text a field; empty where it is the wanted one."""
    decided = {
        "verdict": decision.verdict.value,
        "rule": decision.rule_id,
        "phase": decision.phase.value,
        "message": decision.message,
    }
    return _differences("want", case.want, decided)


def _differences(name: str, wanted: BaseModel, got: Mapping[str, Any]) -> list[str]:
    want = wanted.model_dump(exclude_unset=True)
    differing = [key for key in want if got[key] != want[key]]
    return [f"{name}.{key}: want {json.dumps(want[key])}, got {json.dumps(got[key])}" for key in differing]


def _answer(asked: Request, answer: Answer) -> dict[str, Any]:
    session = Session(tool_ignore_list=list(asked.context.tool_ignore_list))
    response = ToolConfirmationResponse(**answer.model_dump())
    runs = ToolHandler(session).process_confirmation(response, asked.call.tool)
    return {
        "runs": runs,
        "message": next(iter(session.messages), None),
        "tool_ignore_list": session.tool_ignore_list,
    }
