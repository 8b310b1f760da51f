"""How long a decision about a command takes, next to what tree-sitter alone takes to parse it.

All are the best of several tries in this one run, in turns, so that the multiples can be trusted where the milliseconds
cannot. The growth says how each grows when the length doubles: 2.0 is linear.
"""

import functools
import gc
import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import tree_sitter_bash
from tests.bench.report import Report, Scale, Table, Tell, number
from tests.bench.timing import Request, Subject, Timing, measure
from tree_sitter import Language, Parser

from permitry import AuthContext, AuthorizationPolicy, ToolCall, load_policy
from permitry.actions.derive.script import read_command
from permitry.actions.folders import Folder
from permitry.actions.reading.strict import read_strictly
from permitry.actions.reading.words import UnreadableError

__all__ = ["run"]

_STAGES = (
    'git log --oneline -20 --author "A B"',
    "grep -v '^#'",
    "sort -u -k 2",
    "cut -d , -f 1-3",
    "head -n 20 2>/dev/null",
)
_ONE_LINERS = Path(__file__).resolve().parents[3] / "shared" / "cases" / "nl2bash.txt"
_EACH = 200
_PIPELINES = (1, 2, 5, 10, 50)
_READERS = ("tree-sitter", "strict", "read_command", "read-only", "coding-agent")
_FORMS: Mapping[str, Callable[[int], str]] = {
    "pipeline": lambda size: _joined(" | ", size),
    "one after another": lambda size: _joined(" && ", size),
    "words": lambda size: f"cat {'src/file.py ' * (size // 12)}",
    "quoted": lambda size: "grep x " + "'a b' \"c d\" " * (size // 12),
    "redirections": lambda size: "cat " + "<in >/dev/null " * (size // 15),
}
_TEXT = """\
A command is decided by what it would do, so it has to be read. Compared with tree-sitter-bash, which only parses: the
strict reader (`strict`), the reader with what is known about programs (`read_command`), and whole decisions with two
shipped rule sets. What the strict reader refuses for its size is marked so; it can only be asked about or blocked.
There is no peer here: no engine above reads commands.
The one-liners are commands that people wrote, where they are at hand
(`shared/cases/nl2bash.txt` next to the project)."""


def run(scale: Scale, tell: Tell) -> Report:
    """Return the multiples of what tree-sitter takes, and how each reader grows."""
    readers = _readers()
    found: list[tuple[str, str, dict[str, float]]] = []
    for count in _PIPELINES:
        text = " | ".join(_STAGES[at % len(_STAGES)] for at in range(count))
        found.append((f"{count} in a pipeline", text, _best(readers, text, scale.tries)))
    growth = []
    for form, make in _FORMS.items():
        tell(f"shell: {form}")
        each = [(f"{form}, {size} kB", make(size * 1000)) for size in scale.shell_sizes]
        measured = [(caption, text, _best(readers, text, scale.tries)) for caption, text in each]
        found += measured
        # A refusal is quick, whatever the length.
        growth.append((form, *_growth([best for _, text, best in measured if not _is_refused(text)])))
    head = ("command", "bytes", "tree-sitter ms", *(f"{name} x" for name in _READERS[1:]))
    rows = tuple(map(_row, found))
    ratios = Table("Multiples of what tree-sitter-bash takes to parse the same text:", head, rows[: len(_PIPELINES)])
    longer = Table("The same for long commands:", head, rows[len(_PIPELINES) :])
    grown = Table("Growth when the length doubles; 2.0 is linear:", ("form", *_READERS), tuple(growth))
    tell("shell: single commands, and those that people wrote")
    timings = _timed(scale)
    figures = Table(
        "µs for a decision, median / 99th percentile. Most of what an agent runs is *new*: not met before, and has\n"
        "to be read. Of the one-liners each is asked about once in a round:",
        ("command", "µs"),
        tuple((name, f"{number(timing.p50)} / {number(timing.p99)}") for name, timing in timings.items()),
    )
    facts = {f"{name}, p50": timing.p50 for name, timing in timings.items()}
    facts |= {f"{name}, p99": timing.p99 for name, timing in timings.items()}
    return Report("Decisions about shell commands", (ratios, grown), (longer, figures), text=_TEXT, facts=facts)


def _timed(scale: Scale) -> dict[str, Timing]:
    """Return what commands take under a shipped rule set: never seen before, seen before, and many different ones."""
    pipeline = " | ".join(_STAGES)
    subjects = {
        "`git status` and a new path under coding-agent": _new("git status", "coding-agent"),
        "`git status`, seen before, under coding-agent": _decided("coding-agent", ["git status"] * _EACH),
        "a new pipeline of five under coding-agent": _new(pipeline, "coding-agent"),
        "a pipeline of five, seen before, under coding-agent": _decided("coding-agent", [pipeline] * _EACH),
    }
    if _ONE_LINERS.exists():
        lines = _ONE_LINERS.read_text(encoding="utf-8").splitlines()
        subjects["one-liners under base"] = _decided(
            "base", [line for line in lines if line.strip()][:: scale.one_liners]
        )
    return measure(subjects, rounds=scale.rounds, seconds=60)


def _decided(name: str, texts: Sequence[str]) -> Subject:
    requests = _requests(texts)
    return Subject(load_policy(f"permitry:{name}").decide, lambda _: requests)


def _new(command: str, name: str) -> Subject:
    """Return decisions about texts of which none is met twice, in any round: each names a path of its own."""
    numbers = itertools.count()

    def requests(_: int) -> Sequence[Request]:
        return _requests([f"{command} src/{next(numbers)}.py" for _ in range(_EACH)])

    return Subject(load_policy(f"permitry:{name}").decide, requests, is_repeatable=False)


def _requests(texts: Sequence[str]) -> list[Request]:
    context = AuthContext(workspace=str(Path.cwd()))
    return [(ToolCall("run_shell", {"command": text}), context) for text in texts]


def _joined(sign: str, size: int) -> str:
    part = sign.join(_STAGES)
    return sign.join([part] * (size // (len(part) + len(sign))))


def _readers() -> dict[str, Callable[[str], object]]:
    context = AuthContext(workspace=str(Path.cwd()))
    folder = Folder((str(context.workspace),), None)
    parse = Parser(Language(tree_sitter_bash.language())).parse

    def decide(policy: AuthorizationPolicy, text: str) -> object:
        return policy.decide(ToolCall("run_shell", {"command": text}), context)

    found: dict[str, Callable[[str], object]] = {
        "tree-sitter": lambda text: parse(text.encode()),
        "strict": _is_refused,
        "read_command": lambda text: read_command(text, folder),
    }
    for name in _READERS[3:]:
        found[name] = functools.partial(decide, load_policy(f"permitry:{name}"))
    return found


def _is_refused(text: str) -> bool:
    """Read a text strictly; return whether it was too much."""
    try:
        read_strictly(text)
    except UnreadableError:
        return True
    return False


def _best(readers: Mapping[str, Callable[[str], object]], text: str, tries: int) -> dict[str, float]:
    """Return what every reader takes for a text, in seconds."""
    best = dict.fromkeys(readers, float("inf"))
    for _ in range(tries):
        for name, read in readers.items():
            best[name] = min(best[name], *_measured(read, text, best[name]))
    return best


def _measured(read: Callable[[str], object], text: str, known: float) -> Iterator[float]:
    """Yield the seconds of several calls, more of them when one is short."""
    gc.disable()
    for _ in range(1 if known > 0.01 else 20):
        begin = time.perf_counter()
        read(text)
        yield time.perf_counter() - begin
    gc.enable()


def _row(found: tuple[str, str, dict[str, float]]) -> tuple[str, ...]:
    caption, text, best = found
    base = best["tree-sitter"]
    caption = f"{caption} (refused)" if _is_refused(text) else caption
    return (caption, f"{len(text):,}", f"{base * 1000:.3f}", *(number(best[name] / base) for name in _READERS[1:]))


def _growth(found: list[dict[str, float]]) -> Iterator[str]:
    for name in _READERS:
        doublings = len(found) - 1
        yield f"{(found[-1][name] / found[0][name]) ** (1 / doublings):.2f}" if doublings > 0 else "-"
