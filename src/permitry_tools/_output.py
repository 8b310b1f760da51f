"""Output that keeps coming: its beginning and end in memory, the whole in an artifact, and counts that are true."""

import threading
from collections import deque

import attrs

from permitry.port import Artifact, Reporter, ToolEventKind, join_ends, kept, not_kept

__all__ = ["Output", "Piece"]


@attrs.define(eq=False)
class Piece:
    """Output from one look to the next: `length` characters in `lines` lines.

    `keep` is how many characters of the beginning, and of the end, stay in memory. Once something between them must go,
    all of it is written to an artifact as it comes.
    """

    keep: int
    length: int = 0
    lines: int = 0
    _head: list[str] = attrs.field(factory=list, init=False)
    _room: int = attrs.field(init=False)
    _tail: deque[str] = attrs.field(factory=deque, init=False)
    _tail_length: int = attrs.field(default=0, init=False)
    _has_gap: bool = attrs.field(default=False, init=False)
    _artifact: Artifact | None = attrs.field(default=None, init=False)
    _note: str = attrs.field(default="", init=False)

    def __attrs_post_init__(self) -> None:
        self._room = self.keep

    @property
    def is_whole(self) -> bool:
        """Whether all of it is in memory."""
        return not self._has_gap

    def add(self, text: str, reporter: Reporter | None) -> None:
        """Take more of it; `reporter` says where it is kept when there is too much."""
        self.length += len(text)
        self.lines += text.count("\n")
        if self._artifact is not None:
            self._artifact.write(text)
        before, after = text[: self._room], text[self._room :]
        if before:
            self._head.append(before)
            self._room -= len(before)
        if after:
            self._tail.append(after)
            self._tail_length += len(after)
        if self._tail_length > self.keep:
            self._shorten(reporter)

    def _shorten(self, reporter: Reporter | None) -> None:
        if not self._has_gap:
            self._has_gap = True
            self._begin_artifact(reporter)
        while self._tail_length - len(self._tail[0]) >= self.keep:
            self._tail_length -= len(self._tail.popleft())

    def _begin_artifact(self, reporter: Reporter | None) -> None:
        try:
            self._artifact = None if reporter is None else reporter.open_artifact()
        except Exception as error:  # noqa: BLE001 -- what keeps the output may fail in any way, and ends no command
            self._note = not_kept(error)
        if self._artifact is not None:
            for text in (*self._head, *self._tail):
                self._artifact.write(text)

    def end(self) -> None:
        """Keep no more of it."""
        if self._artifact is not None:
            self._artifact.close()

    def text(self) -> str:
        """Return all that is in memory, with a marker where something is not."""
        return self.shown(2 * self.keep)

    def shown(self, limit: int, reporter: Reporter | None = None) -> str:
        """Return it in at most about `limit` characters, with a marker that counts the others and says where they are.

        `reporter` says where it is kept, if it is shortened here and not kept yet.
        """
        head, tail = "".join(self._head), "".join(self._tail)
        if self.length <= limit and not self._has_gap:
            return head + tail
        if self._has_gap:
            note = self._note if self._artifact is None else self._artifact.note
        else:
            note = kept(reporter, head, tail)
            head = tail = head + tail
        before = min(len(head), limit * 2 // 3)
        after = min(len(tail), self.keep, limit - before)
        return join_ends(head[:before], tail[len(tail) - after :], self.length, note)


class Output:
    """What a command has written so far, and the piece of it that was not taken yet. Thread-safe."""

    def __init__(self, keep: int, reporter: Reporter | None) -> None:
        self.reporter = reporter
        self.lines = 0
        self._keep = keep
        self._piece = Piece(keep)
        self._is_over = False
        self._lock = threading.Lock()

    def add(self, text: str) -> None:
        """Take more of it, and report it; after its end nothing is taken any more."""
        with self._lock:
            if self._is_over:
                return
            self._piece.add(text, self.reporter)
            self.lines += text.count("\n")
        if self.reporter is not None:
            self.reporter.report(ToolEventKind.OUTPUT, text)

    def take(self) -> Piece:
        """Return what came since the last time, and forget it."""
        with self._lock:
            taken, self._piece = self._piece, Piece(self._keep)
            taken.end()
            return taken

    def shown(self, limit: int) -> str:
        """Return all of it while it is in memory; else about `limit` characters, with a marker for the others."""
        with self._lock:
            return self._piece.text() if self._piece.is_whole else self._piece.shown(limit)

    def end(self) -> None:
        """Take no more of it: what has come is all. What still holds the pipe open has left its command."""
        with self._lock:
            self._is_over = True
            self._piece.end()
