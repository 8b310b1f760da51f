"""The page to try rules: what it says of problems, of a decision and of a change."""

import html
import re
from typing import Any

from tests.tables import for_each
from tests.unit.permitry_ops.inbox.documents import Tag, read
from tests.unit.permitry_ops.inbox.people import ANN
from tests.unit.permitry_ops.inbox.probes import PROBES

from permitry_ops.inbox.access import Login
from permitry_ops.inbox.trial import Asked, Start, Trial
from permitry_ops.inbox.try_page import Tried, try_page

HEAD = "schema = 1\n"
BLOCK = '[[rule]]\nid = "no-push"\neffect = "block"\nreason = "publishes"\nwhen.command = ["git push *"]\n'
START = Start(HEAD + BLOCK, others=("more.toml",))


def shown(rules: str, command: str = "git push", start: str = HEAD + BLOCK, **more: Any) -> str:  # noqa: ANN401 -- fields
    """Return the page for rules and a command."""
    asked = Asked(rules, command=command, **{"workspace": "/srv/p", **more})
    trial = Trial(Start(start), asked)
    return try_page(Tried(trial.start, asked, trial.decide(), trial.compare(), has_looked=True), Login(ANN, 1.0))


def text(page: str) -> str:
    """Return what is to be read on a page."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"</(p|li|div|h2)>|<[^>]+>", _blank, page)))


def _blank(tag: re.Match[str]) -> str:
    return " " if tag[1] else ""


def test_a_decision_is_said_with_its_rule() -> None:
    """And its place in the text, which a script selects."""
    page = shown(HEAD + BLOCK)
    assert "Blocked by no-push (<rules>:2) Publishes." in text(page)
    assert '<a href="#rules" data-line="2" data-column="1" data-span="0">' in page
    assert "decided by no-push" in text(page)
    assert "The rules have no errors." in text(page)
    assert "Change the rules to see" in text(page)


def test_no_rule_is_none() -> None:
    """It is not called a rule."""
    assert "Asked about, as no rule matches" in text(shown(HEAD))


def test_a_change_is_said_with_its_calls() -> None:
    """What the call was decided before, and what else is."""
    page = text(shown(HEAD))
    assert "Before your change: Blocked by no-push (<rules>:2)" in page
    assert "More is allowed: 1 way." in page
    assert "block (no-push, <rules>:2)" in page
    less = text(shown(HEAD + BLOCK, start=HEAD))
    assert ("Nothing more is allowed." in less, "Less is allowed: 1 way" in less) == (True, True)
    assert "This relies on" in less


def test_problems_are_said_at_their_places() -> None:
    """With the line, the caret and the hint; nothing is decided or compared."""
    page = shown(HEAD + BLOCK.replace("effect", "efect"))
    said = text(page)
    assert '<a href="#rules" data-line="4" data-column="1" data-span="5">Line 4</a>' in page
    assert "    4 | efect = &quot;block&quot;\n        ^^^^^\n" in page
    assert "hint: did you mean `effect`?" in said
    assert "Nothing is decided while the rules have problems." in said
    assert "Rules with problems are not compared." in said


def test_what_is_not_proven_is_said() -> None:
    """With the reason; it is not called safe."""
    start, asked = Start(HEAD + BLOCK), Asked(HEAD, command="ls", workspace="/srv/p")
    trial = Trial(start, asked)
    for report, has_looked, said in (
        (trial.compare(0.0), True, "No call was found that is allowed more, and that is not proven."),
        (None, True, "Not proven: it took too long, or the rules at the start have problems themselves."),
        (None, False, "Looking for calls that are decided otherwise"),
    ):
        page = text(try_page(Tried(start, asked, trial.decide(), report, has_looked), Login(ANN, 1.0)))
        assert said in page
        assert "relies on" not in page
    ended = text(try_page(Tried(start, asked, None, has_looked=True), Login(ANN, 1.0)))
    assert "This took too long, and was ended. Nothing is known of the call." in ended
    assert "Not proven: it took too long" in ended


def test_what_is_not_a_call_is_said() -> None:
    """It would be blocked."""
    assert "This is not a valid call, and would be blocked: the workspace" in text(shown(HEAD, workspace="p"))


def test_other_rules_are_named() -> None:
    """They cannot be changed here."""
    asked = Asked(HEAD, workspace="/srv/p")
    assert "Besides, as they are: more.toml" in text(try_page(Tried(START, asked, None), Login(ANN, 1.0)))


@for_each("probe", PROBES)
def test_no_text_becomes_an_element(probe: str) -> None:
    """In rules, in what is wrong with them, and in each field of the call."""
    quoted = "".join(f"\\u{ord(char):04x}" for char in probe)
    rule = f'[[rule]]\nid = "x"\neffect = "block"\nreason = "{quoted}"\nwhen.command = ["git push *", "{quoted}"]\n'
    clean = shown(HEAD + rule, "git push")
    call = {"tool": probe, "arguments": probe, "mode": probe}
    pages = [shown(HEAD + rule, f"git push {probe}", **call), shown(f"{probe}\n", probe, is_tool=True, **call)]
    for page in pages:
        assert set(read(page).tags) - _known(clean) == set()


def _known(page: str) -> set[Tag]:
    more: set[Tag] = {
        ("ol", ()), ("li", ()), ("pre", ("tabindex",)), ("p", ("class",)), ("p", ()), ("strong", ("class",)),
        ("code", ()), ("input", ("type", "name", "value", "id", "checked")),
        ("input", ("type", "name", "value", "id")),
        ("a", ("href", "data-line", "data-column", "data-span")), ("h2", ()), ("h3", ()), ("pre", ("class",)),
        ("span", ()), ("span", ("class",)), ("ul", ()),
    }  # fmt: skip
    return {*read(page).tags, *more}
