"""The samples with ground truth, and the commands another agent calls safe: who of them only reads."""

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from permitry.actions.command import Command
from permitry.actions.derive.unwrap import why_not_reading, why_not_reading_all
from permitry.actions.reading.strict import UnreadableError, read_strictly
from permitry.core.action import Word

CASES = Path(__file__).resolve().parents[2] / ".." / "shared" / "cases"
SAMPLES = CASES / "security" / "shell_cases.jsonl"
CODEX = CASES / "codex.json"

STRICTER = {
    "codex-123": "`git -C` moves into a folder that may hold a repository of somebody else",
    "codex-146": "zsh reads text in its own way; the strict reader knows bash's",
}
"""Commands Codex calls safe and we do not, with the reason why ours is the safer answer."""

READ = {
    "codex-185": "what stands in a subshell is read and judged like any other command",
    "codex-186": "the same, behind `||`",
}
"""Commands Codex does not call safe because it does not read them, and we do."""


def only_reads(text: str) -> bool:
    """Return whether a command comes out as reading."""
    try:
        return why_not_reading_all(read_strictly(text)) is None
    except UnreadableError:
        return False


@pytest.fixture(scope="module")
def samples() -> list[dict[str, Any]]:
    """Return the samples that are scored."""
    if not SAMPLES.exists():
        pytest.skip("the shared cases are not here")
    rows = [json.loads(line) for line in SAMPLES.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["tier"] != "contested"]


@pytest.fixture(scope="module")
def known_safe() -> list[dict[str, Any]]:
    """Return Codex's cases about commands that need no question."""
    if not CODEX.exists():
        pytest.skip("the shared cases are not here")
    cases = json.loads(CODEX.read_text(encoding="utf-8"))["cases"]
    return [case for case in cases if case["kind"] == "known_safe"]


def test_no_unsafe_sample_reads(samples: list[dict[str, Any]]) -> None:
    """No command that does something comes out as reading."""
    unsafe = [row for row in samples if not row["safe_read_only"]]
    assert len(unsafe) > 100
    assert [row["id"] for row in unsafe if only_reads(row["command"])] == []


def test_every_core_sample_that_reads_does(samples: list[dict[str, Any]]) -> None:
    """Every ordinary command that only reads comes out as reading."""
    safe = [row for row in samples if row["safe_read_only"] and row["tier"] == "core"]
    assert len(safe) > 30
    assert [row["id"] for row in safe if not only_reads(row["command"])] == []


def test_some_samples_are_refused_out_of_caution(samples: list[dict[str, Any]]) -> None:
    """Of the samples that may be refused, only those are that the strict reader does not know."""
    stretch = [row for row in samples if row["safe_read_only"] and row["tier"] == "stretch"]
    refused = {row["id"] for row in stretch if not only_reads(row["command"])}
    assert refused <= {"STR-002", "STR-038", "STR-058"}


def test_codex_agrees(known_safe: list[dict[str, Any]]) -> None:
    """What Codex calls unsafe never reads; what it calls safe does, but for the differences that are listed."""
    assert len(known_safe) > 70
    for case in known_safe:
        reads = why_not_reading(Command(tuple(Word(word) for word in case["command"]))) is None
        safe = case["expected"]["known_safe"] or case["id"] in READ
        assert reads == (safe and case["id"] not in STRICTER), case["id"]


def test_decompositions_are_exact(samples: list[dict[str, Any]]) -> None:
    """What is read strictly is read word for word as bash itself took it apart."""
    read = 0
    for row in samples:
        with contextlib.suppress(UnreadableError):
            argvs = [list(command.argv) for command in read_strictly(row["command"])] if row["decomposed"] else None
            read += argvs is not None
            assert argvs in (None, row["decomposed"]), row["id"]
    assert read > 150
