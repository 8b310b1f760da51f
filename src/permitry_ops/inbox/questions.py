"""What the inbox needs of the place that keeps questions."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import attrs

from permitry.channels.response import ToolConfirmationResponse
from permitry.core.origin import Origin

__all__ = ["Inbox", "Node", "Shown"]


@attrs.frozen
class Node:
    """One action of a call, as a line; `depth` is how many constructs of a shell are around it."""

    depth: int
    text: str


@attrs.frozen
class Shown:
    """A question as a page shows it.

    `left` are the seconds until it is late. `outcome` says how it was closed; empty while it is open. `may_edit`: the
    one who asked takes other arguments. `remember` offers not to be asked again; empty where nothing is remembered.
    `may_grant`: the very call can be permitted for a time.
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
    place: str = ""
    path: str = ""
    preview: str = ""
    left: float = 0.0
    outcome: str = ""
    errors: Sequence[str] = ()
    approvers: Sequence[str] = ()
    may_edit: bool = True
    remember: str = ""
    may_grant: bool = False
    tree: Sequence[Node] = ()
    origins: Sequence[Origin] = ()


class Inbox(Protocol):
    """Knows which questions are open, and takes answers. Thread-safe.

    All methods raise `PermitryError` where what keeps the questions is away.
    """

    def open(self) -> Sequence[Shown]:
        """Return the questions that can be answered, oldest first, without secrets and without what they would do."""
        ...

    def find(self, name: str) -> Shown | None:
        """Return a question in full, open or closed; None for one that is not known."""
        ...

    def answer(self, name: str, digest: str, response: ToolConfirmationResponse, by: str) -> None:
        """Answer the question about the call with this digest, once.

        Raises: `LedgerError` when it is late, was answered, is about another call, or `by` may not answer.
        """
        ...

    def grant(self, name: str, seconds: float, by: str) -> None:
        """Permit the very call of a question that `by` has approved, in its session, for so long.

        Raises: `LedgerError` where this cannot be granted.
        """
        ...
