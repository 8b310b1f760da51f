"""What was really called of the ways in which rules permit more."""

from collections.abc import Mapping
from typing import Any

import pytest

from permitry.config.load import load_rules
from permitry.core.call import ToolCall
from permitry_ops.diff.report import compare
from permitry_ops.diff.sources import Loaded
from permitry_ops.replay.widenings import Called, replay_widenings

HEAD = "schema = 1\n"
ALLOW = '[[rule]]\nid = "ours"\neffect = "allow"\nwhen.command = [{}]\n'
BLOCK = '[[rule]]\nid = "none"\neffect = "block"\nwhen.command = "rm *"\n'


def record(number: int, command: str, **more: object) -> Mapping[str, Any]:
    """Return the record of a decision on a command."""
    call = ToolCall("run_shell", {"command": command}, call_id=f"c{number}")
    return {
        "at": f"2026-11-{number:02}", "session": f"s{number}", "number": number, "event": "decided", "tool": call.tool,
        "digest": call.digest, "call_id": call.call_id, "arguments": call.to_dict(), "verdict": "confirm", **more,
    }  # fmt: skip


def called(old: str, new: str, *commands: str) -> tuple[list[int], Called]:
    """Return how many of some commands take each way, and all that was found."""
    sides = Loaded(load_rules(HEAD + old)), Loaded(load_rules(HEAD + new))
    report = compare(*sides, workspace="/w", only_wider=True)
    records = [record(number, command) for number, command in enumerate(commands, 1)]
    found = replay_widenings(records, *sides, report.ways, workspace="/w")
    return [found.of(way).calls for way in report.ways], found


def test_a_call_counts_for_the_pattern_that_it_fits() -> None:
    """Of several that one rule has, or the restrictions that are gone."""
    counts, found = called("", ALLOW.format('"make *", "tox *"'), "make a", "tox", "make b", "npm x")
    assert (counts, found.looser, found.others.calls) == ([2, 1], 3, 0)
    counts, _ = called(ALLOW.format('"rm *"') + BLOCK, ALLOW.format('"rm *"'), "rm a", "ls && rm b", "make")
    assert counts == [2]


def test_a_call_that_only_several_rules_permit_counts_for_the_new_one() -> None:
    """It permits a part of what the call does."""
    old = ALLOW.format('"make *"')
    new = old + ALLOW.replace("ours", "more").format('"tox *"')
    counts, found = called(old, new, "make a && tox")
    assert (counts, found.others.calls) == ([1], 0)


@pytest.mark.parametrize("control", ["\x1b[2J", "\n"])
def test_what_is_shown_steers_no_terminal(control: str) -> None:
    """The call is in JSON."""
    _, found = called("", ALLOW.format('"make *"'), f"make {control}")
    assert control not in str(found.of(found.ways[0]))
