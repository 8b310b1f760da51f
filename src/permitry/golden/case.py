"""One golden case: a question, and the decision it must get."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from permitry.config.catalogue import PREFIX
from permitry.config.load import RuleSet, load_rules
from permitry.channels.request import ConfirmationRequestFactory
from permitry.channels.response import ToolConfirmationResponse
from permitry.core.decision import Decision
from permitry.core.json_values import parse_json
from permitry.core.rule import Request as AskedRequest
from permitry.errors import CallError, ConfigError, GoldenMismatchError, Problem
from permitry.handler import ToolHandler
from permitry.golden.request import read_request
from permitry.guard.session import Session

__all__ = [
    "INDEX", "GoldenCase", "case_schema", "check_case", "find_cases", "find_rules", "index_of",
    "list_differences", "read_call", "read_case",
]  # fmt: skip

INDEX = "index.txt"
"""The file that lists the cases of a folder: one id a line, sorted."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Want(_Part):
    """The decision, compared exactly; a `message` that is left out is not compared."""

    verdict: Literal["allow", "confirm", "block"]
    rule: str | None
    phase: Literal["override", "restriction", "permission", "default"]
    message: str | None = Field(None, description="What the model is shown; not compared where it is left out.")


class Request(_Part):
    """What the human is shown, as far as it is compared."""

    path: str | None


class Answer(_Part):
    """The human's answer, as in `ToolConfirmationResponse`."""

    approved: bool
    skip_future: bool = False
    abort: bool = False
    instructions: str = ""


class Then(_Part):
    """What follows from the answer."""

    runs: bool
    message: str | None = Field(description="What the model is shown when the call does not run.")
    tool_ignore_list: list[str] = Field(description="The ignore list afterwards.")


class GoldenCase(_Part):
    """A permitry golden case: one question and the decision it must get."""

    schema_: str | None = Field(None, alias="$schema", description="This schema, so that editors complete.")
    id: str = Field(description="The name of the file without its ending.")
    why: str = Field(min_length=1, description="What would be lost if this case changed.")
    rules: list[str] = Field(default_factory=list, description='Rule files, relative to the case, or "permitry:…".')
    context: dict[str, Any] = Field(default_factory=dict, description="As in the input of `permitry check`.")
    call: dict[str, Any] = Field(description="As in the input of `permitry check`, without `context`.")
    want: Want
    request: Request | None = Field(None, description="What the human is shown, when that matters.")
    answer: Answer | None = Field(None, description="A human's answer; goes with `then`.")
    then: Then | None = Field(None, description="What follows from the answer.")

    @model_validator(mode="after")
    def _answer_goes_with_then(self) -> Self:
        if (self.answer is None) is not (self.then is None):
            raise ValueError("`answer` and `then` go together")
        return self


def case_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a golden case."""
    schema = GoldenCase.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "permitry golden case"}


def find_cases(folder: Path) -> list[Path]:
    """Return the case files of a folder, in the order of its index. Raises: `ConfigError`."""
    index = folder / INDEX
    listed = index.read_text(encoding="utf-8", errors="replace").splitlines() if index.is_file() else None
    present = {path.stem for path in folder.glob("*.json")}
    if listed is None:
        hint = f"`permitry test --write-index {folder}` writes it"
        raise ConfigError([Problem(str(folder), 0, 0, 0, f"the folder has no `{INDEX}`", hint)])
    problems = [_problem(index, line, name, present, listed) for line, name in enumerate(listed, 1)]
    unused = [
        Problem(str(folder / f"{name}.json"), 0, 0, 0, "the case is not in the index", f"add `{name}` to {index}")
        for name in sorted(present - set(listed))
    ]
    if found := [*filter(None, problems), *unused]:
        raise ConfigError(found)
    return [folder / f"{name}.json" for name in listed]


def index_of(folder: Path) -> str:
    """Return the text the folder's index must have."""
    return "".join(f"{name}\n" for name in sorted(path.stem for path in folder.glob("*.json")))


def _problem(index: Path, line: int, name: str, present: set[str], listed: list[str]) -> Problem | None:
    message, hint = "", ""
    if name not in present:
        message, hint = f"the case `{name}` is missing", f"write {name}.json, or take the line out"
    elif line > 1 and listed[line - 2] >= name:
        message, hint = f"`{name}` is out of order or listed twice", "the index is sorted"
    return Problem(str(index), line, 1, len(name), message, hint, name) if message else None


def read_case(path: Path) -> GoldenCase:
    """Return the case of a file. Raises: `ConfigError` when it is not one, or has another name."""
    try:
        case = GoldenCase.model_validate(parse_json(path.read_text(encoding="utf-8")))
    except ValidationError as error:
        problems = [
            Problem(str(path), 0, 0, 0, f"`{'.'.join(map(str, each['loc']))}`: {each['msg'].lower()}")
            for each in error.errors()
        ]
        raise ConfigError(problems) from error
    except (CallError, OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ConfigError([Problem(str(path), 0, 0, 0, f"it cannot be read: {why}")]) from error
    if case.id != path.stem:
        message = f"the id `{case.id}` is not the name of the file"
        raise ConfigError([Problem(str(path), 0, 0, 0, message, f"rename one to the other: `{path.stem}`")])
    return case


def check_case(path: Path, case: GoldenCase, rules: RuleSet | None = None) -> None:
    """Check one case against its own rule files, or against `rules` when it names none.

    Raises: `GoldenMismatchError` when anything differs; `ConfigError` for bad rules or calls.
    """
    rules = find_rules(path, case, rules)
    request = read_call(path, case, rules)
    decision = rules.policy().decide(request.call, request.context, request.spec)
    differences = list_differences(case, decision)
    if case.request is not None:
        asked = ConfirmationRequestFactory().create(request.call, decision, request.spec)
        differences += _differences("request", case.request, {"path": asked.path})
    if case.answer is not None and case.then is not None:
        differences += _differences("then", case.then, _answer(request, case.answer))
    if differences:
        raise GoldenMismatchError("; ".join(differences))


def find_rules(path: Path, case: GoldenCase, rules: RuleSet | None = None) -> RuleSet:
    """Return the rules that decide a case: its own, or `rules` when it names none. Raises: `ConfigError`."""
    if rules is not None and not case.rules:
        return rules
    return load_rules([name if name.startswith(PREFIX) else path.parent / name for name in case.rules])


def read_call(path: Path, case: GoldenCase, rules: RuleSet) -> AskedRequest:
    """Return the call of a case in its context. Raises: `ConfigError` for one that is not valid."""
    if "context" in case.call:
        hint = "put it into `context`, next to `call`"
        raise ConfigError([Problem(str(path), 0, 0, 0, "`call.context` is not read", hint)])
    try:
        return read_request({**case.call, "context": case.context}, rules.templates)
    except CallError as error:
        raise ConfigError([Problem(str(path), 0, 0, 0, str(error))]) from error


def list_differences(case: GoldenCase, decision: Decision) -> list[str]:
    """Return what a decision has that the case does not want, one text a field; empty where it is the wanted one."""
    decided = {"verdict": decision.verdict.value, "rule": decision.rule_id, "phase": decision.phase.value}
    return _differences("want", case.want, {**decided, "message": decision.message})


def _differences(name: str, wanted: BaseModel, got: Mapping[str, Any]) -> list[str]:
    want = wanted.model_dump(exclude_unset=True)
    differing = [key for key in want if got[key] != want[key]]
    return [f"{name}.{key}: want {json.dumps(want[key])}, got {json.dumps(got[key])}" for key in differing]


def _answer(request: AskedRequest, answer: Answer) -> dict[str, Any]:
    session = Session(tool_ignore_list=list(request.context.tool_ignore_list))
    runs = ToolHandler(session).process_confirmation(
        ToolConfirmationResponse(**answer.model_dump()), request.call.tool
    )
    return {"runs": runs, "message": next(iter(session.messages), None), "tool_ignore_list": session.tool_ignore_list}
