"""Questions that a human answers with `permitry approve`, in another terminal: files in the user's state folder.

A question is about one call of one agent in one session, by its digest. Its answer is a second file, which counts once.
"""

import contextlib
import hashlib
import json
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

from permitry.confirm.response import ToolConfirmationResponse
from permitry.errors import LedgerError, PermitryError
from permitry.files import open_regular, replace_file

__all__ = ["Question", "Questions", "ancestors"]

_PAUSE = 0.1
_QUESTION, _ANSWER = ".question", ".answer"


@attrs.frozen
class Question:
    """What a human is asked; open until `until` (seconds since 1970). `above` are the processes above the hook."""

    id: str
    host: str
    session: str
    agent: str
    tool: str
    arguments: dict[str, Any]
    digest: str
    reason: str
    folder: str
    until: float
    above: list[int] = attrs.field(factory=list)

    @staticmethod
    def name(host: str, session: str, agent: str, digest: str) -> str:
        """Return the id of the question about a call; the same call of the same agent has the same one."""
        return hashlib.sha256(json.dumps([host, session, agent, digest]).encode()).hexdigest()[:10]


@attrs.frozen
class Questions:
    """The open questions of a user, in a folder that no one else may enter."""

    folder: Path

    def open(self, question: Question) -> None:
        """Keep a question; one about the same call that is open already stays open for longer."""
        self._make()
        self._put(question.id + _QUESTION, attrs.asdict(question))

    def names(self) -> list[str]:
        """Return the ids of the questions that are kept, oldest first; some may be late."""
        if not self.folder.exists():
            return []
        self._make()
        paths = sorted(self.folder.glob(f"*{_QUESTION}"), key=lambda path: path.lstat().st_mtime)
        return [path.name.removesuffix(_QUESTION) for path in paths]

    def find(self, name: str) -> Question | None:
        """Return an open question by its id; None for one that is closed or late."""
        data = self._get(name + _QUESTION)
        if data is None or data["until"] < time.time():
            return None
        return Question(**data)

    def is_answered(self, name: str) -> bool:
        """Return whether an answer is there that was not taken yet."""
        return (self.folder / (name + _ANSWER)).exists()

    def answer(self, question: Question, response: ToolConfirmationResponse) -> None:
        """Keep the answer to a question, once.

        Raises: `LedgerError` for a question that is not open any more, or was answered.
        """
        now = self.find(question.id)
        # The agent may have made the call again meanwhile, which keeps the question open for longer.
        if now is not None:
            now = attrs.evolve(now, until=question.until, above=question.above)
        if now != question or self._get(question.id + _ANSWER) is not None:
            raise LedgerError(f"the question `{question.id}` is not open any more")
        given = {"approved": response.is_approval, "instructions": response.instructions}
        self._put(question.id + _ANSWER, {"digest": question.digest, **given})

    def take(self, name: str, digest: str) -> ToolConfirmationResponse | None:
        """Return the answer to a question, and close it; None if there is none for this very call, or it is late."""
        question, data = self.find(name), self._get(name + _ANSWER)
        if data is None:
            return None
        try:
            # INVARIANT: law 5. Of two that see an answer, one can remove it.
            os.unlink(self.folder / (name + _ANSWER))  # noqa: PTH108 -- pathlib can pass over a file that is gone
        except FileNotFoundError:
            return None
        self.close(name)
        if question is None or not question.digest == data["digest"] == digest:
            return None
        return ToolConfirmationResponse(data["approved"], instructions=data["instructions"])

    def wait(self, question: Question, seconds: float) -> ToolConfirmationResponse | None:
        """Return the answer to a question as soon as it is there; None if none comes in time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            response = self.take(question.id, question.digest)
            if response is not None:
                return response
            time.sleep(_PAUSE)
        return None

    def close(self, name: str) -> None:
        """Close a question."""
        with contextlib.suppress(FileNotFoundError):
            (self.folder / (name + _QUESTION)).unlink()

    def _make(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = self.folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
            raise PermitryError(f"`{self.folder}` must be a folder that you alone may enter")

    def _put(self, name: str, data: dict[str, Any]) -> None:
        replace_file(self.folder / name, json.dumps(data).encode())

    def _get(self, name: str) -> dict[str, Any] | None:
        try:
            with open_regular(self.folder / name) as (stream, _):
                data: dict[str, Any] = json.loads(stream.read())
        except FileNotFoundError:
            return None
        return data


def ancestors(process: int) -> Iterator[int]:
    """Yield the processes above one, the nearest first; none where the system does not say."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        while process > 1:
            # The name of the program may hold anything, and is in parentheses.
            text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
            process = int(text.rpartition(")")[2].split()[1])
            if process > 1:
                yield process
