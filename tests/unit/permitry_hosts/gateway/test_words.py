"""What the gateway says, to the model and to the user."""

import pytest
from tests.unit.permitry_hosts.gateway.conftest import text_of

from permitry.errors import ConfigError, Problem
from permitry.guard.guard import Guard
from permitry.guard.outcome import Ask
from permitry_hosts.gateway.words import reasons, refuse, unknown, why_not


def test_mistakes_in_rules_are_for_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """The model is not shown the rules."""
    text = why_not(ConfigError([Problem("rules.toml", 3, 1, 1, "a mistake", "")]))
    assert "rules.toml" not in text
    assert "rules.toml:3:1: a mistake" in caplog.text


def test_a_failure_says_what_it_was_and_that_nothing_ran() -> None:
    """Not more: its words may come from anywhere."""
    assert why_not(ZeroDivisionError("secret")) == "The gateway failed (ZeroDivisionError), so the call did not run."


def test_a_refusal_is_an_error() -> None:
    """A hidden tool is refused as none is."""
    assert refuse("no").is_error is True
    assert text_of(unknown("a")) == "There is no tool `a`."


def test_a_part_that_is_gone_is_a_change_too() -> None:
    """It is shown as nothing."""
    guard = Guard()
    ask = guard.check(guard.call("look", {}))
    assert isinstance(ask, Ask)
    first, shown, _ = reasons(ask, {"description": "a"}, ("title",))
    assert first.endswith("its title.")
    assert shown == "title now: nothing"
