"""The rules behind the versions of a policy: which files these were, and their texts, once each."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from permitry.core.source_file import SourceFile
from permitry.errors import StoreError
from permitry.store.chain import BrokenChainError

__all__ = ["KeptPolicy", "Policies", "read_policy", "versions_in"]

_EVENT = "policy"
# As the recorder writes it: within a text or an argument it would have other quotes, or more around it.
_VERSION = re.compile(r'"(?:policy_version|version_before)": "([^"\\]+)"')
_MARK = f'"event": "{_EVENT}"'


@attrs.frozen
class KeptPolicy:
    """The rules behind a version, and when they were first recorded."""

    version: str
    at: str
    files: tuple[SourceFile, ...]


def versions_in(body: str) -> list[str]:
    """Return the versions of policies that the text of a record names."""
    return _VERSION.findall(body)


@attrs.define
class Policies:
    """Checks what records say of policies against what is kept: `take` gets each record, then `check` the tables."""

    named: dict[str, int] = attrs.field(factory=dict)
    """The versions that records name, each with the last one that does."""
    _events: dict[str, tuple[int, dict[str, Any]]] = attrs.field(factory=dict)

    def take(self, number: int, body: str) -> None:
        """Note what a record says."""
        self.named |= dict.fromkeys(versions_in(body), number)
        if _MARK in body and (event := json.loads(body)).get("event") == _EVENT:
            self._events[str(event.get("policy_version"))] = number, event

    def check(self, numbers: Mapping[str, int], texts: Mapping[str, str]) -> None:
        """Raise `BrokenChainError` where the rules of a policy are not as they were recorded.

        `numbers` has the record of each version, `texts` those of files by digest.
        """
        known = {version: number for version, (number, _) in self._events.items()}
        for version in sorted(known.keys() | numbers.keys()):
            if known.get(version) != numbers.get(version):
                number = known.get(version) or numbers[version]
                raise BrokenChainError(number, f"the rules of policy `{version}` are not those that were recorded")
        for version, (number, event) in self._events.items():
            for each in event["files"]:
                if _digest(texts.get(each["digest"], "")) != each["digest"]:
                    why = f"the text of `{each['name']}` in policy `{version}` is not as it was kept, or missing"
                    raise BrokenChainError(number, why)

    @property
    def unkept(self) -> list[str]:
        """The versions that records name, and of which no rules are kept."""
        return sorted(self.named.keys() - self._events.keys())


def read_policy(body: str, texts: Mapping[str, str]) -> KeptPolicy:
    """Return what the record of a policy and the texts say. Raises: `StoreError` where a text is another."""
    event = json.loads(body)
    return KeptPolicy(event["policy_version"], event["at"], tuple(_read_files(event, texts)))


def _read_files(event: Mapping[str, Any], texts: Mapping[str, str]) -> Iterator[SourceFile]:
    for each in event["files"]:
        text = texts.get(each["digest"], "")
        if _digest(text) != each["digest"]:
            raise StoreError(f"the text of `{each['name']}` is not as it was kept; see `permitry audit verify`")
        yield SourceFile(each["name"], text, each["layer"], is_trusted=each["trusted"], is_observed=each["observed"])


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
