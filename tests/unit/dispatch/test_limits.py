"""How often a tool may run: a token bucket, and what the model is shown when it is empty."""

from collections.abc import Callable

import pytest
from tests.tables import for_each

from permitry.core.call import ToolCall
from permitry.core.spec import ToolSpec
from permitry.dispatch.limits import Bucket, RateLimit, ToolLimits
from permitry.dispatch.registry import ToolRegistry
from permitry.handler import ToolHandler


def test_a_bucket_is_full_at_first_and_refills_evenly() -> None:
    """Two at once, then one every five seconds; never more than two are kept."""
    now = [0.0]
    bucket = Bucket(RateLimit(2, per=10), clock=lambda: now[0])
    assert [bucket.take(), bucket.take(), bucket.take()] == [0, 0, 5]
    now[0] = 4
    assert bucket.take() == pytest.approx(1)
    now[0] = 5
    assert (bucket.take(), bucket.take()) == (0, 5)
    now[0] = 1_000
    assert [bucket.take() == 0 for _ in range(3)] == [True, True, False]


def test_a_clock_that_goes_back_gives_nothing_and_takes_nothing() -> None:
    """The tokens stay as they are."""
    now = [100.0]
    bucket = Bucket(RateLimit(2, per=10), clock=lambda: now[0])
    bucket.take()
    now[0] = 0
    assert (bucket.take(), bucket.take()) == (0, 5)


@for_each(("calls", "per"), [(0, 1), (-1, 1), (1, 0), (1, -1)])
def test_a_limit_that_limits_nothing_is_refused(calls: int, per: float) -> None:
    """Neither no calls nor no time makes sense."""
    with pytest.raises(ValueError, match="must be"):
        RateLimit(calls, per)


def test_a_call_too_many_is_refused_without_running(
    registry: ToolRegistry, handler: ToolHandler, outcomes: Callable[[], list[object]]
) -> None:
    """The model learns when it may try again; the record says that the tool did not run."""
    ran = []

    def tool(arguments: dict[str, object]) -> str:
        ran.append(arguments)
        return "done"

    registry.register(ToolSpec("tool"), tool, limits=ToolLimits(rate=RateLimit(1, per=3600)))
    results = [handler.handle(ToolCall("tool")) for _ in range(2)]
    assert (results[0].ok, results[1].ok, len(ran)) == (True, False, 1)
    assert results[1].text.startswith("The tool `tool` was called too often and did not run; wait 3")
    assert outcomes() == ["ok", "refused"]


def test_each_tool_has_a_bucket_of_its_own(registry: ToolRegistry, handler: ToolHandler) -> None:
    """One that is called too often keeps no other from running."""
    for name in ("a", "b"):
        registry.register(ToolSpec(name), lambda _: "done", limits=ToolLimits(rate=RateLimit(1, per=3600)))
    assert [handler.handle(ToolCall(name)).ok for name in ("a", "a", "b")] == [True, False, True]
