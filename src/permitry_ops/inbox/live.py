"""Server-sent events: what is open now, as often as it changes."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable

import attrs
from starlette.concurrency import run_in_threadpool

from permitry.errors import PermitryError

__all__ = ["Live", "State"]

_PAUSE = 0.5
_BEAT = 15.0
_MOST = 100


@attrs.frozen
class State:
    """What a page shows, as one word that is another one after each change, and what to say of it."""

    version: str
    said: str = ""


@attrs.define
class Live:
    """Follows states for all who listen; at most 100 do."""

    pause: float = _PAUSE
    _listeners: int = attrs.field(default=0, init=False)
    _known: dict[str, tuple[float, State]] = attrs.field(factory=dict, init=False, repr=False)

    @property
    def is_full(self) -> bool:
        """Whether no one more can listen."""
        return self._listeners >= _MOST

    async def events(self, key: str, look: Callable[[], State], is_wanted: Callable[[], bool]) -> AsyncIterator[str]:
        """Yield an event for the state, and for each other one that comes, while they are wanted."""
        self._listeners += 1
        last, beat = None, time.monotonic()
        try:
            while is_wanted():
                state = await self._state(key, look)
                if state != last:
                    yield f"event: changed\ndata: {json.dumps(attrs.asdict(state))}\n\n"
                    last, beat = state, time.monotonic()
                elif time.monotonic() - beat > _BEAT:
                    # A proxy ends a connection on which nothing is sent.
                    yield ": still here\n\n"
                    beat = time.monotonic()
                await asyncio.sleep(self.pause)
            yield "event: ended\ndata: {}\n\n"
        finally:
            self._listeners -= 1

    async def _state(self, key: str, look: Callable[[], State]) -> State:
        """Return a state; one look serves all who listen for it."""
        at, state = self._known.get(key, (0.0, None))
        if state is None or time.monotonic() - at >= self.pause:
            try:
                state = await run_in_threadpool(look)
            except PermitryError:
                state = State("away", "The questions cannot be read at the moment.")
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[key] = (time.monotonic(), state)
        return state
