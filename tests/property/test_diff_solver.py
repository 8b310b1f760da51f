"""A second opinion on `permitry diff`: Z3 looks for a call that is permitted more, by what the pages say of rules.

Nothing of the product is in what it solves: rules on arguments are written out as formulas over texts and numbers, with
three truth values. What `diff` proves, Z3 must not refute; what `diff` finds, Z3 must find as well.
"""

import random
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence

import attrs
import pytest
from tests.property.test_diff import Rule, about_arguments, changed, make_rule, text_of
from tests.unit.permitry_ops.diff.conftest import side_of

from permitry_ops.diff.search import Search

Z3 = shutil.which("z3")
SECONDS = 20
REGEXES = {
    "a.*": '(re.++ (str.to_re "a") re.all)',
    "[ab]+": '(re.+ (re.union (str.to_re "a") (str.to_re "b")))',
    "tmp_[a-z]": '(re.++ (str.to_re "tmp_") (re.range "a" "z"))',
    "(prod|x).*": '(re.++ (re.union (str.to_re "prod") (str.to_re "x")) re.all)',
}
SIGNS = {"le": "<=", "ge": ">=", "lt": "<", "gt": ">"}
IGNORED = 310
"""The priority of the permission for tools that the user does not want to be asked about."""
# The kind of an argument says whether it is a text, a number, or neither: absent, null, a list.
HEAD = """
(declare-const tool String) (declare-const mode String) (declare-const is_ignored Bool)
(declare-const s String) (declare-const n Real) (declare-const kind_s Int) (declare-const kind_n Int)
(assert (str.in_re tool (re.+ (re.union (re.range "a" "z") (str.to_re "_")))))
(assert (not (str.contains tool "__")))
(assert (or (= mode "default") (= mode "review") (= mode "other")))
"""
TEXT, NUMBER = 1, 2


@attrs.frozen
class Truth:
    """When something is certainly true, and when certainly false, as formulas."""

    yes: str
    no: str

    @classmethod
    def known(cls, formula: str) -> "Truth":
        """Return what is always true or false."""
        return cls(formula, f"(not {formula})")


def all_of(parts: Sequence[str]) -> str:
    """Return that all formulas hold."""
    return f"(and true {' '.join(parts)})"


def any_of(parts: Sequence[str]) -> str:
    """Return that some formula holds."""
    return f"(or false {' '.join(parts)})"


def fits(name: str, glob: str) -> str:
    """Return that a text fits a pattern of names, or of texts."""
    signs = {"*": "re.all", "?": "re.allchar"}
    parts = [signs.get(sign, f'(str.to_re "{sign}")') for sign in glob]
    return f'(str.in_re {name} (re.++ (str.to_re "") (str.to_re "") {" ".join(parts)}))'


def of_text(operator: str, operand: str | Sequence[str]) -> str:
    """Return what a condition says of a text."""
    words = [operand] if isinstance(operand, str) else operand
    match operator:
        case "glob":
            return any_of([fits("s", each) for each in words])
        case "in":
            return any_of([f'(= s "{each}")' for each in words])
        case "prefix":
            return any_of([f'(str.prefixof "{each}" s)' for each in words])
        case "ne":
            return f'(not (= s "{words[0]}"))'
        case _:
            return f"(str.in_re s {REGEXES[words[0]]})"


def of_condition(key: str, value: object) -> Truth:
    """Return when a condition holds: of an argument, only where that is of the type that it is about."""
    if not isinstance(value, dict):
        return Truth.known(f'(= mode "{value}")')
    ((operator, operand),) = value.items()
    name, kind = key.removeprefix("args."), TEXT
    if name == "s":
        says = of_text(operator, operand)
    else:
        kind = NUMBER
        equal = any_of([f"(= n {each})" for each in operand]) if operator == "in" else ""
        says = equal or f"({SIGNS[operator]} n {operand})"
    is_kind = f"(= kind_{name} {kind})"
    return Truth(f"(and {is_kind} {says})", f"(and {is_kind} (not {says}))")


def match(rule: Rule) -> Truth:
    """Return when a rule matches."""
    when = [of_condition(*each) for each in rule["when"].items()]
    unless = [of_condition(*each) for each in rule["unless"].items()]
    tools = any_of([fits("tool", each) for each in rule["tools"] or ["*"]])
    lifted = Truth(all_of([each.yes for each in unless]), any_of([each.no for each in unless]))
    if not unless:
        lifted = Truth("false", "true")
    yes = all_of([tools, *(each.yes for each in when), lifted.no])
    return Truth(yes, any_of([f"(not {tools})", *(each.no for each in when), lifted.yes]))


def verdict(rules: Sequence[Rule], *, blocks: bool) -> str:
    """Return what is decided: 0 allow, 1 confirm, 2 block. A restriction counts unless it certainly does not match."""
    effects: dict[str, list[str]] = {"block": [], "confirm": []}
    later = [(IGNORED, True, "is_ignored", 0)]
    for rule in rules:
        truth, effect = match(rule), rule["effect"]
        number = rule.get("priority", {"allow": 250, "confirm": 160, "block": 150}[effect])
        if number < 200:
            effects[effect].append(f"(not {truth.no})")
        else:
            is_allowed = effect == "allow"
            later.append((number, is_allowed, truth.yes if is_allowed else f"(not {truth.no})", int(not is_allowed)))
    found = "2" if blocks else "1"
    for _, _, condition, value in sorted(later, reverse=True):
        found = f"(ite {condition} {value} {found})"
    asked = f"(ite (and {any_of(effects['confirm'])} (= {found} 0)) 1 {found})"
    return f"(ite {any_of(effects['block'])} 2 {asked})"


def ask_z3(before: str, after: str) -> str:
    """Return `wider` if Z3 has a call that is permitted more after than before, `none` if there is no such call."""
    assert Z3 is not None
    text = f"{HEAD}(assert (< {after} {before}))\n(check-sat)\n"
    found = subprocess.run([Z3, f"-T:{SECONDS}", "-in"], input=text, capture_output=True, text=True, check=False)
    return {"sat": "wider", "unsat": "none", "unknown": "not known", "timeout": "not known"}[found.stdout.strip()]


def ask_diff(before: str, after: str) -> str:
    """Return `wider`, `none` or `not proven`, as `permitry diff` says of the texts of two rule files."""
    earlier, later = (side_of(text.removeprefix("schema = 1\n")) for text in (before, after))
    answers = Search(earlier, later).answer_all()
    if any(each.witness is not None for each in answers):
        return "wider"
    return "none" if all(each.is_proven for each in answers) else "not proven"


def compare(seed: int, tries: int) -> Counter[tuple[str, str]]:
    """Return how often `diff` and Z3 said what of random changes; they never contradict each other."""
    pick = random.Random(seed)  # noqa: S311 -- no secret
    answers: Counter[tuple[str, str]] = Counter()
    for _ in range(tries):
        rules = [make_rule(pick, number, about_arguments) for number in range(pick.randint(2, 6))]
        others = changed(pick, rules, about_arguments)
        blocks = pick.random() < 0.3, pick.random() < 0.3
        texts = text_of(rules, blocks=blocks[0]), text_of(others, blocks=blocks[1])
        opinion = ask_z3(verdict(rules, blocks=blocks[0]), verdict(others, blocks=blocks[1]))
        both = ask_diff(*texts), opinion
        assert both not in {("wider", "none"), ("none", "wider")}, "\n# and then\n".join((str(both), *texts))
        answers[both] += 1
    return answers


@pytest.mark.skipif(Z3 is None, reason="needs the program z3")
def test_another_solver_agrees() -> None:
    """It knows most answers, and contradicts none."""
    answers = compare(1, 60)
    assert sum(number for (_, opinion), number in answers.items() if opinion == "not known") <= 6


@pytest.mark.large
@pytest.mark.skipif(Z3 is None, reason="needs the program z3")
def test_another_solver_agrees_in_many_tries() -> None:
    """The same, at length."""
    compare(2, 2_000)
