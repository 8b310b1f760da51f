"""The table of a record of a program: `[program.NAME]` of a rule file, and what is in `programs.toml`."""

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, ForwardRef

import attrs
from pydantic import AfterValidator, Field, create_model

from permitry.actions.programs.catalogue import shipped
from permitry.actions.programs.entries import Entry, Shape
from permitry.config._checks import FindProblem, StrictTable, check_with, not_blank
from permitry.config.diagnostics import nearest

__all__ = ["ModeTable", "ProgramTable", "WrapperTable"]

_OPTION = re.compile(r"-NUM|--?[^\s=:\[\]@]+(?:\[=\]|={1,3}|:|=[\w-]+)?")


def _option_problem(word: str) -> tuple[str, str] | None:
    groups = shipped().groups
    if word.startswith("@") and word[1:] not in groups:
        return f"unknown group of options `{word}`", nearest(word, [f"@{each}" for each in groups])
    if not word.startswith("@") and _OPTION.fullmatch(word) is None:
        return (
            f"`{word}` is not an option",
            "write `-a` or `--name`, and `-a=` or `--name=` where it takes a value",
        )
    return None


def _operand_problem(word: str) -> tuple[str, str] | None:
    known = {part for each in shipped().words("operands") for part in each.rstrip("*+?").split("/")}
    unknown = next((each for each in re.sub(r"[*+?]$", "", word).split("/") if each not in known), None)
    if unknown is None:
        return None
    return f"`{unknown}` is not what an operand can be", nearest(unknown, known, otherwise=f"known: {_some(known)}")


def _word_problem(field: str) -> FindProblem:
    def problem(word: str) -> tuple[str, str] | None:
        known = shipped().words(field)
        if not word or word in known:
            return None
        return f"unknown word `{word}` for `{field}`", nearest(word, known, otherwise=f"known: {_some(known)}")

    return problem


def _some(words: "frozenset[str] | set[str]") -> str:
    return ", ".join(sorted(words))


def _each(problem: FindProblem) -> Callable[[str], str]:
    return check_with(lambda text: next(filter(None, map(problem, text.split())), None))


_Text = Annotated[str, AfterValidator(not_blank)]
_Options = Annotated[str, AfterValidator(_each(_option_problem))]
_Operands = Annotated[str, AfterValidator(not_blank), AfterValidator(_each(_operand_problem))]
_Count = Annotated[int, Field(ge=0, le=99)]
_OF_FILES = ("format", "here", "makes")
_OF_CODE = ("guess", "input", "language", "open_words", "prints", "runner", "script", "shell")
_KINDS: Mapping[Any, Any] = {
    bool: bool,
    str: str,
    int | None: _Count,
    Mapping[str, str]: dict[str, str],
    **dict.fromkeys((frozenset[str], tuple[str, ...]), str),
}
_FIELDS: Mapping[str, Any] = {
    **{each.name: _KINDS[each.type] for kind in (Shape, Entry) for each in attrs.fields(kind) if each.type in _KINDS},
    **{name: Annotated[str, AfterValidator(check_with(_word_problem(name)))] for name in (*_OF_FILES, *_OF_CODE)},
    "does": Annotated[str, AfterValidator(_each(_word_problem("does")))],
    "operands": _Operands,
}
_OF_SHAPES = frozenset(attrs.fields_dict(Shape))


def _optional(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: (kind | None, None) for name, kind in fields.items()}


ModeTable = create_model(
    "ModeTable",
    __base__=StrictTable,
    __doc__="What the operands are with an option in `when`.",
    **_optional({name: kind for name, kind in _FIELDS.items() if name in _OF_SHAPES}),
)
WrapperTable = create_model(
    "WrapperTable",
    __base__=StrictTable,
    __doc__="How the words behind a sub-command are a command.",
    **_optional({"runs": _Options, "leading": _Count, "optional": _Count, "sets": bool}),
)
ProgramTable = create_model(
    "ProgramTable",
    __base__=StrictTable,
    __doc__="One `[program.NAME]`: what is known about a program.",
    **_optional({name: kind for name, kind in _FIELDS.items() if name not in ("is_known", "when")}),
    **_optional(dict.fromkeys(("options", "more", "runs"), _Options)),
    **_optional({"leading": _Count, "optional": _Count, "sets": bool, "elsewhere": bool, "kinds": dict[str, str]}),
    **_optional({"modes": list[ModeTable], "runs_behind": dict[str, WrapperTable]}),
    **_optional({"commands": ForwardRef("dict[str, ProgramTable]")}),
    examples=(dict[str, _Text] | None, Field(None, description="What commands do; checked at load.")),
)
