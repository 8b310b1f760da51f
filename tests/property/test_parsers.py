"""No parser of what a model or a rule file says fails in an undocumented way, or takes long.

The targets are those of the fuzzers in `tests/fuzz`, which say what each of them promises.
"""

import runpy
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import for_each

_TARGETS: dict[str, Any] = runpy.run_path(str(Path(__file__).parents[1] / "fuzz" / "targets.py"))["TARGETS"]
_LONGEST = 64 * 1024
_SECONDS = 8.0
"""Of processor time, for one check of one input: generous, and still less than an explosion takes."""

groups = pytest.mark.parametrize("group", sorted(_TARGETS))


def _seconds(group: str, text: str) -> float:
    """Return what the slowest check takes of processor time."""
    return max(_time(check, text) for check in _TARGETS[group].checks)


def _time(check: Callable[[str], object], text: str) -> float:
    """Return the processor time of a check; of one that seems slow, the better of two times.

    After hours of examples a process may collect its garbage for seconds, which says nothing of the check.
    """
    seconds: list[float] = []
    while not seconds or (seconds[0] >= _SECONDS and len(seconds) == 1):
        begin = time.process_time()
        check(text)
        seconds.append(time.process_time() - begin)
    return min(seconds)


@groups
@settings(max_examples=3 * settings().max_examples)
@given(data=st.data())
def test_text_of_pieces_is_read(group: str, data: st.DataObject) -> None:
    """No text put together of pieces makes a parser raise what it does not document, or takes long."""
    pieces = st.lists(st.sampled_from(_TARGETS[group].pieces), max_size=24).map("".join)
    assert _seconds(group, data.draw(pieces)) < _SECONDS


@groups
@given(text=st.text())
def test_any_text_is_read(group: str, text: str) -> None:
    """No text at all does."""
    assert _seconds(group, text) < _SECONDS


@groups
@given(data=st.data())
def test_a_changed_seed_is_read(group: str, data: st.DataObject) -> None:
    """Neither does a text that is meant to be read, with something taken out of it and something put in."""
    seed = data.draw(st.sampled_from(_TARGETS[group].seeds))
    begin, end = sorted(data.draw(st.tuples(*[st.integers(0, len(seed))] * 2)))
    piece = data.draw(st.sampled_from(_TARGETS[group].pieces))
    assert _seconds(group, seed[:begin] + piece + seed[end:]) < _SECONDS


@groups
@settings(max_examples=max(5, settings().max_examples // 10))
@given(data=st.data())
def test_a_long_text_is_read_in_time(group: str, data: st.DataObject) -> None:
    """Nor do a few pieces that are repeated until the text is as long as a reader takes it."""
    start, repeated, end = (
        "".join(data.draw(st.lists(st.sampled_from(_TARGETS[group].pieces), min_size=least, max_size=3)))
        for least in (0, 1, 0)
    )
    text = start + repeated * ((_LONGEST - len(start + end)) // len(repeated)) + end
    assert _seconds(group, text) < _SECONDS, (start, repeated, end)


@for_each("group", ["host", "path"])
def test_each_piece_is_read_in_time_however_often_it_is_repeated(group: str) -> None:
    """One after the other, as chance may miss the one that takes long."""
    for piece in _TARGETS[group].pieces:
        assert _seconds(group, piece * (_LONGEST // len(piece))) < _SECONDS, piece
