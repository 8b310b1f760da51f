"""What is logged, where a command shows it: on standard error."""

import logging

from permitry.core.texts import visible

__all__ = ["show_logs"]


class _Visible(logging.Formatter):
    """Spells out what is invisible: logs quote servers, and tools that have crashed."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as text that steers no terminal."""
        return visible(super().format(record))


def show_logs() -> None:
    """Let what no one else handles be printed so that it steers no terminal."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(_Visible())
