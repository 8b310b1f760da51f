"""Whether a `KeyboardInterrupt` came from the user: code that is loaded may raise one as well."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

__all__ = ["watch_interrupts"]


@contextlib.contextmanager
def watch_interrupts() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether the user has interrupted this process since.

    The handler of the signal goes on as before. Only the main thread is ever interrupted.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield lambda: False
        return
    handler = before
    seen = threading.Event()

    def watch(number: int, frame: FrameType | None) -> object:
        seen.set()
        return handler(number, frame)

    signal.signal(signal.SIGINT, watch)
    try:
        yield seen.is_set
    finally:
        if signal.getsignal(signal.SIGINT) is watch:
            signal.signal(signal.SIGINT, before)
