"""The ledger in a store at a path, and its grants: what outlasts a process, and is answered from another one."""

from collections.abc import Sequence
from pathlib import Path

from permitry.audit.redaction import redacted
from permitry.confirm.stored import QuestionStore
from permitry.confirm.stored_ledger import StoredLedger
from permitry.granted import Grants
from permitry.store.grants import StoredGrants
from permitry.store.questions import StoredQuestions
from permitry.store.sqlite import SqliteStore

__all__ = ["grants_at", "ledger_at", "questions_at"]


def questions_at(path: str | Path) -> QuestionStore:
    """Return the questions in the store at a path, which is made if it is not there.

    Raises: `StoreError`.
    """
    return StoredQuestions(SqliteStore(Path(path)))


def ledger_at(path: str | Path, *, lifetime: float = 3600.0, approvers: Sequence[str] = ()) -> StoredLedger:
    """Return a ledger in the store at a path; `lifetime` in seconds, `approvers` by name, all where there are none.

    What is kept of a call when its question is closed has no secrets.

    Raises: `StoreError`.
    """
    return StoredLedger(questions_at(path), redacted, lifetime=lifetime, approvers=tuple(approvers))


def grants_at(path: str | Path, *, principal: str | None = None) -> Grants:
    """Return the grants in the store at a path, for the calls of a principal.

    Raises: `StoreError`.
    """
    return Grants(StoredGrants(SqliteStore(Path(path))), principal)
