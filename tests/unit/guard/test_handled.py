"""What became of calls, and that they were handled."""

import tracemalloc

from tests.tables import for_each

from permitry.core.call import ToolCall
from permitry.guard.handled import HandledCalls

_MAIN = ("s1", "main")


def _call(number: int, **arguments: object) -> ToolCall:
    return ToolCall("write", arguments, call_id=f"c{number}")


def _handled(count: int, **bounds: int) -> HandledCalls[str]:
    handled: HandledCalls[str] = HandledCalls(**bounds)
    for number in range(count):
        handled.keep(_MAIN, _call(number), f"outcome {number}", is_open=False)
    return handled


def test_the_latest_outcomes_are_kept() -> None:
    """Of the others it is known that they were handled."""
    handled = _handled(5, calls=2)
    assert [handled.find(_MAIN, _call(number)) for number in range(6)] == [None] * 3 + ["outcome 3", "outcome 4", None]
    assert [handled.is_used(_MAIN, _call(number), is_given=True) for number in (0, 1, 2, 5)] == [
        True,
        True,
        True,
        False,
    ]


def test_the_same_id_with_other_arguments_is_another_call() -> None:
    """Also when what became of the first is not kept any more."""
    handled = _handled(3, calls=1)
    assert handled.is_used(_MAIN, _call(0), is_given=True)
    assert not handled.is_used(_MAIN, _call(0, path="a"), is_given=True)


def test_the_same_call_of_another_is_another_call() -> None:
    """Of an agent in the session, or of an agent of the same name in another one."""
    handled = _handled(3, calls=1)
    for other in (("s1", "sub"), ("s2", "main")):
        assert handled.find(other, _call(2)) is None
        assert not handled.is_used(other, _call(0), is_given=True)


def test_large_calls_push_out_more() -> None:
    """Two hundred refused calls of a megabyte each are not two hundred megabytes."""
    handled: HandledCalls[str] = HandledCalls(size=2_000)
    calls = [_call(number, text="x" * 900) for number in range(4)]
    for call in calls:
        handled.keep(_MAIN, call, "blocked", is_open=False)
    assert [handled.find(_MAIN, call) for call in calls] == [None, None, "blocked", "blocked"]


def test_a_call_that_is_larger_than_all_that_is_kept_is_known_all_the_same() -> None:
    """It was handled, and that is what counts."""
    handled: HandledCalls[str] = HandledCalls(size=100)
    large = _call(1, text="x" * 900)
    handled.keep(_MAIN, large, "blocked", is_open=False)
    assert (handled.find(_MAIN, large), handled.is_used(_MAIN, large, is_given=True)) == (None, True)


def test_an_open_question_is_kept_however_many_calls_come() -> None:
    """Until it is settled; then it is as old as any."""
    handled: HandledCalls[str] = HandledCalls(calls=1)
    handled.keep(_MAIN, _call(99), "open", is_open=True)
    handled.keep(_MAIN, _call(1), "one", is_open=False)
    handled.keep(_MAIN, _call(2), "two", is_open=False)
    assert (handled.find(_MAIN, _call(99)), handled.find(_MAIN, _call(1))) == ("open", None)
    handled.keep(_MAIN, _call(99), "settled", is_open=False)
    assert (handled.find(_MAIN, _call(99)), handled.find(_MAIN, _call(2))) == ("settled", None)


@for_each(("number", "is_given", "is_used"), [(0, True, True), (9, True, True), (9, False, False)])
def test_when_too_many_ids_were_used_no_given_one_is_known_to_be_new(
    *, number: int, is_given: bool, is_used: bool
) -> None:
    """One that the handler makes up cannot have been used before."""
    assert _handled(6, calls=1, ids=2).is_used(_MAIN, _call(number), is_given=is_given) is is_used


def test_as_many_calls_as_wanted_take_the_same_memory() -> None:
    """Whatever was remembered in the first of them, the others add nothing."""
    handled = _handled(5_000, calls=10, ids=1_000)
    tracemalloc.start()
    try:
        for number in range(5_000, 10_000):
            handled.keep(_MAIN, _call(number), "outcome", is_open=False)
        grown = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert grown < 10_000
