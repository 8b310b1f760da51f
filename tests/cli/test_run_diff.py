"""`permitry run --diff`: after each message whose calls ran, what changed in the workspace."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from permitry.cli.guard import SessionGuard
from permitry.cli.render import console_on, diff
from permitry.dispatch.registry import ToolRegistry
from permitry.handler import ToolHandler

Outcome = tuple[int, str, str]
Cli = Callable[..., Outcome]
Objects = Callable[[str], list[dict[str, Any]]]

NEW = """diff --git a/a.txt b/a.txt
new file mode 100644
index 0000000..257cc56
--- /dev/null
+++ b/a.txt
@@ -0,0 +1 @@
+foo
"""


def stream(*commands: str) -> str:
    """Return a session of shell commands."""
    calls = ({"name": "run_shell", "arguments": {"command": each}} for each in commands)
    return "".join(f"{json.dumps(call)}\n" for call in calls)


@pytest.fixture
def freely(guarding: list[str], tmp_path: Path) -> list[str]:
    """Return the words of a session that runs everything and shows its diffs."""
    rules = tmp_path / "rules.toml"
    rules.write_text('schema = 1\n[[rule]]\nid = "all"\neffect = "allow"\ntools = ["*"]\n')
    words = [str(rules) if each == "permitry:coding-agent" else each for each in guarding]
    return [*words, "--diff"]


def test_each_message_has_its_own_diff(cli: Cli, freely: list[str], objects: Objects) -> None:
    """After the results of its line; a message that changed nothing has none."""
    session = stream("echo foo > a.txt", "cat a.txt", "mv a.txt b.txt")
    _, out, err = cli(*freely, "--json", stdin=session)
    lines = objects(out)
    assert [next(iter(line)) for line in lines] == ["name", "diff", "name", "name", "diff", "summary"]
    assert lines[1] == {"diff": {"line": 1, "text": NEW}}
    assert lines[4]["diff"]["line"] == 3
    assert "\nrename from a.txt\nrename to b.txt\n" in lines[4]["diff"]["text"]
    assert err == ""


def test_people_read_it_on_standard_error(cli: Cli, freely: list[str]) -> None:
    """Below the line of the call."""
    _, out, err = cli(*freely, stdin=stream("echo foo > a.txt"))
    assert len(out.splitlines()) == 1
    assert f"ran\n{NEW}\npermitry: what happened" in err


def test_all_calls_of_a_message_are_one_turn(cli: Cli, freely: list[str], objects: Objects) -> None:
    """What one call of it writes and the next removes has not changed."""
    calls = [json.loads(line) for line in stream("echo foo > a.txt; echo x > b", "rm b").splitlines()]
    blocks = [
        {"type": "tool_use", "id": str(at), "name": each["name"], "input": each["arguments"]}
        for at, each in enumerate(calls)
    ]
    _, out, _ = cli(*freely, "--json", stdin=json.dumps({"role": "assistant", "content": blocks}))
    assert [line["diff"] for line in objects(out) if "diff" in line] == [{"line": 1, "text": NEW}]


def test_a_message_whose_calls_did_not_run_has_no_diff(
    cli: Cli, guarding: list[str], workspace: Path, objects: Objects
) -> None:
    """Whatever happens in the workspace meanwhile."""
    _, out, _ = cli(*guarding, "--diff", "--json", "--unattended", "block", stdin=stream("echo foo > a.txt"))
    assert [next(iter(line)) for line in objects(out)] == ["name", "summary"]
    assert list(workspace.iterdir()) == []


def test_without_the_option_nothing_is_compared(
    cli: Cli, freely: list[str], objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It costs nothing then."""
    monkeypatch.setattr("permitry_ops.cli.run.TurnDiffTracker", pytest.fail)
    _, out, _ = cli(*freely[:-1], "--json", stdin=stream("echo foo > a.txt"))
    assert [next(iter(line)) for line in objects(out)] == ["name", "summary"]


def test_a_text_cannot_steer_the_terminal(cli: Cli, freely: list[str]) -> None:
    """What is invisible in a file or in its name is spelled out."""
    _, _, err = cli(*freely, stdin=stream("printf '\\033[2Jx\\r\\342\\200\\256y\\n' > $'a\\033[31m'"))
    assert '+++ "b/a\\033[31m"\n' in err
    assert "\n+\\u001b[2Jx\\u000d\\u202ey\n" in err


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_it_is_in_colour_and_not_endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Added and removed lines can be distinguished; of a long diff the beginning is shown."""
    monkeypatch.setenv("COLORTERM", "truecolor")
    terminal = _Terminal()
    diff(console_on(terminal), NEW + "-bar\n" + "+x\n" * 2000)
    shown = terminal.getvalue()
    assert "\x1b[32m+foo\x1b[0m\n" in shown
    assert "\x1b[31m-bar\x1b[0m\n" in shown
    assert "\x1b[1m--- /dev/null\x1b[0m\n" in shown
    assert shown.endswith("\x1b[33m... 1008 more lines\x1b[0m\n")


class _Interrupting:
    """A tracker during whose work the user presses Ctrl-C."""

    def __init__(self, when: str) -> None:
        self.when = when

    def begin(self) -> None:
        if self.when == "begin":
            raise KeyboardInterrupt

    def diff(self) -> str:
        raise KeyboardInterrupt


@pytest.mark.parametrize("when", ["begin", "diff"])
def test_an_interrupt_takes_no_result_away(capsys: pytest.CaptureFixture[str], objects: Objects, when: str) -> None:
    """Every call has one, also where the workspace was just being looked at."""
    handler = ToolHandler(registry=ToolRegistry(), tracker=_Interrupting(when))
    handler.session.yolo_mode = True
    handler.registry.tool(_look)
    guard = SessionGuard(handler, "r", is_quiet=True)
    with pytest.raises(KeyboardInterrupt):
        guard.line(1, '{"name": "_look", "arguments": {}}')
    (result,) = objects(capsys.readouterr().out)
    assert result["ok"] == (when == "diff")
    assert guard.rows[0].outcome == ("ran" if when == "diff" else "session over")


def _look() -> str:
    """Look at nothing."""
    return "seen"
