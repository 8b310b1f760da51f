"""One golden case: a question, or several, and the decision that each must get."""

from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from permitry.core.json_values import parse_json
from permitry.errors import CallError, ConfigError, Problem

__all__ = ["INDEX", "Answer", "GoldenCase", "case_schema", "find_cases", "index_of", "read_case"]

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
    """A permitry golden case: one question, or several in one context, and the decision that each must get."""

    schema_: str | None = Field(None, alias="$schema", description="This schema, so that editors complete.")
    id: str = Field(description="The name of the file without its ending.")
    why: str = Field(min_length=1, description="What would be lost if this case changed.")
    rules: list[str] | None = Field(
        None, description='Rule files, relative to the case, or "permitry:…"; an empty list: the built-in rules alone.'
    )
    context: dict[str, Any] = Field(default_factory=dict, description="As in the input of `permitry check`.")
    call: dict[str, Any] | None = Field(None, description="As in the input of `permitry check`, without `context`.")
    calls: list[str | dict[str, Any]] | None = Field(
        None, min_length=1, description="In place of `call`: several, each like `call`, or the text of a shell command."
    )
    want: Want
    request: Request | None = Field(None, description="What the human is shown, when that matters.")
    answer: Answer | None = Field(None, description="A human's answer; goes with `then`.")
    then: Then | None = Field(None, description="What follows from the answer.")

    @model_validator(mode="after")
    def _answer_goes_with_then(self) -> Self:
        if (self.answer is None) is not (self.then is None):
            raise ValueError("`answer` and `then` go together")
        return self

    @model_validator(mode="after")
    def _has_calls(self) -> Self:
        if (self.call is None) is (self.calls is None):
            raise ValueError("name either `call` or `calls`")
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
        problems = [Problem(str(path), 0, 0, 0, _describe(each["loc"], each["msg"])) for each in error.errors()]
        raise ConfigError(problems) from error
    except (CallError, OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ConfigError([Problem(str(path), 0, 0, 0, f"it cannot be read: {why}")]) from error
    if case.id != path.stem:
        message = f"the id `{case.id}` is not the name of the file"
        raise ConfigError([Problem(str(path), 0, 0, 0, message, f"rename one to the other: `{path.stem}`")])
    return case


def _describe(place: tuple[int | str, ...], message: str) -> str:
    """Return a mistake with its place in the file; one of the case as a whole has none."""
    text = message.removeprefix("Value error, ")
    return f"`{'.'.join(map(str, place))}`: {text.lower()}" if place else text
