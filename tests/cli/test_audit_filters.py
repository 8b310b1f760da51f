"""Which records `permitry audit` is asked for."""

import argparse
import datetime as dt
import re
from pathlib import Path

import pytest
from tests.tables import for_each

from permitry.cli.audit_filters import add_filters, moment


@for_each(("text", "at"))
def test_a_time_is_as_the_record_has_it(text: str, at: str) -> None:
    """In UTC where it names no other zone."""
    assert moment(text) == at


@for_each(("text", "seconds"), [("2m", 120), ("1h", 3600), ("1d", 86_400), ("1w", 604_800)])
def test_an_age_is_a_time(text: str, seconds: int) -> None:
    """Before now."""
    before = dt.datetime.now(dt.UTC) - dt.datetime.fromisoformat(moment(text))
    assert abs(before.total_seconds() - seconds) < 60


@for_each("text", ["", "soon", "5 days", "9999999h"])
def test_other_texts_are_no_time(text: str) -> None:
    """With how to write one."""
    with pytest.raises(argparse.ArgumentTypeError, match="not a time"):
        moment(text)


@for_each(("option", "value"), [("--verdict", "deny"), ("--event", "asekd"), ("--outcome", "blocked")])
def test_a_misspelt_value_is_no_empty_answer(option: str, value: str) -> None:
    """An auditor who looks for `deny` must not read from an empty answer that no call was blocked."""
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_filters(parser)
    with pytest.raises(argparse.ArgumentError, match=f"'{value}' .choose from"):
        parser.parse_args([option, value])


@for_each(
    ("option", "hint"),
    [
        ("--changing", "write --not-changing 'src/**'"),
        ("--path", "write --not-path 'src/**'"),
        ("--tool", "write --not-tool 'src/**'"),
        ("--not-path", "write --not-path 'src/**'"),
        ("--verdict", "these can leave something out: --not-tool, --not-rule, --not-path, --not-changing, --not-host"),
        ("--workspace", "these can leave something out: --not-tool,"),
    ],
)
def test_a_value_is_not_negated_by_a_sign(option: str, hint: str) -> None:
    """It would find nothing, or all."""
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_filters(parser)
    with pytest.raises(argparse.ArgumentError) as raised:
        parser.parse_args([option, "!src/**"])
    assert f"`!src/**` begins with `!`; {hint}" in str(raised.value)


def test_the_help_says_whose_answers_by_finds() -> None:
    """`by` is the name of a field, and no word for what it has."""
    parser = argparse.ArgumentParser()
    add_filters(parser)
    assert "only the answers of this user" in parser.format_help()


def test_all_events_can_be_asked_for() -> None:
    """Those that the page about the record lists."""
    page = Path(__file__).parents[2] / "docs/reference/record.md"
    table = page.read_text(encoding="utf-8").partition("## Events")[2].partition("\n## ")[0]
    parser = argparse.ArgumentParser()
    add_filters(parser)
    for event in re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE):
        assert parser.parse_args(["--event", event]).event == event
