"""The rules and calls that every engine is asked about, made up again from a fixed seed.

Of the rules 80 % name a tool exactly, 15 % are globs, and 5 % have a condition: on the mode, on the beginning of a
path, on a number. About one in seven blocks. Some exact rules allow tools that a glob blocks, so that the order of the
phases shows. Every call carries the arguments that conditions ask for: engines differ in what they do when one is
missing.
"""

import random
from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal

import attrs

__all__ = ["KINDS", "BenchCall", "BenchRule", "Condition", "calls", "fresh_calls", "rules"]

Kind = Literal["hit", "miss", "mixed"]

KINDS: Final[tuple[Kind, ...]] = ("hit", "miss", "mixed")
_SERVICES = ("billing", "calendar", "crm", "deploy", "mail", "orders", "storage", "tickets")
_VERBS = ("archive", "create", "export", "merge", "rename", "restore", "sync", "update")
_NOUNS = ("account", "branch", "customer", "invoice", "message", "order", "report", "volume")
_SHAPES = ("team{0:06d}_*", "*_of_team{0:06d}", "team{0:06d}_*_report")
_BLOCKED_EVERY = 7
_COVERED_EVERY = 10


@attrs.frozen
class Condition:
    """What must hold next to the tool: `mode` equals, `path` begins with, or `limit` is at most the operand."""

    what: Literal["mode", "path", "limit"]
    operand: str | int

    def holds(self, call: "BenchCall") -> bool:
        """Return whether the condition holds for a call."""
        if self.what == "mode":
            return call.mode == self.operand
        return call.path.startswith(str(self.operand)) if self.what == "path" else call.limit <= int(self.operand)


@attrs.frozen
class BenchRule:
    """A rule as plain data; `tool` may hold `*`. The engines write it in their own words."""

    id: str
    tool: str
    is_block: bool
    condition: Condition | None = None

    @property
    def is_glob(self) -> bool:
        """Whether the rule is about more than one name."""
        return "*" in self.tool


@attrs.frozen
class BenchCall:
    """A call as plain data."""

    tool: str
    path: str = "/home/user/notes.txt"
    limit: int = 500
    mode: str = "default"


def rules(count: int) -> tuple[BenchRule, ...]:
    """Return `count` rules, the same ones each time."""
    conditional = max(1, round(count * 0.05))
    globs = max(1, round(count * 0.15))
    rest = count - conditional - globs
    found = [_glob(number) for number in range(globs)]
    found += [_with_condition(number) for number in range(conditional)]
    found += [_exact(number, globs) for number in range(rest)]
    random.Random(count).shuffle(found)  # noqa: S311 -- a fixed order that means nothing
    return tuple(found)


def calls(made: Sequence[BenchRule], kind: Kind, count: int) -> tuple[BenchCall, ...]:
    """Return `count` calls: each meets a rule, none does, or a mixture with conditions that just fail."""
    dice = random.Random(f"{kind} {len(made)}")  # noqa: S311 -- the same calls in every run
    if kind == "hit":
        return tuple(_meeting(dice.choice(made), dice) for _ in range(count))
    if kind == "miss":
        return tuple(_stranger(number) for number in range(count))
    conditional = [rule for rule in made if rule.condition is not None]
    found = [_meeting(dice.choice(made), dice) for _ in range(count // 2)]
    found += [_failing(dice.choice(conditional)) for _ in range(count // 10)]
    found += [_stranger(number) for number in range(count - len(found))]
    dice.shuffle(found)
    return tuple(found)


def fresh_calls(made: Sequence[BenchRule], count: int) -> Iterator[BenchCall]:
    """Yield `count` calls of names that were never asked about; every second one falls under a glob."""
    globs = [rule.tool for rule in made if rule.is_glob]
    for number in range(count):
        if number % 2:
            yield BenchCall(globs[number % len(globs)].replace("*", f"fresh{number:06d}"))
        else:
            yield BenchCall(f"{_name(number)}_fresh{number:06d}")


def _name(number: int) -> str:
    service, rest = _SERVICES[number % 8], number // 8
    return f"{service}_{_VERBS[rest % 8]}_{_NOUNS[rest // 8 % 8]}"


def _is_block(number: int) -> bool:
    return number % _BLOCKED_EVERY == _BLOCKED_EVERY - 1


def _glob(number: int) -> BenchRule:
    return BenchRule(f"glob-{number}", _SHAPES[number % 3].format(number), _is_block(number + 6))


def _exact(number: int, globs: int) -> BenchRule:
    tool = f"{_name(number)}_{number:06d}"
    if number % _COVERED_EVERY == 0:
        # A name that a glob rule is about, too: where that one blocks, it must win.
        tool = _glob(number // _COVERED_EVERY % globs).tool.replace("*", tool)
    return BenchRule(f"exact-{number}", tool, _is_block(number))


def _with_condition(number: int) -> BenchRule:
    conditions = (Condition("mode", "review"), Condition("path", f"/srv/app{number:06d}/"), Condition("limit", 100))
    return BenchRule(f"when-{number}", f"{_name(number)}_when{number:06d}", _is_block(number), conditions[number % 3])


def _meeting(rule: BenchRule, dice: random.Random) -> BenchCall:
    call = BenchCall(rule.tool.replace("*", dice.choice(_NOUNS)))
    if rule.condition is None:
        return call
    value = f"{rule.condition.operand}data.csv" if rule.condition.what == "path" else rule.condition.operand
    given: dict[str, Any] = {rule.condition.what: value}
    return attrs.evolve(call, **given)


def _failing(rule: BenchRule) -> BenchCall:
    call = BenchCall(rule.tool)
    if rule.condition is None or rule.condition.holds(call):
        raise AssertionError(f"{rule.id} is not failed by the usual call")
    return call


def _stranger(number: int) -> BenchCall:
    return BenchCall(f"{_name(number)}_unheard{number:06d}")
