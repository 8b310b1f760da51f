"""Grants: approvals that a human gives beforehand, for some calls, of some agents, for some time."""

import json
import secrets

import attrs

from permitry.channels.clock import Moment
from permitry.store.store import Row

__all__ = ["Grant", "quote"]

_TURN = "\n"
"""What is between a session and its turn in a store."""
_SHARED = (
    "id",
    "rule",
    "digest",
    "agent",
    "principal",
    "reason",
    "granted_by",
    "made_at",
    "uses_left",
    "revoked_at",
)


@attrs.frozen
class Grant:
    """A remembered approval.

    `rule` is what a rule file says of the calls: a table with `tools`, `when` and `unless`, in TOML. A grant of one
    call has its `digest`, and is for no other, whatever the rule says; of a tool that a registry declares, only where
    the rule has the `tool_digest` of that declaration. `agent`, `session` and `principal` say whose calls are meant,
    where they are not None. `request` is a `turn` of the session: the grant ends as soon as the user writes again.
    `deadline` and `uses_left` are None without a bound.

    Raises: `ValueError` for a `request` without a `session`, and for a `session` with a line break.
    """

    rule: str
    digest: str | None = None
    agent: str | None = None
    session: str | None = None
    principal: str | None = None
    request: str | None = attrs.field(default=None, kw_only=True)
    reason: str = ""
    granted_by: str = ""
    made_at: float = 0.0
    deadline: Moment | None = None
    uses_left: int | None = attrs.field(default=None, validator=attrs.validators.optional(attrs.validators.ge(0)))
    revoked_at: float | None = None
    id: str = attrs.field(factory=lambda: secrets.token_hex(4), kw_only=True)

    def __attrs_post_init__(self) -> None:
        # INVARIANT: law 6. Kept, it would be that of another session, for one of its turns.
        if self.session is not None and _TURN in self.session:
            raise ValueError("the name of a session in a grant has no line break")
        if self.request is not None and not self.session:
            raise ValueError("a grant for a request of the user is for a session")

    @classmethod
    def of_call(cls, tool: str, digest: str, tool_digest: str | None) -> "Grant":
        """Return a grant of the call with this digest, while its tool declares itself as it did."""
        rule = f"tools = [{quote(tool)}]"
        if tool_digest is not None:
            rule += f'\nwhen.tool_digest = ["{tool_digest}"]'
        return cls(rule, digest)

    @classmethod
    def of(cls, row: Row) -> "Grant":
        """Return the grant in a row."""
        shared = {name: row[name] for name in _SHARED}
        session, request, deadline = row["session"], None, None
        if row["deadline"] is not None:
            deadline = Moment(row["deadline"], row["boot"], row["steady"])
        if session is not None and _TURN in session:
            session, _, request = session.partition(_TURN)
        return cls(**shared, session=session, request=request, deadline=deadline)

    def row(self) -> Row:
        """Return the row of this grant."""
        wall, boot, steady = (None, "", 0.0) if self.deadline is None else self.deadline
        shared = {name: getattr(self, name) for name in _SHARED}
        session = self.session
        if self.request is not None:
            # An earlier version knows no session of this name, so that there it counts for none.
            session = f"{session}{_TURN}{self.request}"
        return {**shared, "session": session, "deadline": wall, "boot": boot, "steady": steady}

    def is_for(self, sessions: tuple[str, ...], principal: str | None, turn: str = "") -> bool:
        """Return whether a grant is for calls of one of these sessions, on behalf of a principal, in this turn."""
        # INVARIANT: where it is not known that the user has written, no such grant counts.
        if self.request is not None and (self.request != turn or not turn):
            return False
        return self.session in (None, *sessions) and self.principal in (None, principal)


def quote(text: str) -> str:
    """Return a text as TOML."""
    return json.dumps(text, ensure_ascii=False)
