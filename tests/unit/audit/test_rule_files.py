"""The rules behind a version of a policy, as a store keeps them."""

import gc
import hashlib
import json
import pickle
import weakref
from collections.abc import Sequence
from typing import Any

import attrs
import pytest

from permitry import AuthorizationPolicy, Session, ToolCall, ToolHandler, load_policy, load_rules
from permitry.audit.record import StoredRecorder
from permitry.audit.rule_files import RuleFile
from permitry.core.context import AuthContext


def test_it_is_described_without_its_text() -> None:
    """By the digest of its bytes."""
    described = RuleFile("a.toml", "# ä\n", "project", is_trusted=False).to_dict()
    assert described["digest"] == hashlib.sha256("# ä\n".encode()).hexdigest()
    assert "text" not in described
    assert (described["layer"], described["trusted"], described["observed"]) == ("project", False, False)


@attrs.define
class Kept:
    """A store that keeps what it is given."""

    events: list[dict[str, Any]] = attrs.field(factory=list)

    def has_policy(self, version: str) -> bool:
        """Return whether it has a version."""
        return version in [event["policy_version"] for event in self.events]

    def keep_policy(self, _version: str, _files: Sequence[RuleFile], body: str) -> None:
        """Keep one."""
        self.events.append(json.loads(body))

    def append(self, *_bodies: str) -> None:
        """Keep no other record."""

    def close(self) -> None:
        """Do nothing."""


@pytest.fixture
def kept() -> Kept:
    """Return an empty store."""
    return Kept()


RULES = """schema = 1
[list.l]
values = ["a"]
[[rule]]
id = "{0}"
effect = "allow"
tools = ["{0}"]
when.args.x = {{ in = "@l" }}
"""


def guard_calls(kept: Kept, policy: AuthorizationPolicy, *sessions: Session) -> None:
    """Decide on two calls in each session."""
    recorder = StoredRecorder(kept)
    for session in sessions:
        handler = ToolHandler(session, policy, recorder=recorder)
        handler.begin(ToolCall("look"))
        handler.begin(ToolCall("fetch"))


def test_a_handler_keeps_the_rules_of_a_version_once(kept: Kept) -> None:
    """However many calls are decided."""
    guard_calls(kept, load_policy(RULES.format("r")), Session(), Session())
    (event,) = kept.events
    assert [each["name"] for each in event["files"]] == ["<text 1>"]
    assert (event["code_rules"], event["lists"], event["whole"]) == ([], [], True)


def test_what_a_session_adds_is_another_version(kept: Kept) -> None:
    """With the files of its rules, the rules of code by their ids, and the names of its lists."""
    policy = load_policy(RULES.format("r"))
    rules = load_rules('schema = 1\n[[rule]]\nid = "s"\neffect = "block"\ntools = ["s"]\n')
    rule: Any = policy.rules[-1]
    code = attrs.evolve(rule, id="c", source=None)
    guard_calls(kept, policy, Session(lists={"l": ["b"]}), Session(rules=rules))
    guard_calls(kept, policy.with_rules(code), Session())
    assert [event["lists"] for event in kept.events] == [["l"], [], []]
    assert [len(event["files"]) for event in kept.events] == [1, 2, 1]
    assert [event["code_rules"] for event in kept.events] == [[], [], ["c"]]


def test_rules_of_a_session_stay_with_it(kept: Kept) -> None:
    """A policy does not keep them in memory for good."""
    policy = load_policy(RULES.format("r"))
    rules = load_rules('schema = 1\n[[rule]]\nid = "s"\neffect = "block"\ntools = ["s"]\n')
    reference = weakref.ref(rules)
    guard_calls(kept, policy, Session(rules=rules))
    del rules
    gc.collect()
    assert reference() is None


def test_a_policy_of_code_has_no_files(kept: Kept) -> None:
    """Only the ids of rules that are not built in."""
    guard_calls(kept, AuthorizationPolicy(), Session())
    assert (kept.events[0]["files"], kept.events[0]["code_rules"]) == ([], [])


def test_a_policy_that_was_pickled_has_its_files(kept: Kept) -> None:
    """As a process gets it that is to decide as well."""
    policy = load_policy(RULES.format("r"))
    guard_calls(kept, pickle.loads(pickle.dumps(policy)), Session())  # noqa: S301 -- our own bytes
    assert len(kept.events[0]["files"]) == 1


def test_of_a_policy_with_grants_the_rules_are_a_part(kept: Kept) -> None:
    """It is made for a call, and the grants are on record elsewhere."""
    policy = load_policy(RULES.format("r"))
    StoredRecorder(kept).keep_policy("v-of-grants", policy, AuthContext())
    assert [(each["policy_version"], len(each["files"]), each["whole"]) for each in kept.events] == [
        ("v-of-grants", 1, False)
    ]
