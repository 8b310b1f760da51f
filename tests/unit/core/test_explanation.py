"""Explanations: what of the rules counts, and how all of it reads."""

import attrs
from tests.tables import for_each

from permitry.core.action import Run, Unknown, Word
from permitry.core.decision import Decision, Phase, RuleFailure, Verdict
from permitry.core.explanation import ActionTrace, Explanation, RuleOutcome, RuleTrace, lines_of
from permitry.core.origin import Origin


def _decision(verdict: Verdict = Verdict.BLOCK, phase: Phase = Phase.RESTRICTION) -> Decision:
    return Decision(verdict, "r", phase, "why", "what", (RuleFailure("x", "E: no"),), "f:1", "v1")


def _trace(rule_id: str, phase: Phase, outcome: RuleOutcome, near_miss: str | None = None) -> RuleTrace:
    effect = Verdict.CONFIRM if phase is Phase.RESTRICTION else Verdict.ALLOW
    return RuleTrace(rule_id, phase, 0, effect, outcome, None, "", near_miss=near_miss)


def test_matches_hold_what_counted_as_matched() -> None:
    """What matched or covers a part counts, and restrictions that failed or are unsure; other rules that did do not."""
    traces = tuple(
        _trace(f"{phase.value}, {outcome.value}", phase, outcome)
        for phase in (Phase.OVERRIDE, Phase.RESTRICTION, Phase.PERMISSION)
        for outcome in RuleOutcome
    )
    assert [trace.rule_id for trace in Explanation(_decision(), traces).matches] == [
        "override, matched",
        "override, covered in part",
        "restriction, matched",
        "restriction, unsure",
        "restriction, covered in part",
        "restriction, failed",
        "permission, matched",
        "permission, covered in part",
    ]


def test_near_misses_hold_the_rules_that_tell_one() -> None:
    """A rule without a near miss is left out, an empty text is not."""
    traces = tuple(_trace(str(near), Phase.PERMISSION, RuleOutcome.NOT_MATCHED, near) for near in (None, "mode", ""))
    assert [trace.near_miss for trace in Explanation(_decision(), traces).near_misses] == ["mode", ""]


def test_an_explanation_reads_as_text() -> None:
    """Everything a human asks for is in it, in the order of the requests."""
    decided = RuleTrace("r", Phase.RESTRICTION, 150, Verdict.BLOCK, RuleOutcome.MATCHED, "f:1", "why", deciding=True)
    other = RuleTrace("yolo", Phase.PERMISSION, 300, Verdict.ALLOW, RuleOutcome.MATCHED, "built-in", "")
    failed = RuleTrace("x", Phase.RESTRICTION, 160, Verdict.CONFIRM, RuleOutcome.FAILED, None, "", error="E: no")
    run = Run((Word("rm"), Word("a")), doubt="`rm` deletes files", within=("time",))
    actions = (ActionTrace(run, _decision()), ActionTrace(Unknown("$x", "a variable", 3), _decision(), False))
    assert str(Explanation(_decision(), (decided, failed, other), actions)).splitlines() == [
        "block",
        "  decided by  r  (restriction, f:1)",
        "  reason      why",
        "  message     what",
        "  actions",
        "      block   time: rm a  [r]  (`rm` deletes files)",
        "  matches",
        "    150 block   r  (f:1)  decided",
        "    160 confirm x  (code)  failed, so it counts as matched: E: no",
        "    300 allow   yolo  (built-in)",
        "  error       x: E: no",
    ]


def test_what_other_rules_decide_is_shown_where_no_more_is_known() -> None:
    """With the place and the reason of each, on one line."""
    shown = str(Explanation(_decision(), (), others=(attrs.evolve(_decision(), source="f:2", reason="a\nb"),)))
    assert shown.splitlines()[4:6] == ["  asked by as well", r"    r (f:2): a\nb"]


def test_what_is_only_possible_is_shown_where_it_is_why() -> None:
    """Where something certain is why, it is another reading of the same text, for those who want all of it."""
    certain, possible = Run((Word("a"),), doubt=None), Unknown("$x", "a variable", 3)
    other = attrs.evolve(_decision(), rule_id="other")
    may = "    block   may  not certain: a variable (at character 4)  [r]"
    for decision, is_shown in ((_decision(), False), (other, True)):
        explained = Explanation(
            _decision(), (), (ActionTrace(certain, decision), ActionTrace(possible, _decision(), False))
        )
        assert (may in str(explained).splitlines()) is is_shown
        assert may in map(str, lines_of(explained, is_verbose=True))


def test_what_a_model_wrote_is_on_one_visible_line() -> None:
    """A reason may name an argument, a doubt a word."""
    run = Run((Word("a\x1bb\nc"),), doubt="d\x9be\n", within=("\u202e",))
    actions = (ActionTrace(run, _decision()), ActionTrace(Unknown("x", "`k\x1b\n`"), _decision()))
    lines = str(Explanation(_decision(), (), actions))
    assert not {"\x1b", "\x9b", "\u202e"} & {*lines}
    assert r"\u202e: 'a\u001bb\nc'  [r]  (d\u009be\n)" in lines
    assert r"not certain: `k\u001b\n`" in lines


def test_why_an_exception_does_not_apply_is_in_words() -> None:
    """Of the rule that decided, and of others that matched."""
    decided = RuleTrace(
        "r", Phase.RESTRICTION, 150, Verdict.BLOCK, RuleOutcome.MATCHED, None, "", deciding=True, unless="`b` (a)"
    )
    lines = str(Explanation(_decision(), (decided, attrs.evolve(decided, deciding=False)))).splitlines()
    assert [line.partition("(code)  ")[2] for line in lines if "(code)" in line] == [
        "decided; `unless` does not apply: `b` (a)",
        "matched; `unless` does not apply: `b` (a)",
    ]


def test_how_each_rule_took_part_is_in_words() -> None:
    """A rule that may match, or permits a part, says so."""
    unsure = RuleTrace("u", Phase.RESTRICTION, 150, Verdict.BLOCK, RuleOutcome.UNSURE, None, "", error="an open word")
    part = RuleTrace("p", Phase.PERMISSION, 250, Verdict.ALLOW, RuleOutcome.COVERED, None, "", near_miss="`b` is not")
    whole = attrs.evolve(part, rule_id="w", near_miss=None)
    shown = str(Explanation(attrs.evolve(_decision(), errors=()), (unsure, part, whole))).splitlines()
    assert shown[-3:] == [
        "    150 block   u  (code)  may match, so it asks: an open word",
        "    250 allow   p  (code)  permits a part of the call; `b` is not",
        "    250 allow   w  (code)  permits a part of the call; the rest is not covered",
    ]


@for_each(
    ("verdict", "phase", "near"),
    [
        (Verdict.ALLOW, Phase.PERMISSION, ["ask", "stop"]),
        (Verdict.CONFIRM, Phase.DEFAULT, ["stop", "let"]),
        (Verdict.CONFIRM, Phase.RESTRICTION, ["stop"]),
        (Verdict.BLOCK, Phase.RESTRICTION, []),
    ],
)
def test_only_near_misses_that_matter_are_shown(verdict: Verdict, phase: Phase, near: list[str]) -> None:
    """What could not have changed the verdict, and plan mode outside of it, explain nothing."""
    rules = tuple(
        RuleTrace(name, phase, 150, effect, RuleOutcome.NOT_MATCHED, None, "", near_miss="mode")
        for name, phase, effect in [
            ("plan-mode", Phase.RESTRICTION, Verdict.BLOCK),
            ("ask", Phase.RESTRICTION, Verdict.CONFIRM),
            ("stop", Phase.RESTRICTION, Verdict.BLOCK),
            ("let", Phase.PERMISSION, Verdict.ALLOW),
        ]
    )
    shown = str(Explanation(_decision(verdict, phase), rules)).partition("near misses\n")[2]
    assert [line.split()[2] for line in shown.splitlines() if "would have matched" in line] == near


@for_each(
    ("outcome", "effect", "verdict", "is_shown"),
    [
        (RuleOutcome.MATCHED, Verdict.ALLOW, Verdict.ALLOW, True),
        (RuleOutcome.NOT_MATCHED, Verdict.ALLOW, Verdict.CONFIRM, True),
        (RuleOutcome.FAILED, Verdict.ALLOW, Verdict.CONFIRM, True),
        (RuleOutcome.FAILED, Verdict.ALLOW, Verdict.ALLOW, False),
        (RuleOutcome.NOT_MATCHED, Verdict.BLOCK, Verdict.BLOCK, False),
    ],
)
def test_origins_are_shown_where_they_matter(
    *, outcome: RuleOutcome, effect: Verdict, verdict: Verdict, is_shown: bool
) -> None:
    """Once each, of the rules that matched, or whose match would have led to another verdict."""
    origin = Origin("to", '"x"', ("look #1",), is_said=False)
    rule = RuleTrace("r", Phase.PERMISSION, 250, effect, outcome, None, "", origins=(origin,))
    explained = Explanation(_decision(verdict, Phase.DEFAULT), (rule, attrs.evolve(rule, rule_id="s")))
    assert ("values\n    `to` = " in str(explained)) is is_shown
    assert str(explained).count("look #1") == is_shown


def test_of_many_rules_that_may_match_a_few_are_shown() -> None:
    """A program that is not known may be what any rule is about; the list would hide what decided."""
    decided = RuleTrace("r", Phase.RESTRICTION, 150, Verdict.BLOCK, RuleOutcome.UNSURE, "f:1", "why", deciding=True)
    others = tuple(attrs.evolve(decided, rule_id=f"u{number}", deciding=False) for number in range(7))
    shown = str(Explanation(attrs.evolve(_decision(), errors=()), (*others, decided))).partition("matches\n")[2]
    assert [line.split()[2] for line in shown.splitlines()] == ["u0", "u1", "u2", "u3", "u4", "r", "more"]
    assert shown.endswith("    ... 2 more rules may match")


def test_a_rule_without_a_reason_has_no_line_for_it() -> None:
    """What is not there is not made up."""
    lines = str(Explanation(attrs.evolve(_decision(), reason=""), ())).splitlines()
    assert lines[:3] == ["block", "  decided by  r  (restriction, f:1)", "  message     what"]


def test_what_is_kept_first_is_said() -> None:
    """Of a call that is allowed; one that is not allowed does not run."""
    kept = Decision(Verdict.ALLOW, "r", Phase.PERMISSION, "why", keeps=True)
    line = "  kept first  what it changes is copied before it runs; without that it is not permitted"
    assert line in str(Explanation(kept, ())).splitlines()
    for other in (attrs.evolve(kept, keeps=False), attrs.evolve(kept, verdict=Verdict.CONFIRM)):
        assert "kept first" not in str(Explanation(other, ()))
