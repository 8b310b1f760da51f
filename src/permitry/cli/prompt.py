"""The confirmation channel of a terminal: yes, no with guidance, always, edit, respond instead, explain."""

import contextlib
import io
import json
import os
import re
import select
import shlex
import subprocess
import sys
import tempfile
import termios
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

import attrs
from rich.console import Console

from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.cli import render
from permitry.cli.always import Always, Offer
from permitry.core.call import ToolCall
from permitry.core.explanation import Explanation
from permitry.core.json_values import parse_json
from permitry.core.texts import visible

__all__ = ["TerminalChannel", "edit_in_editor", "open_terminal"]

_PAUSE = 0.2


def open_terminal() -> TextIO | None:
    """Return the controlling terminal, or None without one; standard input may be the stream of messages."""
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    except OSError:
        return None
    # A terminal cannot seek, which `open` asks of a file that is read and written.
    return io.TextIOWrapper(io.FileIO(terminal, "w+"), encoding="utf-8", errors="replace", line_buffering=True)


@attrs.define
class TerminalChannel:
    """Asks on a terminal, and waits for a line; `edit` takes text and returns it edited."""

    terminal: TextIO
    explain: Callable[[ToolCall], Explanation]
    edit: Callable[[str], str]
    preview: Callable[[ToolCall], str | None] = lambda _: None
    always: Always | None = None
    _is_seen: bool = attrs.field(default=True, init=False)
    _offers: list[Offer] = attrs.field(factory=list, init=False)
    # One question at a time: the answer belongs to what is on the screen.
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False)
    _left: set[str | None] = attrs.field(factory=set, init=False, repr=False)
    _shown: str | None = attrs.field(default=None, init=False, repr=False)

    def ask(self, request: ToolConfirmationRequest) -> ToolConfirmationResponse | None:
        """Show the request and return the answer; the end of input is not an answer."""
        with self._lock:
            self._shown = request.pending_id
            return None if self._shown in self._left else self._asked(request)

    def leave(self, request: ToolConfirmationRequest) -> None:
        """End the wait for a line: the question was answered elsewhere."""
        self._left.add(request.pending_id)

    def _asked(self, request: ToolConfirmationRequest) -> ToolConfirmationResponse | None:
        self._is_seen = self._show(request, in_full=request.is_plan)
        question = "leave plan mode with this plan?" if request.is_plan else "run it?"
        self._offers = self._offered(request)
        always = "/[a]lways" if self._offers else ""
        # Of a plan there is no result.
        respond = "" if request.is_plan else "/[r]espond"
        choices = f"[y]es/[n]o{always}/[e]dit{respond}/e[x]plain/[s]how all/[q]uit"
        while (line := self._line(f"{question} {choices}: ")) is not None:
            word = line.strip().lower()
            if (word in ("a", "always") and not always) or (word in ("r", "respond") and not respond):
                word = ""
            response = self._answer(word, request)
            if response is not None:
                return response
            self._help(word, request)
        return None

    def _show(self, request: ToolConfirmationRequest, *, in_full: bool = False) -> bool:
        return render.request(self._console, request, self.explain(request.call), in_full=in_full)

    def _answer(self, word: str, request: ToolConfirmationRequest) -> ToolConfirmationResponse | None:
        match word:
            case "y" | "yes" if self._is_seen:
                return ToolConfirmationResponse(approved=True)
            case "n" | "no":
                guidance = self._line("what should the agent do instead? (empty for nothing) ")
                return ToolConfirmationResponse(approved=False, instructions=guidance or "")
            case "q" | "quit":
                return ToolConfirmationResponse(approved=False, abort=True)
            case "a" | "always" if self._is_seen:
                return self._approved_for_good()
            case "e" | "edit" | "r" | "respond":
                return self._edited(request) if word.startswith("e") else self._respond()
        return None

    def _offered(self, request: ToolConfirmationRequest) -> list[Offer]:
        if self.always is None:
            return [Offer(each.label) for each in request.suggested_grants]
        return [] if request.is_plan else self.always.offers(request.call, may_ignore=bool(request.suggested_grants))

    def _approved_for_good(self) -> ToolConfirmationResponse | None:
        if self.always is None:
            return ToolConfirmationResponse(approved=True, skip_future=True)
        for number, offer in enumerate(self._offers, 1):
            self._say(f"  {number}  {offer.label}")
        answer = self._line(f"always what? a number, and f to keep it in {self.always.file} (empty: back): ")
        chosen = re.fullmatch(r"\s*(\d)\s*(f?)\s*", answer or "")
        if chosen is None or not 1 <= int(chosen[1]) <= len(self._offers):
            self._say("nothing is remembered")
            return None
        offer = self._offers[int(chosen[1]) - 1]
        if chosen[2] and not self._saved(offer):
            return None
        self.always.for_session(offer)
        return ToolConfirmationResponse(approved=True, skip_future=offer.rule is None)

    def _saved(self, offer: Offer) -> bool:
        if self.always is None or offer.rule is None:
            self._say("all calls of a tool are remembered for this session only; write a rule to keep that")
            return False
        try:
            self._say(self.always.diff(offer))
            if (self._line("save this? [y]es/[n]o: ") or "").strip().lower() not in ("y", "yes"):
                self._say("nothing is remembered")
                return False
            self.always.save(offer)
        except (OSError, ValueError) as error:
            self._say(f"not saved: {error}")
            return False
        return True

    def _respond(self) -> ToolConfirmationResponse | None:
        text = self._line("what does the call return, in place of the tool? (empty: back) ")
        return ToolConfirmationResponse(approved=False, result=text) if text else None

    def _help(self, word: str, request: ToolConfirmationRequest) -> None:
        match word:
            case "s" | "show" | "show all":
                self._is_seen = self._show(request, in_full=True)
            case "x" | "explain":
                render.explanation(self._console, request.tool, self.explain(request.call))
            case "y" | "yes" | "a" | "always":
                self._say("not all of it is shown yet: press s first")
            case "e" | "edit" | "r" | "respond":
                pass  # why the edit was not used has been said; without a text there is no response
            case _:
                self._say("please answer with one of the letters in brackets")

    @property
    def _console(self) -> Console:
        return render.console_on(self.terminal)

    def _say(self, text: str) -> None:
        self.terminal.write(f"{visible(text)}\n")

    def _line(self, prompt: str) -> str | None:
        _forget_typed_ahead(self.terminal)
        self.terminal.write(prompt)
        self.terminal.flush()
        if not self._has_line():
            self._say("")
            self._say("this was answered elsewhere")
            return None
        line = self.terminal.readline()
        # A line that was not finished with Enter is the end of input, not an answer.
        return line.rstrip("\n") if line.endswith("\n") else None

    def _has_line(self) -> bool:
        if not self.terminal.isatty():
            return True
        while self._shown is None or self._shown not in self._left:
            if select.select([self.terminal], [], [], _PAUSE)[0]:
                return True
        return False

    def _edited(self, request: ToolConfirmationRequest) -> ToolConfirmationResponse | None:
        try:
            edited = self._from_editor(request)
        # ValueError: $EDITOR with an open quote, a file that is not text any more, JSON that is none.
        except (ValueError, OSError, subprocess.SubprocessError) as error:
            self._say(f"not used: {error}")
            return None
        if edited.digest == request.call.digest:
            self._say("nothing changed")
            return None
        # Where the values of the call as it was came from says nothing about those of another.
        shown = attrs.evolve(request, call=edited, preview=self.preview(edited), origins=())
        self._show(shown, in_full=True)
        answer = self._line("run the call as edited? [y]es/[n]o, back to the first: ")
        if answer is None or answer.strip().lower() not in ("y", "yes"):
            self._is_seen = self._show(request)
            return None
        return ToolConfirmationResponse(approved=True, arguments=edited.to_dict())

    def _from_editor(self, request: ToolConfirmationRequest) -> ToolCall:
        text = json.dumps(request.call.to_dict(), indent=2, ensure_ascii=False)
        before = "".join(char if char == "\n" or char.isprintable() else json.dumps(char)[1:-1] for char in text) + "\n"
        return attrs.evolve(request.call, arguments=parse_json(self.edit(before)))


def _forget_typed_ahead(terminal: TextIO) -> None:
    """Drop what was typed before the question could be read."""
    if terminal.isatty():
        termios.tcflush(terminal.fileno(), termios.TCIFLUSH)


def edit_in_editor(text: str) -> str:
    """Return `text` as the user leaves it in an editor. Raises: `OSError`, `SubprocessError`."""
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
