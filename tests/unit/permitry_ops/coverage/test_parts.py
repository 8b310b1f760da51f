"""The parts of a rule, and what the engine says of each."""

from tests.tables import for_each
from tests.unit.permitry_ops.coverage.conftest import PAY, PUSH, rules_of

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Unsure
from permitry_ops.coverage.parts import Part, ask, describe, list_parts, truth_of
from permitry_ops.diff.ways import Truth


def parts_of(text: str) -> dict[str, Part]:
    """Return the parts of the only rule in a text, by their names."""
    (rule,) = rules_of(text).rules
    return {part.name: part for part in list_parts(rule)}


def test_each_selector_condition_and_pattern_is_a_part() -> None:
    """Named as in a rule file; the other side of a selector shows nothing."""
    parts = parts_of(PAY)
    assert list(parts) == ["tools `send_money`", "tools `refund`", "when.args.amount le 100", "unless.mode review"]
    assert [part.can_fail for part in parts.values()] == [False, False, True, True]
    names = ["tools `@shell`", "when.command `git push *`", "when.command `npm publish *`"]
    assert list(parts_of(PUSH)) == [*names, "unless.command `git push --dry-run`"]


def test_an_exception_is_read_the_other_way() -> None:
    """One of a permission takes back what it may be about; one of a restriction must be certain."""
    assert [part.is_certain for part in parts_of(PAY).values()] == [True, True, True, False]
    assert [part.is_certain for part in parts_of(PUSH).values()] == [False, False, False, True]


@for_each(
    ("command", "is_certain", "truth"),
    [
        ("git push", True, Truth.TRUE),
        ("/usr/bin/git push", True, Truth.FALSE),
        ("/usr/bin/git push", False, Truth.TRUE),
        ("git status; git push", True, Truth.TRUE),
        ("git status", False, Truth.FALSE),
        ("$x push", False, Truth.UNKNOWN),
    ],
)
def test_the_engine_says_whether_a_part_holds(command: str, truth: Truth, *, is_certain: bool) -> None:
    """As it would match in a permission, or in a restriction."""
    rules = rules_of(PUSH)
    request = rules.policy().request(ToolCall("run_shell", {"command": command}), AuthContext())
    assert ask(parts_of(PUSH)["when.command `git push *`"].scope, request, is_certain=is_certain) is truth


def test_what_cannot_be_evaluated_is_not_known() -> None:
    """An argument of another type neither holds nor fails."""
    request = rules_of(PAY).policy().request(ToolCall("send_money", {"amount": "a"}), AuthContext())
    assert ask(parts_of(PAY)["when.args.amount le 100"].scope, request, is_certain=True) is Truth.UNKNOWN


def test_a_condition_is_described_with_what_it_asks_for() -> None:
    """Where there is something to say."""
    (rule,) = rules_of(PAY).rules
    assert describe(rule.scope.when.plain[0], "when") == "when.args.amount le 100"
    (mode,) = rule.scope.unless[0].plain
    assert describe(mode, "unless") == "unless.mode review"


def test_an_answer_of_the_engine_is_a_truth() -> None:
    """That a rule only may match is none."""
    answers = (True, False, Unsure("why", "does"))
    assert [truth_of(each) for each in answers] == [Truth.TRUE, Truth.FALSE, Truth.UNKNOWN]
