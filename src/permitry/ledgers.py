"""The ledger in a store, its grants, and its shared budgets: what outlasts a process, and is answered from another one.

A store is named as the one of a record: the path of a file of SQLite, or the address of a PostgreSQL; one that is open
already is used as it is. Each access waits at most `patience` seconds for others.
"""

from collections.abc import Sequence
from pathlib import Path

from permitry.audit.record import user_name
from permitry.audit.redaction import redacted
from permitry.confirm.stored import QuestionStore
from permitry.confirm.stored_ledger import StoredLedger
from permitry.granted import Grants
from permitry.records import store_at
from permitry.store.counters import StoredCounters
from permitry.store.grants import StoredGrants
from permitry.store.leases import Counters
from permitry.store.questions import StoredQuestions
from permitry.store.store import Store

__all__ = ["counters_at", "grants_at", "ledger_at", "questions_at"]


def questions_at(store: str | Path | Store, *, patience: float = 10.0) -> QuestionStore:
    """Return the questions in a store, which is made if it is not there.

    Raises: `StoreError`.
    """
    return StoredQuestions(_opened(store, patience))


def ledger_at(
    store: str | Path | Store, *, lifetime: float = 3600.0, approvers: Sequence[str] = (), patience: float = 10.0
) -> StoredLedger:
    """Return a ledger in a store; `lifetime` in seconds, `approvers` by name, all where there are none.

    What is kept of a call when its question is closed has no secrets.

    Raises: `StoreError`.
    """
    questions = questions_at(store, patience=patience)
    return StoredLedger(questions, redacted, lifetime=lifetime, approvers=tuple(approvers))


def grants_at(store: str | Path | Store, *, principal: str | None = None, patience: float = 10.0) -> Grants:
    """Return the grants in a store, for the calls of a principal.

    Raises: `StoreError`.
    """
    return Grants(StoredGrants(_opened(store, patience)), principal)


def counters_at(
    store: str | Path | Store, *, principal: str | None = None, organisation: str = "", patience: float = 10.0
) -> Counters:
    """Return where the budgets of a principal, of an organisation, are counted in a store.

    Without a name, the principal is the user of the system; one store is one organisation.

    Raises: `StoreError`; `ValueError` for a name that cannot be printed.
    """
    counters = StoredCounters(_opened(store, patience))
    return Counters(counters, user_name() if principal is None else principal, organisation)


def _opened(store: str | Path | Store, patience: float) -> Store:
    return store_at(store, patience=patience) if isinstance(store, str | Path) else store
