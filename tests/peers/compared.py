"""Rules of peers as rule files of ours, and the verdicts of both compared."""

import functools
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import attrs

from permitry.actions.extract import ReadActions
from permitry.config.load import load_rules
from permitry.config.origin import Origin
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy

Case: TypeAlias = dict[str, Any]
Rule: TypeAlias = dict[str, Any]
Tools: TypeAlias = Mapping[str, Mapping[str, object]]
Answer: TypeAlias = tuple[str, tuple[Verdict, Verdict]]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "comparison.md"


class Figures(NamedTuple):
    """How many verdicts are those of the peer, and the cases in which ours is another."""

    same: int
    stricter: set[str]
    looser: set[str]


def compare(answers: Iterable[Answer]) -> Figures:
    """Return the figures for cases, each with a peer's verdict and ours."""
    verdicts = dict(answers)
    stricter = {name for name, (theirs, ours) in verdicts.items() if ours > theirs}
    looser = {name for name, (theirs, ours) in verdicts.items() if ours < theirs}
    return Figures(len(verdicts) - len(stricter) - len(looser), stricter, looser)


def check_page(what: str, figures: Figures) -> None:
    """Print the figures for the one who runs the test with `-s`, and find them in the docs."""
    same, stricter, looser = figures.same, len(figures.stricter), len(figures.looser)
    row = f"| {what} | {same + stricter + looser} | {same} | {stricter} | {looser} |"
    sys.stdout.write(f"\n| cases | all | same | stricter | looser |\n{row}\n")
    assert row in PAGE.read_text(encoding="utf-8").splitlines()


# Rule files ---------------------------------------------------------------------------------------


def _key(name: str) -> str:
    """Return a key as TOML; the parts of a dotted one are nested tables."""
    return name if re.fullmatch(r"[\w.-]+", name) else json.dumps(name)


def _value(value: object) -> str:
    """Return a value as TOML; a table is written in one line."""
    if isinstance(value, Mapping):
        entries = (f"{_key(key)} = {_value(each)}" for key, each in value.items())
        return "{ " + ", ".join(entries) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _lines(rules: Iterable[Mapping[str, object]], tools: Tools) -> Iterator[str]:
    yield "schema = 1"
    for name, declared in tools.items():
        yield f"[tool.{json.dumps(name)}]"
        yield from (f"{key} = {_value(value)}" for key, value in declared.items())
    for number, rule in enumerate(rules):
        yield from ("[[rule]]", f'id = "rule-{number}"')
        yield from (f"{key} = {_value(value)}" for key, value in rule.items() if value != {})


def rule_file(rules: Iterable[Mapping[str, object]], tools: Tools = {}) -> str:  # noqa: B006 -- only read
    """Return a rule file of ours."""
    return "\n".join(_lines(rules, tools)) + "\n"


def verdict(
    files: Sequence[Origin | Path],
    call: ToolCall,
    *,
    home: str = "/home/ann",
    has_disk: bool = False,
    **context: Any,  # noqa: ANN401 -- the fields of a context
) -> Verdict:
    """Return what rule files and the built-in rules say.

    With no user to ask, a question is a refusal.
    """
    origins = tuple(Origin(str(file)) if isinstance(file, Path) else file for file in files)
    texts = tuple(Path(origin.name).read_text(encoding="utf-8") for origin in origins)
    policy = attrs.evolve(_policy(origins, texts), reader=ReadActions(home, has_disk=has_disk))
    found = AuthContext(**{"workspace": f"{home}/project", **context})
    decided = policy.decide(call, found).verdict
    return Verdict.BLOCK if decided is Verdict.CONFIRM and not found.attended else decided


@functools.cache
def _policy(origins: tuple[Origin, ...], _texts: tuple[str, ...]) -> AuthorizationPolicy:
    """Return the policy of rule files with these texts, which many cases have in common."""
    return load_rules(origins).policy()
