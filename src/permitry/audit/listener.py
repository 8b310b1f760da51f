"""What hears of the record: it goes around a recorder."""

import abc
import contextlib
import functools
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, TypeAlias

import attrs

from permitry.audit.record import HELD, hold
from permitry.audit.recorder import Recorder
from permitry.core.call import ToolCall

__all__ = ["Listener"]

Attribute: TypeAlias = Any
"""Whatever a recorder has."""

_LOG = logging.getLogger("permitry.audit")


@attrs.define(eq=False)
class Listener(abc.ABC):
    """Keeps each event with `recorder`, then hears of it; an error in `hear` changes nothing."""

    recorder: Recorder

    @abc.abstractmethod
    def hear(self, event: str, call: ToolCall, details: Mapping[str, Any]) -> None:
        """Learn of one event that is on record. Called by several threads."""

    def record(self, event: str, call: ToolCall, /, **details: object) -> None:
        """Keep one event, and hear of it, at the end of `together`; raise what `recorder` does."""
        self.recorder.record(event, call, **details)
        held = HELD.get().get(id(self))
        if held is None:
            self._tell(event, call, details)
        else:
            held.append((event, call, details))

    def __getattr__(self, name: str) -> Attribute:
        """Return what `recorder` has besides, such as `session`."""
        found = getattr(self.recorder, name)
        if name == "together":
            return functools.partial(self._hear_together, found)
        return found

    @contextlib.contextmanager
    def _hear_together(self, together: Callable[[], AbstractContextManager[None]]) -> Iterator[None]:
        with hold(self) as held, together():
            yield
        for event in held:
            self._tell(*event)

    def _tell(self, event: str, call: ToolCall, details: Mapping[str, Any]) -> None:
        try:
            self.hear(event, call, details)
        except Exception:  # noqa: BLE001 -- whether a call runs does not depend on who listens
            _LOG.warning("cannot pass on an event `%s`", event, exc_info=True)
