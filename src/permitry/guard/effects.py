"""What may wait, in two ways: a way of a call is written once, as a generator, and driven on a thread or on a loop."""

from collections.abc import Callable, Generator
from typing import Any, Generic, TypeAlias, TypeVar

import attrs

from permitry.audit.recorder import waits_for_disk
from permitry.channels.channel import ConfirmationChannel
from permitry.channels.request import ToolConfirmationRequest
from permitry.guard.case import Parts
from permitry.guard.ledger import Ledger

__all__ = ["Disk", "Reply", "Steps", "await_all", "block_on"]

T = TypeVar("T")


# Not frozen, which costs half as much: each is used once, by the driver that gets it.
@attrs.define(eq=False)
class Disk(Generic[T]):
    """Work that records, in turn and in a thread where that waits for a disk; `abandon` if cancelled."""

    parts: Parts
    work: Callable[[], T]
    abandon: Callable[[T], None] | None = None

    def block(self) -> T:
        """Do the work here."""
        return self.work()

    async def wait(self) -> T:
        """Do the work here or in a thread."""
        if not waits_for_disk(self.parts.recorder):
            return self.work()
        return await self.parts.apart.run(self.work, self.abandon)


@attrs.define(eq=False)
class Reply:
    """The answer of a channel, whatever it is, or one from elsewhere that comes first."""

    channel: ConfirmationChannel
    ledger: Ledger
    request: ToolConfirmationRequest

    @property
    def _has_others(self) -> bool:
        # A question may be answered on other ways than by the channel, which does not see that.
        return self.ledger.is_durable and not getattr(self.channel, "is_stored", False)

    def block(self) -> object:
        """Ask, and wait on this thread."""
        if not self._has_others:
            return self.channel.ask(self.request)
        from permitry.guard.first_answer import first_here  # noqa: PLC0415 -- asyncio, which a hook does not need

        return first_here(self.channel, self.ledger, self.request)

    async def wait(self) -> object:
        """Await an async channel; ask any other one in a thread."""
        from permitry.guard.first_answer import await_channel, first_on_loop  # noqa: PLC0415 -- as above

        if not self._has_others:
            return await await_channel(self.channel, self.request)
        return await first_on_loop(self.channel, self.ledger, self.request)


Steps: TypeAlias = Generator[Disk[Any] | Reply, Any, T]
"""A way that asks its driver for each thing that may wait, and returns a result."""


def block_on(steps: Steps[T]) -> T:
    """Return the result of a way, on this thread."""
    try:
        effect = next(steps)
        while True:
            try:
                result = effect.block()
            except BaseException as error:  # noqa: BLE001 -- the way decides what an error means
                effect = steps.throw(error)
            else:
                effect = steps.send(result)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


async def await_all(steps: Steps[T]) -> T:
    """Return the result of a way, on an event loop."""
    is_closed = False
    try:
        effect = next(steps)
        while True:
            try:
                # A coroutine that is being closed may not wait for anything.
                result = effect.block() if is_closed else await effect.wait()
            except BaseException as error:  # noqa: BLE001 -- as above
                is_closed = is_closed or isinstance(error, GeneratorExit)
                effect = steps.throw(error)
            else:
                effect = steps.send(result)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
