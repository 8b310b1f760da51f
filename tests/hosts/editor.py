"""The real Claude Code as an editor starts it: each question comes to the program that has started it."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.hosts.fake_models import Call, FakeModel, serving
from tests.hosts.real_hosts import MODULES

__all__ = ["Question", "ask_in_editor"]

Question = dict[str, Any]

_WORDS = (
    "claude", "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
    "--permission-prompt-tool", "stdio", "--model", "claude-sonnet-4-5", "--permission-mode",
)  # fmt: skip
_AT_ONCE = 10


def ask_in_editor(
    home: Path, commands: Sequence[str], *, mode: str = "default", says: str = "deny", **environ: str
) -> tuple[list[Question], FakeModel]:
    """Return what the user of an editor is asked while a model runs commands in `project`, and that model.

    What is not asked about runs, and what is asked about if the user `says` "allow".
    """
    calls = [Call("Bash", {"command": command, "description": "a test"}) for command in commands]
    model = FakeModel([calls[at : at + _AT_ONCE] for at in range(0, len(calls), _AT_ONCE)])
    with serving(model):
        whole = {
            "HOME": str(home), "PATH": f"{MODULES}/.bin:/usr/local/bin:/usr/bin:/bin", "ANTHROPIC_BASE_URL": model.url,
            "ANTHROPIC_API_KEY": "x", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_ENTRYPOINT": "sdk-ts", "BASH_DEFAULT_TIMEOUT_MS": "3000", **environ,
        }  # fmt: skip
        with subprocess.Popen(
            [*_WORDS, mode], cwd=home / "project", env=whole, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        ) as process:  # fmt: skip
            asked = _answer_all(process, says)
            # It would wait for commands that go on in the background.
            process.kill()
    return asked, model


def _answer_all(process: "subprocess.Popen[str]", says: str) -> list[Question]:
    asked: list[Question] = []
    assert process.stdin is not None
    assert process.stdout is not None
    _send(process, {"type": "user", "message": {"role": "user", "content": "go"}})
    for line in process.stdout:
        message = json.loads(line)
        if message["type"] == "result":
            break
        if message["type"] == "control_request":
            asked.append(message["request"])
            more = {"updatedInput": message["request"]["input"]} if says == "allow" else {"message": "no"}
            answer = {"request_id": message["request_id"], "response": {"behavior": says, **more}}
            _send(process, {"type": "control_response", "response": {"subtype": "success", **answer}})
    return asked


def _send(process: "subprocess.Popen[str]", message: Mapping[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{json.dumps(message)}\n")
    process.stdin.flush()
