"""What the calls of a session have left, kept from one hook to the next: each hook is a process of its own."""

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import attrs

from permitry.core.history import Ran
from permitry.errors import PermitryError
from permitry.files import opened
from permitry.guard.session import Session

__all__ = ["Notes", "locked"]

_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
_MOST_MARKS = 1024 * 1024


@attrs.frozen
class Notes:
    """What earlier hooks of a session noted: the calls that ran, with the labels that there were then."""

    path: Path
    calls: tuple[tuple[Ran, frozenset[str]], ...]
    _file: int

    def begin_once(self, record: str, begin: Callable[[], object]) -> None:
        """Have recorded that the session begins, unless an earlier hook did that in the record of this name.

        Raises: what `begin` raises; `OSError`.
        """
        # A name may have a password in it.
        mark = hashlib.sha256(record.encode("utf-8", "surrogateescape")).hexdigest()
        with opened(self.path.with_suffix(".begun"), _FLAGS) as file:
            if mark in os.pread(file, _MOST_MARKS, 0).decode().split():
                return
            begin()
            os.write(file, f"{mark}\n".encode())

    @contextlib.contextmanager
    def remembered(self, session: Session, *, is_read: bool = False) -> Iterator[None]:
        """Fill a session with them, and note what is added while the block runs; with `is_read` nothing is noted."""
        for ran, labels in self.calls:
            session.recall(ran, labels)
        known = len(session.history)
        yield
        added = [ran for ran, _ in zip(session.history.latest(), range(len(session.history) - known), strict=False)]
        lines = [json.dumps(_line(ran, session)) + "\n" for ran in reversed(added)]
        if lines and not is_read:
            os.write(self._file, "".join(lines).encode())


@contextlib.contextmanager
def locked(folder: Path, name: str) -> Iterator[Notes]:
    """Yield the notes of the session `name`.

    Hooks of one session take turns: no two calls are decided on the same budget.

    Raises: `PermitryError` for notes that cannot be read, `OSError`.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"{hashlib.sha256(name.encode()).hexdigest()[:32]}.jsonl"
    with opened(path, _FLAGS) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            with open(file, "rb", closefd=False) as stream:
                calls = tuple(_call(json.loads(line)) for line in stream)
        except (ValueError, TypeError, LookupError) as error:
            # INVARIANT: law 4. What is forgotten must not make a call more allowed.
            raise PermitryError(f"cannot read what this session has done, in `{path}`: {error}") from error
        yield Notes(path, calls, file)


def _line(ran: Ran, session: Session) -> dict[str, object]:
    sets = {"rules": sorted(ran.rules), "targets": sorted(ran.targets), "labels": sorted(session.labels)}
    return {**attrs.asdict(ran), **sets}


def _call(line: dict[str, object]) -> tuple[Ran, frozenset[str]]:
    labels = line.pop("labels")
    ran = Ran(**{key: frozenset(value) if isinstance(value, list) else value for key, value in line.items()})  # type: ignore[arg-type]  # as written
    return ran, frozenset(labels) if isinstance(labels, list) else frozenset()
