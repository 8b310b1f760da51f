"""Options: wherever a command has them, a rule that denies the command denies it."""

import itertools

from hypothesis import example, given, settings
from hypothesis import strategies as st

from permitry.actions.extract import ReadActions
from permitry.conditions.command import ArgvPattern
from permitry.conditions.scope import Conditions, Scope
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.spec import ArgumentRole, ToolSpec
from permitry.rules.configured import ConfiguredRule

_SPEC = ToolSpec("bash", roles={"command": ArgumentRole.COMMAND})
_CONTEXT = AuthContext(workspace="/nowhere/work")
_READER = ReadActions("/nowhere/home")
_ANYTHING = ConfiguredRule("anything", Verdict.ALLOW, 399)

_programs = st.sampled_from(("git push", "kubectl delete", "frobnicate", "gh pr merge", "tar"))
_operands = st.sampled_from(("a", "b.txt", "HEAD~1"))
_options = st.sampled_from(
    (("--force",), ("-f",), ("-rv",), ("-auto-approve",), ("--to", "prod"), ("-n", "prod"), ("--to=prod",))
)
_units = st.lists(_operands.map(lambda word: (word,)) | _options, min_size=1, max_size=4)
_more = st.lists(_operands.map(lambda word: (word,)) | _options, max_size=2)


def _verdict(pattern: str, command: str) -> Verdict:
    rule = ConfiguredRule("denied", Verdict.BLOCK, 150, Scope((), Conditions(commands=(ArgvPattern(pattern),))))
    policy = AuthorizationPolicy((rule, _ANYTHING), reader=_READER)
    return policy.decide(ToolCall("bash", {"command": command}), _CONTEXT, _SPEC).verdict


def _text(program: str, units: list[tuple[str, ...]]) -> str:
    return " ".join((program, *itertools.chain.from_iterable(units)))


def _is_option(unit: tuple[str, ...]) -> bool:
    return unit[0].startswith("-")


def _respelled(unit: tuple[str, ...]) -> tuple[str, ...]:
    """Return an option whose value follows it as one word, and the other way round."""
    if unit[0].startswith("--"):
        return ("=".join(unit),) if len(unit) > 1 else tuple(unit[0].split("="))
    return unit


@settings(max_examples=5 * settings().max_examples)
@given(_programs, _units, st.none() | _more, st.lists(st.integers(0, 9), max_size=8), st.booleans())
@example("git push", [("--force",)], [("origin",), ("main",)], [9], False)
@example("kubectl", [("--to", "prod"), ("a",)], None, [9], False)
@example("kubectl", [("--to=prod",), ("a",)], [("b.txt",)], [9], True)
def test_a_denied_command_stays_denied_wherever_its_options_are(
    program: str,
    units: list[tuple[str, ...]],
    more: list[tuple[str, ...]] | None,
    places: list[int],
    is_respelled: bool,  # noqa: FBT001 -- hypothesis passes by keyword
) -> None:
    """Options may be behind operands, in another order, and their values joined to them: a BLOCK stays a BLOCK."""
    pattern = _text(program, units) + ("" if more is None else " *")
    written = [*units, *(more or ())]
    moved = [unit for unit in written if not _is_option(unit)]
    for unit, place in itertools.zip_longest(filter(_is_option, written), places):
        if unit is not None:
            moved.insert(min(place or 0, len(moved)), _respelled(unit) if is_respelled else unit)
    assert _verdict(pattern, _text(program, written)) is Verdict.BLOCK
    assert _verdict(pattern, _text(program, moved)) is Verdict.BLOCK


@given(_programs, _units)
def test_what_is_behind_two_hyphens_is_no_option(program: str, units: list[tuple[str, ...]]) -> None:
    """An option of a pattern is not met by an operand that looks like it, unless `**` before it may be the hyphens."""
    pattern = f"{program} a --denied *"
    assert _verdict(pattern, f"{program} a b -- --denied") is Verdict.ALLOW
    assert _verdict(f"{program} ** --denied *", f"{_text(program, units)} -- --denied") is Verdict.BLOCK
