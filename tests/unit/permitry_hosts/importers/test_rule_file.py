"""A rule file that loads, whatever the drafts say."""

import tomllib

import pytest

from permitry.config.rule_text import Draft
from permitry.core.texts import visible
from permitry.errors import PermitryError
from permitry_hosts.importers.drafts import Imported, Outcome, Row
from permitry_hosts.importers.rule_file import write_rules


def _one(*drafts: Draft) -> Row:
    return write_rules(Imported("codex", [Row("f:1", "x", drafts[0].effect, drafts)]), ["f"]).rows[0]


def test_what_cannot_be_said_is_dropped_or_widened() -> None:
    """A permission is dropped; a restriction loses its exception, its condition, at last its tools."""
    bad = {"path": ["a/../b"]}
    assert _one(Draft("allow", ("a",), bad)).outcome is Outcome.DROPPED
    assert _one(Draft("block", ("a",), bad)).outcome is Outcome.WIDENED
    assert _one(Draft("block", ("a",), {"path": ["x"]}, (bad,))).outcome is Outcome.WIDENED
    assert _one(Draft("block", ("[",))).outcome is Outcome.WIDENED


def test_a_restriction_that_nothing_can_say_is_lost() -> None:
    """As one with a message that is too much, which is no condition."""
    row = _one(Draft("block", ("*",), priority=300))
    assert row.outcome is Outcome.DROPPED
    assert row.is_lost


def test_an_example_that_does_not_hold_is_left_out() -> None:
    """The rule stays as it is."""
    rules = write_rules(
        Imported("codex", [Row("f:1", "x", "block", (Draft("block", when={"command": ["a"]}, match=("b",)),))]), ["f"]
    )
    assert rules.rows[0].outcome is Outcome.NOT_TRIED
    assert "match" not in rules.text


def test_ids_are_made_of_the_text_and_differ() -> None:
    """Kebab case, and a number where it is needed."""
    rows = [Row("f:1", "Deny Read(./.env)", "block", (Draft("block", ("a",)), Draft("block", ("b",))))]
    text = write_rules(Imported("inspect_ai", rows, is_closed=True), ["f"]).text
    assert 'id = "inspect-ai-deny-read-env"' in text
    assert 'id = "inspect-ai-deny-read-env-2"' in text
    assert "extends" not in text
    assert 'unmatched = "block"' in text


def test_every_text_is_written_as_it_is() -> None:
    """Quotes, line breaks and odd characters included."""
    message = 'a "quote" \\ and\nlines \x7f\x01 é'
    rows = [Row("f:1", "x", "block", (Draft("block", ("a",), {"args": {"x.y": {"eq": True}}}, message=message),))]
    (rule,) = tomllib.loads(write_rules(Imported("codex", rows), ["f"]).text)["rule"]
    assert rule["message"] == message
    assert rule["when"]["args"] == {"x.y": {"eq": True}}


def test_nothing_in_a_text_steers_the_terminal_that_shows_it() -> None:
    """Neither controls, nor what turns the order of signs, nor what no one sees: it is written as its number."""
    odd = "\x9b31m \u202e \u2028 \u200b \U000e0041"
    rows = [Row("f:1", "x", "block", (Draft("block", ("a",), {"args": {odd: odd}}),))]
    text = write_rules(Imported("codex", rows), ["f"]).text
    assert visible(text) == text
    assert tomllib.loads(text)["rule"][0]["when"]["args"] == {odd: odd}


def test_a_file_that_does_not_load_is_an_error() -> None:
    """Whatever is wrong outside of the rules."""
    with pytest.raises(PermitryError, match="a mistake of permitry"):
        write_rules(Imported("nothing", []), ["f"])
