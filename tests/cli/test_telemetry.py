"""`--otel`: what commands decide and undo is sent to a collector."""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.collector import attributes, listening

from permitry.audit.record import MemoryRecorder
from permitry.cli.telemetry import add_otel_option, sent, watched
from permitry.errors import PermitryError
from permitry.guard import Guard

Cli = Callable[..., tuple[int, str, str]]
RULES = 'schema = 1\n[[rule]]\nid = "undoable"\neffect = "allow"\nkeep = true\ntools = ["@shell"]\n'


def test_a_session_and_an_undo_are_sent(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the decision, what was kept, and how it ended; then what was taken back."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.txt").write_text("one\n")
    (tmp_path / "rules.toml").write_text(RULES)
    call = {"id": "c1", "name": "run_shell", "arguments": {"command": "echo two > a.txt"}}
    (tmp_path / "s.jsonl").write_text(json.dumps(call))
    words = ("--rules", tmp_path / "rules.toml", "--workspace", tmp_path / "work", "--unattended", "block", "--otel")
    with listening() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address)
        code, _, err = cli("run", tmp_path / "s.jsonl", *words)
        assert code == 0, err
        code, _, err = cli("undo", "--last", "--otel")
        assert code == 0, err
        run, undo = collector.spans()
        assert (run.name, undo.name) == ("execute_tool run_shell", "undo run_shell")
        assert [event.name for event in run.events] == ["permitry.kept", "permitry.started"]
        found = attributes(run)
        assert (found["permitry.verdict"], found["permitry.rule"], found["permitry.outcome"]) == (
            "allow", "undoable", "ok"
        )  # fmt: skip
        same = ("gen_ai.tool.call.id", "permitry.call.digest")
        assert [attributes(undo)[name] for name in same] == [found[name] for name in same]
        assert attributes(undo)["permitry.undo.entry"] == "1"
        assert all(b"a.txt" not in body for path, body in collector.bodies if path == "/v1/traces")


def test_without_it_nothing_is_sent() -> None:
    """The recorder is the one that there was."""
    recorder = MemoryRecorder()
    with sent(recorder, is_on=False) as found:
        assert found is recorder
    guard = Guard(recorder=recorder)
    with watched(guard, is_on=False):
        assert guard.recorder is recorder


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to install."""
    monkeypatch.setitem(sys.modules, "permitry.audit.otlp", None)
    with pytest.raises(PermitryError, match=r"install `permitry\[otlp\]`"), sent(MemoryRecorder(), is_on=True):
        pass


def test_the_option_is_off() -> None:
    """Unless it is given."""
    parser = argparse.ArgumentParser()
    add_otel_option(parser)
    assert [parser.parse_args(words).otel for words in ([], ["--otel"])] == [False, True]
