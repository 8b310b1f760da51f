"""The ledger in a store, its grants, and its shared budgets: what outlasts a process, and is answered from another one.

A store is named as the one of a record: the path of a file of SQLite, or the address of a PostgreSQL; one that is open
already is used as it is. Each access waits at most `patience` seconds for others. All raise `StoreError`.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from permitry.audit.record import user_name, utc_now
from permitry.audit.redaction import redact
from permitry.channels.clock import Moment
from permitry.guard.grants import Grant
from permitry.guard.grants_in_force import Grants
from permitry.guard.stored_ledger import StoredLedger
from permitry.store.counters import StoredCounters
from permitry.store.grants import StoredGrants
from permitry.store.leases import Counters
from permitry.store.questions import StoredQuestions
from permitry.store.records import store_at

if TYPE_CHECKING:
    from permitry.store.chained_store import Store

__all__ = ["RecordedGrants", "counters_at", "grants_at", "ledger_at", "questions_at"]

_MEANT = ("digest", "agent", "principal", "reason", "uses_left", "request")


@attrs.frozen
class RecordedGrants:
    """Grants as a human gives and revokes them: the record of the same store says so."""

    store: "Store"

    def give(self, grant: Grant) -> None:
        """Let a grant count from now on, which is recorded first; forget those that do not count any more."""
        meant = {**{name: getattr(grant, name) for name in _MEANT}, "for_session": grant.session}
        if grant.deadline is not None:
            meant["seconds"] = round(Moment.now().until(grant.deadline), 3)
        known = {name: value for name, value in meant.items() if value not in (None, "")}
        self._record("granted", grant.id, grant.granted_by, permits=grant.rule, **known)
        kept = StoredGrants(self.store)
        kept.sweep(Moment.now())
        kept.add(grant.row())

    def revoke(self, name: str, by: str) -> bool:
        """Let a grant count no more, once, which is recorded afterwards."""
        is_first = StoredGrants(self.store).revoke(name, Moment.now())
        if is_first:
            self._record("revoked", name, by)
        return is_first

    def _record(self, event: str, name: str, by: str, **details: object) -> None:
        body = {"at": utc_now(), "event": event, "grant": name, "by": by, **redact(details)}
        self.store.append(json.dumps(body))


def questions_at(store: "str | Path | Store", *, patience: float = 10.0) -> StoredQuestions:
    """Return the questions in a store, which is made if it is not there."""
    return StoredQuestions(_open(store, patience))


def ledger_at(
    store: "str | Path | Store", *, lifetime: float = 3600.0, approvers: Sequence[str] = (), patience: float = 10.0
) -> StoredLedger:
    """Return a ledger in a store; `lifetime` in seconds, `approvers` by name, all where there are none.

    What is kept of a call when its question is closed has no secrets.
    """
    questions = questions_at(store, patience=patience)
    return StoredLedger(questions, redact, lifetime=lifetime, approvers=tuple(approvers))


def grants_at(store: "str | Path | Store", *, principal: str | None = None, patience: float = 10.0) -> Grants:
    """Return the grants in a store, for the calls of a principal."""
    return Grants(StoredGrants(_open(store, patience)), principal)


def counters_at(
    store: "str | Path | Store", *, principal: str | None = None, organisation: str = "", patience: float = 10.0
) -> Counters:
    """Return where the budgets of a principal, of an organisation, are counted in a store.

    Without a name, the principal is the user of the system; one store is one organisation.

    Raises: `ValueError` for a name that cannot be printed.
    """
    counters = StoredCounters(_open(store, patience))
    return Counters(counters, user_name() if principal is None else principal, organisation)


def _open(store: "str | Path | Store", patience: float) -> "Store":
    return store_at(store, patience=patience) if isinstance(store, str | Path) else store
