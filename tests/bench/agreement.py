"""Equal answers before times: an engine that decides otherwise is not measured."""

import time
from collections.abc import Mapping, Sequence

import attrs
from tests.bench.peers.engine import Loaded
from tests.bench.workload import BenchCall

__all__ = ["Disagreement", "disagreements"]

_SECONDS = 3.0
_FEWEST = 20


@attrs.frozen
class Disagreement:
    """A call about which an engine and the oracle differ."""

    engine: str
    call: BenchCall
    answer: str
    wanted: str

    def __str__(self) -> str:
        return f"{self.engine} says `{self.answer}`, and not `{self.wanted}`, to {self.call}"


def disagreements(
    loaded: Mapping[str, Loaded], oracle: Loaded, calls: Sequence[BenchCall], seconds: float = _SECONDS
) -> dict[str, Disagreement]:
    """Return the first disagreement of every engine that has one.

    All calls are asked about; of a slow engine as many as `seconds` allow, yet not fewer than 20.
    """
    found: dict[str, Disagreement] = {}
    for name, engine in loaded.items():
        end = time.perf_counter() + seconds
        for at, call in enumerate(calls):
            if at >= _FEWEST and time.perf_counter() > end:
                break
            answer, wanted = _said(engine, call), _said(oracle, call)
            if not _is_same(answer, wanted):
                found[name] = Disagreement(name, call, answer, wanted)
                break
    return found


def _said(engine: Loaded, call: BenchCall) -> str:
    return engine.read(engine.ask(*engine.prepare(call)))


def _is_same(answer: str, wanted: str) -> bool:
    """Return whether an answer means the same; an engine without `confirm` can only say that it does not allow."""
    return wanted != "allow" if answer == "not allow" else answer == wanted
