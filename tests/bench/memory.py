"""What an engine with rules in it weighs: each in a process of its own.

For engines in Python it is what `tracemalloc` counts after loading; for native ones, whose memory Python does not see,
it is what the process has grown by. Before either, a small set of rules has been loaded once.
"""

import gc
import subprocess
import sys
import tracemalloc
from pathlib import Path

from tests.bench.peers.engine import Engine
from tests.bench.peers.everyone import engines
from tests.bench.workload import rules

__all__ = ["bytes_per_rule", "grown", "resident"]

_HERE = Path(__file__).parent
_STATUS = Path("/proc/self/statm")
_PAGE = 4096


def bytes_per_rule(engine: Engine, count: int) -> float | None:
    """Return the bytes for each of `count` rules, or None where that cannot be measured."""
    if engine.is_native and not _STATUS.exists():
        return None
    command = [sys.executable, str(_HERE), "--weigh", engine.name, str(count)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    return int(done.stdout) / count if done.returncode == 0 else None


def grown(name: str, count: int) -> int:
    """Return how many bytes this process has grown by, with `count` rules in the engine of this name."""
    engine = next(each for each in engines() if each.name == name)
    small, large = engine.write(rules(20)), engine.write(rules(count))
    kept = [engine.load(small)]
    gc.collect()
    if engine.is_native:
        before = resident()
        kept.append(engine.load(large))
        gc.collect()
        return resident() - before
    tracemalloc.start()
    kept.append(engine.load(large))
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def resident() -> int:
    """Return the resident memory of this process, in bytes."""
    return int(_STATUS.read_text(encoding="ascii").split()[1]) * _PAGE
