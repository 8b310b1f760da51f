"""Rules of peers as rule files of ours, and the verdicts of both compared."""

import itertools
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

Case: TypeAlias = dict[str, Any]
Rule: TypeAlias = dict[str, Any]
Tools: TypeAlias = Mapping[str, Mapping[str, object]]
Answer: TypeAlias = tuple[str, tuple[Verdict, Verdict]]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "peers-cases.md"


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
    policy = attrs.evolve(load_rules(files).policy(), reader=ReadActions(home, has_disk=has_disk))
    found = AuthContext(**{"workspace": f"{home}/project", **context})
    decided = policy.decide(call, found).verdict
    return Verdict.BLOCK if decided is Verdict.CONFIRM and not found.attended else decided


# Ordered rules ------------------------------------------------------------------------------------


class Ordered(NamedTuple):
    """A rule of a peer in whose list the first match decides.

    `applies` says whether the rule is for the tool and the session of the call: where it is, a
    later rule is only for what this one leaves over. A question that is `firm` is asked of what
    only reads as well.
    """

    effect: str
    selectors: tuple[str, ...]
    when: Rule
    applies: bool = True
    firm: bool = True


def two_phases(rules: Sequence[Ordered]) -> list[Rule]:
    """Return a list of rules as restrictions with exceptions, and permissions in their order."""
    phased = (_in_phase(at, rule, rules[:at]) for at, rule in enumerate(rules))
    return list(itertools.chain.from_iterable(phased))


def _in_phase(number: int, rule: Ordered, earlier: Sequence[Ordered]) -> Iterator[Rule]:
    found = {"effect": rule.effect, "tools": list(rule.selectors), "when": rule.when}
    if rule.effect == "allow" or (rule.effect == "confirm" and not rule.firm):
        yield {**found, "priority": 200 + number}
        return
    first = [each for each in earlier if each.applies and each.effect not in (rule.effect, "block")]
    if rule.applies and any(not _condition(each) for each in first):
        return  # An earlier rule decides every call that this one is for.
    yield {**found, "unless": _either([_condition(each) for each in first]) if rule.applies else {}}


def _condition(rule: Ordered) -> Rule:
    return {key: value for key, value in rule.when.items() if key != "mode"}


def _either(conditions: Sequence[Rule]) -> Rule:
    """Return what holds where one of the conditions holds, as far as one table can say so.

    Where it cannot, nothing is excepted: the restriction is wider.
    """
    entries = [(kind, entry) for condition in conditions for kind, entry in condition.items()]
    kinds = {(kind, *(entry if kind == "args" else ())) for kind, entry in entries}
    if len(kinds) != 1 or any(len(each) > 1 for each in conditions):
        return {}
    ((kind, *names),) = kinds
    if not names:
        return {kind: [entry for each in conditions for entry in each[kind]]}
    patterns = [each[kind][names[0]].get("regex") for each in conditions]
    if len(names) > 1 or None in patterns:
        return {}
    return {kind: {names[0]: {"regex": "|".join(f"(?:{pattern})" for pattern in patterns)}}}
