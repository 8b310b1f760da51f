"""`--otel`: what commands decide and undo is sent to a collector."""

import argparse
import json
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.collector import attributes, listening

from permitry.audit.record import MemoryRecorder
from permitry.channels.clock import Moment
from permitry.channels.response import ToolConfirmationResponse
from permitry.channels.stored_question import StoredQuestion, answer_to
from permitry.cli.telemetry import add_otel_option, sent, watched
from permitry.errors import PermitryError
from permitry.guard.grants import Grant
from permitry.guard.guard import Guard
from permitry.guard.ledgers import grants_at, questions_at

Cli = Callable[..., tuple[int, str, str]]
RULES = 'schema = 1\n[[rule]]\nid = "undoable"\neffect = "allow"\nkeep = true\ntools = ["@shell"]\n'
WRITE = json.dumps({"id": "w", "name": "write_file", "arguments": {"path": "a", "content": "x"}}) + "\n"


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


@pytest.mark.parametrize("approved", [True, False])
def test_an_answer_from_a_store_is_part_of_the_span(
    cli: Cli, guarding: list[str], address: str, monkeypatch: pytest.MonkeyPatch, *, approved: bool
) -> None:
    """As one that was given here."""

    def respond() -> None:
        store, end = questions_at(address), time.monotonic() + 30
        while not (rows := store.open(Moment.now())) and time.monotonic() < end:
            time.sleep(0.05)
        answer_to(store, StoredQuestion.of(rows[0]), ToolConfirmationResponse(approved), by="ann")

    human = threading.Thread(target=respond)
    human.start()
    with listening() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address)
        cli(*guarding, "--store", address, "--unattended", "wait", "--otel", stdin=WRITE)
        (span,) = collector.spans()
        (point,) = collector.metrics()["permitry.question.duration"].histogram.data_points
    human.join()
    asked, answered, *_ = span.events
    assert (asked.name, answered.name, attributes(answered)) == (
        "permitry.asked", "permitry.answered", {"permitry.approved": approved}
    )  # fmt: skip
    assert "error.type" not in attributes(span)
    assert attributes(span)["permitry.outcome"] == ("ok" if approved else "not approved")
    assert attributes(point)["permitry.approved"] is approved


def test_a_grant_from_a_store_is_part_of_the_span(
    cli: Cli, guarding: list[str], address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its id, so that it can be found and revoked."""
    grant = Grant('tools = ["write_file"]')
    grants_at(address).store.add(grant.row())
    with listening() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address)
        cli(*guarding, "--store", address, "--unattended", "block", "--otel", stdin=WRITE)
        (span,) = collector.spans()
    found = attributes(span)
    assert (found["permitry.outcome"], found["permitry.rule"]) == ("ok", f"grant-{grant.id}")


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
    monkeypatch.setitem(sys.modules, "permitry_ops.otlp", None)
    with pytest.raises(PermitryError, match=r"pip install 'permitry\[otlp\]'"), sent(MemoryRecorder(), is_on=True):
        pass


def test_the_option_is_off() -> None:
    """Unless it is given."""
    parser = argparse.ArgumentParser()
    add_otel_option(parser)
    assert [parser.parse_args(words).otel for words in ([], ["--otel"])] == [False, True]
