"""The confirmation channel of a terminal: yes, no with guidance, always, edit, explain."""

import contextlib
import io
import json
import os
import shlex
import subprocess
import sys
import tempfile
import termios
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

__all__ = ["TerminalChannel", "edit_in_editor", "open_terminal"]


def open_terminal() -> TextIO | None:
    """Return the controlling terminal, or None without one; standard input may be the stream of messages."""
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return None
    # A terminal cannot seek, which `open` asks of a file that is read and written.
    return io.TextIOWrapper(io.FileIO(terminal, "w+"), encoding="utf-8", errors="replace", line_buffering=True)


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
        _forget_typed_ahead(self.terminal)
        render.request(render.console_on(self.terminal), request)
        always = "/[a]lways" if request.suggested_grants else ""
        while (line := self._line(f"run it? [y]es/[n]o{always}/[e]dit/e[x]plain/[s]how all/[q]uit: ")) is not None:
            word = line.strip().lower()
            if word in ("a", "always") and not request.suggested_grants:
                word = ""
            response = self._answer(word, request)
            if response is not None:
                return response
            self._help(word, request)
        return None

    def _answer(self, word: str, request: ToolConfirmationRequest) -> ToolConfirmationResponse | None:
        """Return the response a word stands for, or None when it is no answer yet."""
        match word:
            case "y" | "yes":
                return ToolConfirmationResponse(approved=True)
            case "n" | "no":
                guidance = self._line("what should the agent do instead? (empty for nothing) ")
                return ToolConfirmationResponse(approved=False, instructions=guidance or "")
            case "q" | "quit":
                return ToolConfirmationResponse(approved=False, abort=True)
            case "a" | "always":
                return ToolConfirmationResponse(approved=True, skip_future=True)
            case "e" | "edit" if (edited := self._edited(request)) is not None:
                return ToolConfirmationResponse(approved=True, arguments=edited)
        return None

    def _help(self, word: str, request: ToolConfirmationRequest) -> None:
        console = render.console_on(self.terminal)
        match word:
            case "s" | "show" | "show all":
                render.request(console, request, in_full=True)
            case "x" | "explain":
                render.explanation(console, request.tool, self.explain(request.call))
            case "e" | "edit":
                pass  # why the edit was not used has been said
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
        # ValueError: $EDITOR with an open quote, or a file that is no text any more.
        except (ValueError, OSError, subprocess.SubprocessError) as error:
            self.terminal.write(f"not used: {error}\n")
            return None
        if not isinstance(edited, dict):
            self.terminal.write("not used: the arguments must stay a JSON object\n")
            return None
        self.terminal.write("the edited call is decided now\n")
        return edited


def _forget_typed_ahead(terminal: TextIO) -> None:
    """Drop what was typed before the question could be read: it cannot be an answer to it."""
    if terminal.isatty():
        termios.tcflush(terminal.fileno(), termios.TCIFLUSH)


def edit_in_editor(text: str) -> str:
    """Return `text` as the user leaves it in `$VISUAL`, `$EDITOR`, or vi.

    Raises: `OSError` or `subprocess.SubprocessError` when the editor cannot be run or fails.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arguments.json"
        path.write_text(text, encoding="utf-8")
        # Standard input and output carry the session; the editor works on the terminal, where there is one.
        with contextlib.ExitStack() as stack:
            terminal = None
            with contextlib.suppress(OSError):
                terminal = stack.enter_context(Path("/dev/tty").open("r+b", buffering=0))
            subprocess.run(  # noqa: S603 -- the user's own editor
                [*shlex.split(editor), str(path)],
                check=True,
                stdin=terminal or subprocess.DEVNULL,
                stdout=terminal or sys.stderr,
                stderr=terminal,
            )
        return path.read_text(encoding="utf-8")
