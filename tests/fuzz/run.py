"""Fuzz one group of parsers with atheris (libFuzzer), guided by the branches of the code.

::

    pip install atheris                     # no dependency of the project; needs CPython 3.11 or later
    python tests/fuzz/run.py shell --minutes 10
    python tests/fuzz/run.py path --minutes 10 --keep DIR

The groups are `shell`, `path` (patches too), `host` and `rules`. Inputs grow up to 64 KiB. A defect does not end the
run: an input that raises, or takes one check more than a second of processor time, is kept in DIR (a new folder by
default), one for each kind, and reported at once. The last `slowest so far` is the slowest of all; libFuzzer ends
with the number of inputs.

The same targets run with hypothesis, without atheris, in `tests/property/test_parsers.py`.
"""

import argparse
import hashlib
import runpy
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import attrs

_LONGEST = 64 * 1024
_SLOW = 1.0


@attrs.define
class _Watch:
    """Gives inputs to every check, and keeps those that raise or are slow."""

    checks: Sequence[Callable[[str], object]]
    folder: Path
    seconds: float = 0.0
    tried: int = 0
    seen: set[str] = attrs.field(factory=set)

    def __call__(self, data: bytes) -> None:
        # Bytes that are not UTF-8 become lone surrogates, which JSON can hold as well.
        text = data.decode("utf-8", "surrogateescape")
        self.tried += 1
        for check in self.checks:
            self.watched(check, text, data)

    def watched(self, check: Callable[[str], object], text: str, data: bytes) -> None:
        begin = time.process_time()
        try:
            check(text)
        except Exception as error:  # noqa: BLE001 -- any is a finding
            places = traceback.extract_tb(error.__traceback__)[-2:]
            self.keep(f"{type(error).__name__} {[(each.name, each.lineno) for each in places]}", data)
        seconds = time.process_time() - begin
        if seconds > self.seconds:
            self.seconds = seconds
            self.tell(f"slowest so far: {check.__name__}, {seconds:.3f} s for {len(data)} bytes")
        if seconds > _SLOW:
            self.keep(f"slow {check.__name__} {int(seconds)}", data)

    def keep(self, kind: str, data: bytes) -> None:
        if kind not in self.seen:
            self.seen.add(kind)
            path = self.folder / hashlib.sha256(data).hexdigest()[:16]
            path.write_bytes(data)
            self.tell(f"DEFECT {kind}: {path}")

    def tell(self, text: str) -> None:
        sys.stdout.write(f"{self.tried}: {text}\n")
        sys.stdout.flush()


def main() -> None:
    """Read the command line and fuzz; libFuzzer ends the process."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("group", choices=("shell", "path", "host", "rules"))
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--keep", type=Path, help="where inputs are kept; a new folder by default")
    options = parser.parse_args()
    folder = options.keep or Path(tempfile.mkdtemp(prefix=f"fuzz-{options.group}-"))
    _fuzz(options.group, options.minutes, folder)


def _fuzz(group: str, minutes: float, folder: Path) -> None:
    import atheris  # type: ignore[import-untyped]  # noqa: PLC0415 -- no dependency of the project

    with atheris.instrument_imports(include=["permitry"]):
        targets: dict[str, Any] = runpy.run_path(str(Path(__file__).with_name("targets.py")))["TARGETS"]
    target = targets[group]
    seeds, corpus, found = (folder / name for name in ("seeds", "corpus", "found"))
    for each in (seeds, corpus, found):
        each.mkdir(parents=True, exist_ok=True)
    for at, text in enumerate(target.seeds):
        (seeds / f"{at:05}").write_bytes(text.encode())
    words = (piece.encode() for piece in target.pieces if len(piece) > 1)
    dictionary = folder / "pieces.dict"
    dictionary.write_text("".join(f'"{_escaped(word[:64])}"\n' for word in words))
    limits = (f"-max_total_time={int(60 * minutes)}", f"-max_len={_LONGEST}", "-len_control=20", "-timeout=600")
    atheris.Setup([sys.argv[0], str(corpus), str(seeds), f"-dict={dictionary}", *limits], _Watch(target.checks, found))
    atheris.Fuzz()


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


if __name__ == "__main__":
    main()
