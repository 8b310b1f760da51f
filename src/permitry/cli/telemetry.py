"""`--otel` of commands that decide: what is recorded is also sent to a collector."""

import argparse
import contextlib
from collections.abc import Iterator

from permitry.audit.recorder import Recorder
from permitry.extras import load
from permitry.guard.guard import Guard

__all__ = ["add_otel_option", "sent", "watched"]


def add_otel_option(parser: argparse.ArgumentParser) -> None:
    """Add `--otel`."""
    what = "also send spans and metrics over OTLP, to where OTEL_EXPORTER_OTLP_ENDPOINT says"
    parser.add_argument("--otel", action="store_true", help=what)


@contextlib.contextmanager
def sent(recorder: Recorder, *, is_on: bool) -> Iterator[Recorder]:
    """Yield a recorder, or if that is on one that also sends. Raises: `PermitryError`."""
    if not is_on:
        yield recorder
        return
    with load("permitry_ops.otlp:over_otlp", "otlp")(recorder) as sending:
        yield sending


@contextlib.contextmanager
def watched(guard: Guard, *, is_on: bool) -> Iterator[None]:
    """Send what a guard records meanwhile, if that is on. Raises: as `sent`."""
    with sent(guard.recorder, is_on=is_on) as guard.recorder:
        yield
