"""How long a decision about a command takes, beside what tree-sitter alone takes to parse it.

::

    python tests/bench/shell.py

Prints one table: for pipelines of several commands and for commands of growing length, the time tree-sitter-bash takes
in milliseconds, and as multiples of it our strict reader, the reader with what is known about programs, and whole
decisions with two shipped rule sets. All are the best of several tries in this one run, in turns, so that the multiples
can be trusted where the milliseconds cannot. The second table says how each grows when the length doubles: 2.0 is
linear.
"""

import functools
import gc
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping

import tree_sitter_bash
from tree_sitter import Language, Parser

from permitry import AuthContext, AuthorizationPolicy, ToolCall, load_policy
from permitry.actions.folders import Folder
from permitry.actions.shell.reading import read_command
from permitry.actions.shell.strict import read_strictly

_STAGES = (
    'git log --oneline -20 --author "A B"',
    "grep -v '^#'",
    "sort -u -k 2",
    "cut -d , -f 1-3",
    "head -n 20 2>/dev/null",
)
_TRIES = 5
_LENGTHS = (4, 8, 16, 32, 64)
"""In thousands of bytes; the strict reader takes 64 KiB at most."""

_READERS = ("tree-sitter", "strict", "read_command", "read-only", "coding-agent")
_FORMS: Mapping[str, Callable[[int], str]] = {
    "pipeline": lambda size: _joined(" | ", size),
    "one after another": lambda size: _joined(" && ", size),
    "words": lambda size: f"cat {'src/file.py ' * (size // 12)}",
    "quoted": lambda size: "grep x " + "'a b' \"c d\" " * (size // 12),
    "redirections": lambda size: "cat " + "<in >/dev/null " * (size // 15),
}


def main() -> None:
    """Print both tables."""
    readers = _readers()
    _tell("command", "bytes", "tree-sitter ms", *(f"{name} x" for name in _READERS[1:]))
    for count in (1, 2, 5, 10, 50):
        _row(readers, f"{count} in a pipeline", " | ".join(_STAGES[at % len(_STAGES)] for at in range(count)))
    growth = []
    for form, make in _FORMS.items():
        found = [_row(readers, f"{form}, {size} kB", make(size * 1000)) for size in _LENGTHS]
        factors = ((found[-1][name] / found[0][name]) ** (1 / (len(found) - 1)) for name in _READERS)
        growth.append((form, *(f"{factor:.2f}" for factor in factors)))
    _tell("\ngrowth per doubling", *_READERS)
    for row in growth:
        _tell(*row)


def _joined(sign: str, size: int) -> str:
    part = sign.join(_STAGES)
    return sign.join([part] * (size // (len(part) + len(sign))))


def _readers() -> dict[str, Callable[[str], object]]:
    context = AuthContext(workspace=os.getcwd())  # noqa: PTH109 -- a context holds names
    folder = Folder((str(context.workspace),), None)
    parse = Parser(Language(tree_sitter_bash.language())).parse

    def decide(policy: AuthorizationPolicy, text: str) -> object:
        return policy.decide(ToolCall("run_shell", {"command": text}), context)

    found: dict[str, Callable[[str], object]] = {
        "tree-sitter": lambda text: parse(text.encode()),
        "strict": read_strictly,
        "read_command": lambda text: read_command(text, folder),
    }
    for name in _READERS[3:]:
        found[name] = functools.partial(decide, load_policy(f"permitry:{name}"))
    return found


def _row(readers: Mapping[str, Callable[[str], object]], told: str, text: str) -> dict[str, float]:
    """Print what every reader takes for a text, and return it in seconds."""
    best = dict.fromkeys(readers, float("inf"))
    for _ in range(_TRIES):
        for name, read in readers.items():
            best[name] = min(best[name], *_measured(read, text, best[name]))
    base = best["tree-sitter"]
    _tell(told, str(len(text)), f"{base * 1000:.3f}", *(f"{best[name] / base:.2f}" for name in _READERS[1:]))
    return best


def _measured(read: Callable[[str], object], text: str, known: float) -> Iterator[float]:
    """Yield the seconds of several calls, more of them when one is short."""
    gc.disable()
    for _ in range(1 if known > 0.01 else 20):
        begin = time.perf_counter()
        read(text)
        yield time.perf_counter() - begin
    gc.enable()


def _tell(first: str, *rest: str) -> None:
    sys.stdout.write(f"{first:<28}{''.join(f'{cell:>16}' for cell in rest)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
