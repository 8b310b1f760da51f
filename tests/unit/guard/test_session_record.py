"""What goes on record when a session begins."""

import json
from pathlib import Path

from permitry import Session, load_policy
from permitry.audit.record import StoredRecorder
from permitry.guard.guard import Guard
from permitry.guard.session_record import begin_session
from permitry.store.sqlite import SqliteStore


def test_it_names_the_circumstances_behind_the_rules(tmp_path: Path) -> None:
    """So that a version that a record names is one whose rules are kept."""
    store = SqliteStore(tmp_path / "a.db")
    recorder = StoredRecorder(store, session="s1")
    policy = load_policy("schema = 1\n")
    session = Session(id="s1", agent="tester", workspace="/w", attended=False)
    begin_session(Guard(policy, session, recorder=recorder), recorder, principal="ann")
    kept, begun = (json.loads(each.body) for each in store.records())
    assert (kept["event"], kept["policy_version"]) == ("policy", policy.version)
    expected = {
        "event": "session", "session": "s1", "agent": "tester", "workspace": "/w", "mode": "default",
        "template": None, "attended": False, "principal": "ann", "rules": ["<text 1>"],
        "policy_version": policy.version,
    }  # fmt: skip
    assert {name: begun[name] for name in expected} == expected
