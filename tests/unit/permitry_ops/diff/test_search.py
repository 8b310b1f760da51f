"""The search for calls that are permitted more: what is found, and what is proven."""

import time
import tomllib
from collections.abc import Sequence
from pathlib import Path

from tests.unit.permitry_ops.diff.conftest import Found, side_of

from permitry_ops.diff.openings import TIME
from permitry_ops.diff.search import Answer, Search

CASES = tomllib.loads((Path(__file__).parent / "cases.toml").read_text(encoding="utf-8"))["case"]
HEADS = {
    "policy": '[policy]\nunmatched = "block"',
    "r": '[[rule]]\nid = "{}"\neffect = "{}"',
    "tool": "[tool.{}]",
    "template": "[template.{}]",
    "list": "[list.{}]",
}


def text_of(lines: Sequence[str]) -> str:
    """Return a rule file with the tables that lines stand for."""
    tables = []
    for line in sorted(lines, key=lambda line: line != "policy"):
        head, *rest = line.split("; ")
        kind, *names = head.split()
        tables.append("\n".join((HEADS[kind].format(*names), *rest)))
    return "\n".join(tables)


def told(answer: Answer) -> str:
    """Return an answer as a case has it."""
    name, found = answer.opening.rule_id, answer.witness
    if found is None:
        return f"{name}: {'none' if answer.is_proven else 'not proven'}"
    return f"{name}: {found.before.verdict.value} -> {found.after.verdict.value} by {found.after.rule_id}"


def test_each_case_is_found(found: Found) -> None:
    """As the file says."""
    wrong = []
    for case in CASES:
        both = case.get("both", [])
        answers = found(text_of([*both, *case["old"]]), text_of([*both, *case["new"]]))
        if (given := [told(each) for each in answers]) != case["found"]:
            wrong.append(f"{case['why']}: {given}")
    assert wrong == []


def test_what_is_not_proven_says_why(found: Found) -> None:
    """By the condition, or the rule, that is not solved."""
    answers = found(
        text_of(["r p allow; tools = ['pay']; budget = { calls = 3, per = '1h' }"]),
        text_of(["r p allow; tools = ['pay']; budget = { calls = 3, per = '1m' }"]),
    )
    (answer,) = answers
    assert (answer.opening.condition, answer.why[0]) == ("budget", "`budget`")


def test_a_search_ends_when_its_time_is_up() -> None:
    """What was not looked at is not proven."""
    before = side_of("")
    after = side_of(text_of(["r p allow; tools = ['pay']"]))
    search = Search(before, after, deadline=time.monotonic() - 1)
    (answer,) = search.answer_all()
    assert answer.why == (TIME,)


def test_ten_thousand_rules_are_compared_where_they_differ() -> None:
    """A few calls are asked, however many rules there are."""
    rules = [f"r p{at} allow; tools = ['tool_{at}']; when.args.n = {{ le = 3 }}" for at in range(2_000)]
    others = [*rules[5:], *(rule.replace("= 3", "= 4") for rule in rules[:5])]
    before, after = side_of(text_of(rules)), side_of(text_of(others))
    search = Search(before, after)
    answers = search.answer_all()
    assert sum(each.witness is not None for each in answers) == 5
    assert search.asked < 50


def slow_rules(letters: str) -> str:
    """Return a rule of which one search takes long: to know the n-th letter from the end takes 2 to the n states."""
    words = [f"{one}{other}" for one in "defghijk" for other in "lmnopqrs"]
    tests = f"regex = '.*[{letters}].{{14}}', contains = {words}, prefix = {words[:20]}, suffix = {words[:40]}"
    return text_of([f"r p allow; tools = ['pay']; when.args.s = {{ {tests}, glob = ['*a*b*c*d*'] }}"])


def test_a_search_ends_when_its_time_is_up_in_its_midst() -> None:
    """Within a second or so, and what is in the works is not proven, as is what is not looked at."""
    before, after = side_of(slow_rules("ab")), side_of(slow_rules("abc"))
    start = time.monotonic()
    search = Search(before, after, deadline=start + 0.2)
    answers = search.answer_all()
    assert time.monotonic() - start < 2
    assert [answer.why for answer in answers] == [(TIME,)]
