"""The confirmation channel of a terminal: yes, no with guidance, always, edit, explain."""

import json
import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

import attrs

from permitry.cli import render
from permitry.confirm.request import ToolConfirmationRequest
from permitry.confirm.response import ToolConfirmationResponse
from permitry.core._json import parse_json
from permitry.core.call import ToolCall
from permitry.core.decision import Explanation
from permitry.errors import CallError

__all__ = ["TerminalChannel", "edit_in_editor", "open_terminal"]


def open_terminal() -> TextIO | None:
    """Return the controlling terminal, or None without one; standard input may be the stream of messages."""
    try:
        return open("/dev/tty", "r+", encoding="utf-8", buffering=1)  # noqa: PTH123 -- it stays open for the run
    except OSError:
        return None


@attrs.define
class TerminalChannel:
    """Asks on a terminal, and waits for a line.

    `explain` returns the explanation of a call; `edit` takes text and returns it edited, through `$EDITOR`.
    """

    terminal: TextIO
    explain: Callable[[ToolCall], Explanation]
    edit: Callable[[str], str]

    def ask(self, request: ToolConfirmationRequest) -> ToolConfirmationResponse | None:
        """Show the request and return the answer; the end of input is no answer."""
        console = render.console_on(self.terminal)
        render.request(console, request)
        while True:
            always = "/[a]lways" if request.suggested_grants else ""
            line = self._line(f"run it? [y]es/[n]o{always}/[e]dit/e[x]plain/[q]uit: ")
            if line is None:
                return None
            match line.strip().lower():
                case "y" | "yes":
                    return ToolConfirmationResponse(approved=True)
                case "n" | "no":
                    guidance = self._line("what should the agent do instead? (empty for nothing) ")
                    return ToolConfirmationResponse(approved=False, instructions=guidance or "")
                case "q" | "quit":
                    return ToolConfirmationResponse(approved=False, abort=True)
                case "a" | "always" if request.suggested_grants:
                    return ToolConfirmationResponse(approved=True, skip_future=True)
                case "e" | "edit":
                    if (edited := self._edited(request)) is not None:
                        return ToolConfirmationResponse(approved=True, arguments=edited)
                case "x" | "explain":
                    render.explanation(console, request.tool, self.explain(request.call))
                case _:
                    console.print("please answer with one of the letters in brackets")

    def _line(self, prompt: str) -> str | None:
        self.terminal.write(prompt)
        self.terminal.flush()
        line = self.terminal.readline()
        return line.rstrip("\n") if line else None

    def _edited(self, request: ToolConfirmationRequest) -> dict[str, Any] | None:
        """Return the arguments as edited, or None to go back to the question."""
        before = json.dumps(request.call.thawed(), indent=2, ensure_ascii=False) + "\n"
        try:
            after = self.edit(before)
            edited = parse_json(after)
        except (CallError, OSError, subprocess.SubprocessError) as error:
            self.terminal.write(f"not used: {error}\n")
            return None
        if not isinstance(edited, dict):
            self.terminal.write("not used: the arguments must stay a JSON object\n")
            return None
        self.terminal.write("running the edited call\n")
        return edited


def edit_in_editor(text: str) -> str:
    """Return `text` as the user leaves it in `$VISUAL`, `$EDITOR`, or vi.

    Raises: `OSError` or `subprocess.SubprocessError` when the editor cannot be run or fails.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arguments.json"
        path.write_text(text, encoding="utf-8")
        subprocess.run([*shlex.split(editor), str(path)], check=True)  # noqa: S603 -- the user's own editor
        return path.read_text(encoding="utf-8")
