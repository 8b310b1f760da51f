"""What the inbox needs of the place that keeps questions."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import attrs

from permitry.channels.request import EffectLine
from permitry.channels.response import ToolConfirmationResponse
from permitry.core.origin import Origin

__all__ = ["Inbox", "Shown"]


@attrs.frozen
class Shown:
    """A question as a page shows it.

    `age` are the seconds since it was asked, `left` those until it is late. `outcome` says how it was
    closed. `remember` offers not to be asked again. `may_grant`: the very call can be permitted for a
    time; with `has_turn`, until the user writes again.
    """

    id: str
    digest: str
    tool: str
    arguments: Mapping[str, Any]
    reason: str
    rule: str = ""
    source: str = ""
    session: str = ""
    agent: str = ""
    folder: str = ""
    path: str = ""
    preview: str = ""
    age: float = 0.0
    left: float = 0.0
    outcome: str = ""
    errors: Sequence[str] = ()
    approvers: Sequence[str] = ()
    remember: str = ""
    may_grant: bool = False
    has_turn: bool = False
    effects: Sequence[EffectLine] = ()
    origins: Sequence[Origin] = ()


class Inbox(Protocol):
    """Knows the open questions, and takes answers. Thread-safe. All raise `PermitryError`."""

    def open(self) -> Sequence[Shown]:
        """Return the questions that can be answered, oldest first, without secrets and effects."""

    def find(self, name: str) -> Shown | None:
        """Return a question in full, open or closed; None for one that is not known."""

    def answer(self, name: str, digest: str, response: ToolConfirmationResponse, by: str) -> None:
        """Answer the question about the call with this digest, once. Raises: `LedgerError`."""

    def grant(self, name: str, seconds: float, by: str, *, is_for_request: bool = False) -> None:
        """Permit the call that `by` approved for so long, or this request. Raises: `LedgerError`."""
