"""The rules behind the versions of a policy: a record of each names its files, whose texts are kept once each."""

import hashlib
import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from permitry.audit.rule_files import RuleFile
from permitry.errors import StoreError
from permitry.store.chain import BrokenChainError, Head, link
from permitry.store.migrations import WITH_POLICIES
from permitry.store.tables import Connection, Tables

__all__ = ["KeptPolicy", "PolicyTables", "PolicyUses"]

_EVENT = "policy"
_REMEMBERED = 3600.0
"""So many seconds a policy counts as kept before it is looked up again: another process may forget it."""
# As the recorder writes it; an argument of a call may look the same.
_MARK = f'"event": "{_EVENT}"'
_VERSION = re.compile(r'"policy_version": "([^"\\]+)"')

_LOOK = "SELECT number FROM policy WHERE version = ?"
_KEEP = "INSERT INTO policy (version, number) VALUES (?, ?)"
_KEEP_FILE = "INSERT INTO rule_file (digest, text) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING"
_MOVE = "UPDATE policy SET number = ? WHERE version = ?"
_FORGET = "DELETE FROM policy WHERE version = ?"
_FORGET_FILE = "DELETE FROM rule_file WHERE digest = ?"
_NUMBERS = "SELECT version, number FROM policy ORDER BY number"
_DIGESTS = "SELECT digest FROM rule_file"
_TEXTS = "SELECT digest, text FROM rule_file"
_BODY = "SELECT body FROM record WHERE number = ?"
_BODIES = "SELECT number, body FROM record WHERE number > ?"


@attrs.frozen
class KeptPolicy:
    """The rules behind a version, and when they were first recorded.

    Besides those of files there were `code_rules`, here by their ids, and values that a session put into `lists`.
    Unless it `is_whole`, more had a say, such as grants.
    """

    version: str
    at: str
    files: tuple[RuleFile, ...]
    code_rules: tuple[str, ...]
    lists: tuple[str, ...]
    is_whole: bool


@attrs.define
class PolicyUses:
    """What records say of policies: `take` gets each of them, oldest first."""

    named: dict[str, int] = attrs.field(factory=dict)
    """The versions that records name, each with the last one that does."""
    through: int = 0
    """The number of the last record."""
    _events: dict[str, tuple[int, dict[str, Any]]] = attrs.field(factory=dict)

    def take(self, number: int, body: str) -> None:
        """Note what a record says."""
        self.through = number
        found = _VERSION.search(body)
        if found is None:
            return
        # An argument of a call may have any name: what was not seen before is read as what it is.
        if found[1] in self.named and _MARK not in body:
            self.named[found[1]] = number
        else:
            self._read(number, json.loads(body))

    def _read(self, number: int, fields: dict[str, Any]) -> None:
        version = fields.get("policy_version")
        if isinstance(version, str):
            self.named[version] = number
            if fields.get("event") == _EVENT:
                self._events[version] = number, fields

    def check(self, numbers: Mapping[str, int], texts: Mapping[str, str]) -> None:
        """Raise `BrokenChainError` where the rules of a policy are not as they were recorded.

        `numbers` has the record of each version, `texts` those of files by digest.
        """
        known = {version: number for version, (number, _) in self._events.items()}
        for version, number in sorted(known.items() ^ numbers.items(), key=str):
            raise BrokenChainError(number, f"the rules of policy `{version}` are not those that were recorded")
        for version, (number, event) in self._events.items():
            for name in _find_changed(event, texts):
                why = f"the text of `{name}` in policy `{version}` is not as it was kept, or missing"
                raise BrokenChainError(number, why)

    @property
    def unkept(self) -> list[str]:
        """The versions that records name, and of which no rules are kept."""
        return sorted(self.named.keys() - self._events.keys())


@attrs.define(eq=False)
class PolicyTables(Tables[Connection]):
    """A table `policy` with the number of the record of each version, and a table `rule_file` with texts by digest."""

    # When each policy is looked up again that was found.
    _policies: dict[str, float] = attrs.field(factory=dict, init=False, repr=False)

    def has_policy(self, version: str) -> bool:
        """Return whether the rules of a version are kept; for an hour it is not looked up again."""
        if self._policies.get(version, 0.0) > time.monotonic():
            return True
        with self.read() as connection:
            is_there = connection.execute(_LOOK, (version,)).fetchone() is not None
        if is_there:
            self._policies[version] = time.monotonic() + _REMEMBERED
        return is_there

    def keep_policy(self, version: str, files: Iterable[RuleFile], body: str) -> None:
        """Keep the rules of a version, unless they are kept, with the record that names them."""
        with self._translate_errors("cannot write to"), self._turn(), self._lock_chain() as (connection, head):
            if list(self._rows(connection, _LOOK, (version,))):
                return
            for each in files:
                self._run(connection, _KEEP_FILE, (each.digest, each.text))
            self._add(connection, [link(head, body)])
            self._run(connection, _KEEP, (version, head.number + 1))

    def policies(self) -> list[KeptPolicy]:
        """Return the rules that are kept, in the order in which they were recorded."""
        with self._read_snapshot() as connection:
            texts = self._texts(connection)
            events = self._events(connection)
        return [_read_policy(event, texts) for event in events]

    def _events(self, connection: Connection) -> list[dict[str, Any]]:
        """Return the record of each policy, in their order."""
        numbers = self._numbers(connection).values()
        return [self._event(connection, number) for number in numbers]

    def _event(self, connection: Connection, number: int) -> dict[str, Any]:
        """Return the record of a policy. Raises: `StoreError` where there is none."""
        for (body,) in list(self._rows(connection, _BODY, (number,))):
            event: dict[str, Any] = json.loads(body)
            return event
        raise StoreError(f"the record {number} of a policy is missing; see `permitry audit verify`")

    def _numbers(self, connection: Connection) -> dict[str, int]:
        """Return the number of the record of each policy; none in a store of an earlier form."""
        if self._version(connection) < WITH_POLICIES:
            return {}
        return dict(self._rows(connection, _NUMBERS))

    def _texts(self, connection: Connection) -> dict[str, str]:
        """Return the texts of files by digest; none in a store of an earlier form."""
        if self._version(connection) < WITH_POLICIES:
            return {}
        return dict(self._rows(connection, _TEXTS))

    def _check_policies(self, connection: Connection, uses: PolicyUses) -> None:
        """Raise `BrokenChainError` where the rules of a policy are not as records say."""
        uses.check(self._numbers(connection), self._texts(connection))

    def _read_uses(self, connection: Connection, uses: PolicyUses, through: int) -> None:
        """Note what records say of policies that stay when those up to a number go, but for those that were noted.

        Nothing is read where no policy is among those that go.
        """
        oldest = min(self._numbers(connection).values(), default=through + 1)
        if oldest > through:
            return
        after = max(through, uses.through)
        for number, body in self._rows(connection, _BODIES, (after,)):
            uses.take(number, body)

    def _forget_policies(self, connection: Connection, uses: PolicyUses, through: int) -> list[dict[str, Any]]:
        """Forget the policies that no record above a number names; return the records of others that go with it."""
        self._read_uses(connection, uses, through)
        moved: list[dict[str, Any]] = []
        for version, number in self._numbers(connection).items():
            last = uses.named.get(version, 0)
            if number > through:
                continue
            if last > through:
                moved.append(self._event(connection, number))
            else:
                self._run(connection, _FORGET, (version,))
        return moved

    def _add_with_policies(
        self, connection: Connection, head: Head, note: Mapping[str, object], moved: Iterable[dict[str, Any]]
    ) -> None:
        """Add a record, and behind it those of policies in place of earlier ones; forget texts that none names."""
        records = [link(head, json.dumps(note))]
        for event in moved:
            since = event.get("since", event["at"])
            body = json.dumps({**event, "at": note.get("at"), "since": since})
            record = link(records[-1].head, body)
            records.append(record)
            self._run(connection, _MOVE, (record.number, event["policy_version"]))
        self._add(connection, records)
        self._forget_texts(connection)

    def _forget_texts(self, connection: Connection) -> None:
        """Forget the texts of files that no policy has any more."""
        named: set[str] = set()
        for event in self._events(connection):
            named.update(each["digest"] for each in event["files"])
        for (digest,) in list(self._rows(connection, _DIGESTS)):
            if digest not in named:
                self._run(connection, _FORGET_FILE, (digest,))


def _read_policy(event: Mapping[str, Any], texts: Mapping[str, str]) -> KeptPolicy:
    """Return what the record of a policy and the texts say. Raises: `StoreError` where a text is another."""
    for name in _find_changed(event, texts):
        raise StoreError(f"the text of `{name}` is not as it was kept; see `permitry audit verify`")
    return KeptPolicy(
        version=event["policy_version"],
        at=event.get("since", event["at"]),
        files=tuple(_read_file(each, texts) for each in event["files"]),
        code_rules=tuple(event.get("code_rules", ())),
        lists=tuple(event.get("lists", ())),
        is_whole=event.get("whole", True),
    )


def _read_file(file: Mapping[str, Any], texts: Mapping[str, str]) -> RuleFile:
    return RuleFile(
        name=file["name"],
        text=texts[file["digest"]],
        layer=file["layer"],
        is_trusted=file["trusted"],
        is_observed=file["observed"],
    )


def _find_changed(event: Mapping[str, Any], texts: Mapping[str, str]) -> Iterator[str]:
    """Yield the names of files of a policy whose texts are others than were recorded, or missing."""
    for each in event["files"]:
        text = texts.get(each["digest"])
        if text is None or hashlib.sha256(text.encode()).hexdigest() != each["digest"]:
            yield str(each["name"])
