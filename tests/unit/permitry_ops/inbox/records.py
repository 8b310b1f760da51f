"""A record, as a file."""

import json
from pathlib import Path

from permitry.audit.record import JsonlRecorder
from permitry.core.call import ToolCall


def keep(path: Path, text: str = "word", count: int = 1) -> None:
    """Add events with a text in every field that is shown."""
    recorder = JsonlRecorder(str(path), session=text)
    call = ToolCall("t", {"x": 1}, call_id="c")
    for _ in range(count):
        recorder.record("decided", call, verdict="block", rule="r", arguments={"x": text})
        recorder.record("asked", call)
        recorder.record("answered", call, approved=True)
        recorder.record("finished", call, outcome="ok", seconds=0.25)
    recorder.close()
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    odd = [{**line, "tool": text, "rule": text} if line.get("tool") else line for line in lines]
    odd += [
        {"event": text, "at": f"2026-{text}", "verdict": text, "tool": text, "outcome": text, "arguments": {text: text}}
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in odd), encoding="utf-8")
