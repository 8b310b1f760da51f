"""A way that is written once gets the results and the errors of its effects, on a thread and on a loop."""

import asyncio
from collections.abc import Callable

import pytest
from tests.tables import for_each

from permitry.guard.effects import Disk, Steps, await_all, block_on


class _Effect(Disk[object]):
    """Gives a result in two ways, or fails in both."""

    def __init__(self, result: object) -> None:
        self.result = result
        self.done: list[str] = []

    def block(self) -> object:
        self.done.append("blocked")
        return self._give()

    async def wait(self) -> object:
        await asyncio.sleep(0)
        self.done.append("waited")
        return self._give()

    def _give(self) -> object:
        if isinstance(self.result, BaseException):
            raise self.result
        return self.result


def _await(steps: Steps[object]) -> object:
    return asyncio.run(await_all(steps))


def _steps(*effects: _Effect) -> Steps[list[object]]:
    found: list[object] = []
    for effect in effects:
        try:
            found.append((yield effect))
        except OSError as error:
            found.append(str(error))
    return found


@for_each(("drive", "how"), [(block_on, "blocked"), (_await, "waited")])
def test_a_way_gets_results_and_errors(drive: Callable[[Steps[object]], object], how: str) -> None:
    """What an error means, the way decides."""
    effects = [_Effect(1), _Effect(OSError("away")), _Effect(2)]
    assert drive(_steps(*effects)) == [1, "away", 2]
    assert [each.done for each in effects] == [[how]] * 3


@for_each("drive", [block_on, _await])
def test_an_error_that_the_way_lets_through_reaches_the_caller(drive: Callable[[Steps[object]], object]) -> None:
    """Such as an interrupt."""
    with pytest.raises(KeyboardInterrupt):
        drive(_steps(_Effect(KeyboardInterrupt())))


def test_a_coroutine_that_is_closed_waits_for_nothing_more() -> None:
    """What is left to do is done here."""
    last = _Effect(None)

    def way() -> Steps[None]:
        try:
            yield _Effect(1)
        finally:
            yield last

    coroutine = await_all(way())
    coroutine.send(None)
    coroutine.close()
    assert last.done == ["blocked"]
