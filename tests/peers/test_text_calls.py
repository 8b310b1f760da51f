"""Text of models with calls in it, collected from the tests of other parsers: none comes with its format."""

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from permitry.messages.text import FORMATS, ParsedText, TextCallStream, parse_text

CASES = Path(__file__).resolve().parents[2] / ".." / "shared" / "cases" / "text_calls.jsonl"

SEED = ("function_xml", "tool_call_json", "json_array")


@pytest.fixture(scope="module")
def cases() -> list[dict[str, Any]]:
    """Return all cases."""
    if not CASES.exists():
        pytest.skip("the shared cases are not here")
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def core(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the cases that a parser without a hint can be asked."""
    return [case for case in cases if case["level"] == "core"]


def is_same(wanted: object, found: object) -> bool:
    """Return whether two JSON values are equal, numbers by value, booleans apart."""
    if isinstance(wanted, bool) or isinstance(found, bool):
        return wanted is found
    if isinstance(wanted, int | float) and isinstance(found, int | float):
        return wanted == found
    if isinstance(wanted, dict) and isinstance(found, dict):
        return wanted.keys() == found.keys() and all(is_same(wanted[key], found[key]) for key in wanted)
    if isinstance(wanted, list) and isinstance(found, list):
        return len(wanted) == len(found) and all(map(is_same, wanted, found))
    return type(wanted) is type(found) and wanted == found


def is_right(case: dict[str, Any], result: ParsedText) -> bool:
    """Return whether the calls found are those of the case; a case may name only some arguments."""
    wanted = case["expected"] or []
    if [each["name"] for each in wanted] != [call.name for call in result.calls]:
        return False
    for each, call in zip(wanted, result.calls, strict=True):
        named = {key: value for key, value in call.arguments.items() if key in each["arguments"]}
        given = named if case.get("match") == "subset" else dict(call.arguments)
        if not is_same(each["arguments"], given):
            return False
    return True


def of_pieces(case: dict[str, Any], pieces: list[str]) -> ParsedText:
    """Return what a stream gives in the end; the calls it gave on the way must be the same."""
    stream = TextCallStream(case["tools"])
    given = [call for piece in pieces for call in stream.feed(piece).calls]
    whole = stream.finish()
    assert whole.calls[: len(given)] == tuple(given), case["id"]
    return whole


def test_the_formats_of_the_seed_are_read_without_fault(core: list[dict[str, Any]]) -> None:
    """All of their core cases."""
    asked = [case for case in core if case["format"] in SEED]
    assert len(asked) > 100
    assert [case["id"] for case in asked if not is_right(case, parse_text(case["text"], case["tools"]))] == []


def test_nearly_all_core_cases_are_read(core: list[dict[str, Any]]) -> None:
    """At least 97 of 100."""
    wrong = [case["id"] for case in core if not is_right(case, parse_text(case["text"], case["tools"]))]
    assert len(core) > 500
    assert len(wrong) <= 0.03 * len(core), wrong


def test_no_call_is_found_where_none_is(core: list[dict[str, Any]]) -> None:
    """Not one, in all texts without calls."""
    negative = [case for case in core if not case["expected"]]
    assert len(negative) > 50
    assert [case["id"] for case in negative if parse_text(case["text"], case["tools"]).calls] == []


def test_a_told_format_is_read_too(cases: list[dict[str, Any]]) -> None:
    """The cases that are fair only with a hint, which may be that the text begins in its reasoning."""
    shown = [case for case in cases if case["level"] == "format"]
    wrong = [
        case["id"]
        for case in shown
        if not is_right(
            case,
            parse_text(case["text"], case["tools"], case["format"], in_thinking=bool(case.get("starts_in_thinking"))),
        )
    ]
    assert wrong == []


def test_every_format_has_its_name_here(cases: list[dict[str, Any]]) -> None:
    """What the collection calls a format can be given."""
    assert {case["format"] for case in cases} - {"none"} <= set(FORMATS)


def test_pieces_as_collected_give_the_same(cases: list[dict[str, Any]]) -> None:
    """The cuts of other parsers' tests."""
    cut = [case for case in cases if case.get("chunks")]
    assert len(cut) > 50
    for case in cut:
        text = "".join(case["chunks"])
        assert of_pieces(case, case["chunks"]) == parse_text(text, case["tools"]), case["id"]


def test_random_pieces_give_the_same(cases: list[dict[str, Any]]) -> None:
    """Every case, one cut of letters and two at random."""
    rng = random.Random(2026)  # noqa: S311 -- no secret
    for case in cases:
        whole = parse_text(case["text"], case["tools"])
        for longest in (1, 4, 40):
            pieces, rest = [], case["text"]
            while rest:
                size = rng.randint(1, longest)
                pieces.append(rest[:size])
                rest = rest[size:]
            assert of_pieces(case, pieces) == whole, case["id"]


def test_content_is_mostly_as_others_see_it(core: list[dict[str, Any]]) -> None:
    """Some drop what is after a call; nine of ten agree but for blanks."""
    asked = Counter(
        (case["expected_content"] or "").split() == parse_text(case["text"], case["tools"]).content.split()
        for case in core
        if "expected_content" in case
    )
    assert asked[True] > 0.9 * asked.total()
