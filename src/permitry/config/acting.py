"""Recorded calls by what they would do: the paths they touch or change, and the hosts they connect to."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Self

import attrs

from permitry.audit.redaction import DOUBTFUL
from permitry.config.catalogue import list_shipped
from permitry.config.load import load_rules
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.policy import AuthorizationPolicy
from permitry.errors import CallError

__all__ = ["Acting", "call_in", "workspaces_in"]

_ID = "asked-for"


@attrs.frozen
class Acting:
    """Which calls touch or change a path, or connect to a host; what is not certain counts."""

    policy: AuthorizationPolicy
    workspaces: Mapping[str, str]

    @classmethod
    def of(cls, key: str, pattern: str, workspaces: Mapping[str, str]) -> Self:
        """Return the calls that touch a `path`, are `changing` one, or connect to a `host`."""
        tools = json.dumps([name for name in list_shipped() if name.startswith("permitry:tools-")])
        lines = ["schema = 1", f"extends = {tools}", "[[rule]]", f'id = "{_ID}"', 'effect = "block"']
        lines += [f"when.{'path' if key == 'changing' else key} = {json.dumps([pattern])}"]
        lines += ['when.access = ["write", "delete"]'] if key == "changing" else []
        return cls(load_rules("\n".join(lines) + "\n").policy(), workspaces)

    def holds(self, record: Mapping[str, Any]) -> bool:
        """Return whether a record is of such a call; one without arguments is not."""
        call = call_in(record)
        if call is None:
            return False
        if DOUBTFUL in json.dumps(record["arguments"]):
            return True
        context = AuthContext(workspace=self.workspaces.get(str(record.get("session"))))
        return self.policy.decide(call, context).rule_id == _ID


def call_in(record: Mapping[str, Any]) -> ToolCall | None:
    """Return the call that a record has the arguments of, or None."""
    if not isinstance(record.get("arguments"), Mapping):
        return None
    try:
        return ToolCall(str(record.get("tool")), record["arguments"])
    except CallError:
        return None


def workspaces_in(records: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the workspaces of sessions, of the events with which they began."""
    return {str(each.get("session")): each["workspace"] for each in records if isinstance(each.get("workspace"), str)}
