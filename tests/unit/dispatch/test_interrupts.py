"""Whether the user has interrupted the process, or code has raised the same."""

import signal
import threading

import pytest

from permitry.dispatch.interrupts import watch_interrupts


def test_an_interrupt_is_seen_and_goes_on() -> None:
    """The handler of before raises, and is in force again afterwards."""
    with watch_interrupts() as is_interrupted:
        assert not is_interrupted()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert is_interrupted()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_that_is_set_meanwhile_stays() -> None:
    """A plugin may want to hear of interrupts itself."""
    try:
        with watch_interrupts():
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        with watch_interrupts() as is_interrupted:
            assert not is_interrupted()
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def test_only_the_main_thread_is_interrupted() -> None:
    """Elsewhere there is nothing to watch."""
    seen: list[bool] = []

    def watch() -> None:
        with watch_interrupts() as is_interrupted:
            seen.append(is_interrupted())

    thread = threading.Thread(target=watch)
    thread.start()
    thread.join()
    assert seen == [False]
