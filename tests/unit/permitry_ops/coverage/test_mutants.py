"""The mistakes that a rule could have."""

from tests.unit.permitry_ops.coverage.conftest import PAY, PUSH, rules_of

from permitry.core.decision import Verdict
from permitry_ops.coverage.mutants import Mutant, list_mutants


def mutants_of(text: str) -> dict[str, Mutant]:
    """Return the mutants of the only rule in a text, by what they are."""
    (rule,) = rules_of(text).rules
    return {mutant.what: mutant for mutant in list_mutants(rule)}


def test_a_permission_has_its_mutants() -> None:
    """A tool, a condition or an exception less, and a bound doubled."""
    assert list(mutants_of(PAY)) == [
        "the rule is left out",
        "without tools `send_money`",
        "without tools `refund`",
        "without when.args.amount le 100",
        "when.args.amount le 200 in place of le 100",
        "without `unless`",
    ]


def test_a_block_has_its_mutants() -> None:
    """It may only ask, and each pattern may be lost."""
    mutants = mutants_of(PUSH)
    assert list(mutants) == [
        "the rule is left out",
        "it only asks",
        "without when.command",
        "without when.command `git push *`",
        "without when.command `npm publish *`",
        "without `unless`",
    ]
    asks = mutants["it only asks"]
    assert asks.changed is not None
    assert (asks.changed.effect, asks.scope) == (Verdict.CONFIRM, None)


def test_a_rule_with_a_mistake_replaces_the_rule() -> None:
    """The others stay."""
    rules = rules_of(PUSH + PAY.removeprefix("schema = 1"))
    (push, pay) = rules.rules
    left_out, asks, *_ = list_mutants(push)
    assert left_out.within(rules).rules == (pay,)
    assert left_out.scope is None
    assert asks.within(rules).rules == (asks.changed, pay)


def test_what_limits_patterns_goes_with_them() -> None:
    """And may be lost alone."""
    when = 'when.path = ["a/**"]\nwhen.access = ["read"]\nwhen.mode = "x"'
    mutants = mutants_of(f'schema = 1\n[[rule]]\nid = "r"\neffect = "confirm"\n{when}\n')
    assert list(mutants)[1:] == ["without when.mode x", "without when.path", "without when.access"]
    (without, access) = (mutants[what].scope for what in ("without when.path", "without when.access"))
    assert without is not None
    assert access is not None
    assert (without.when.paths, without.when.accesses) == ((), frozenset())
    assert (len(access.when.paths), access.when.accesses) == (1, frozenset())


def test_bounds_are_doubled_wherever_they_are() -> None:
    """In lengths and elements, of repetitions and budgets; twice nothing is nothing."""
    lines = ("when.args.a = { length = { le = 3 }, any = { gt = 2 } }", "when.args.b = { ge = 0 }", "when.repeat = 2")
    text = "\n".join(("schema = 1", "[[rule]]", 'id = "r"', 'effect = "allow"', 'tools = ["x"]', *lines))
    doubled = [each for each in mutants_of(f"{text}\nbudget = {{ calls = 3 }}\n") if " in place of " in each]
    assert doubled == [
        "when.repeat at least 4 in place of at least 2",
        "when.args.a length (le 6) and any (gt 2) in place of length (le 3) and any (gt 2)",
        "when.args.a length (le 3) and any (gt 4) in place of length (le 3) and any (gt 2)",
    ]
    assert "`budget` is 6" in mutants_of(f"{text}\nbudget = {{ calls = 3 }}\n")


def test_sources_are_widened() -> None:
    """Without the other value, anywhere in the result, and without the call that the user named."""
    sources = '["user", "find#iban@name", "named:look#iban"]'
    text = f'schema = 1\n[[rule]]\nid = "r"\neffect = "allow"\ntools = ["x"]\nwhen.args.a.from = {sources}\n'
    wider = [each for each in mutants_of(text) if " in place of " in each]
    assert wider == [
        "when.args.a from user or find#iban or named:look#iban in place of `find#iban@name`",
        "when.args.a from user or find or named:look#iban in place of `find#iban@name`",
        "when.args.a from user or find#iban@name or look#iban in place of `named:look#iban`",
    ]


def test_an_exception_is_never_one_from_everything() -> None:
    """That is the rule left out; of two exceptions each has its number."""
    unless = 'unless = [{ command = ["git push -n", "git push --dry-run"] }, { mode = "x", agent = "y" }]'
    text = f'schema = 1\n[[rule]]\nid = "r"\neffect = "block"\nwhen.command = "git push *"\n{unless}\n'
    assert [each for each in mutants_of(text) if "unless" in each] == [
        "without `unless` 1",
        "without unless.command `git push -n`",
        "without unless.command `git push --dry-run`",
        "without `unless` 2",
        "without unless.mode x",
        "without unless.agent y",
    ]
