"""`permitry audit policy`, and `permitry diff` of what it has."""

import contextlib
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest
from tests.cli.conftest import Outcome

from permitry import AuthorizationPolicy, Session, ToolCall, ToolHandler, load_policy
from permitry.audit.record import StoredRecorder
from permitry.config.load import load_rules
from permitry.config.recorded import origins_on_record
from permitry.store.records import store_at

_RULES = 'schema = 1\nextends = ["more.toml"]\n[[rule]]\nid = "t"\neffect = "allow"\nwhen.command = ["{}"]\n'


@pytest.fixture
def versions(cli: Callable[..., Outcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the versions of two sessions in `a.db`, in the current folder; their files are gone."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "w").mkdir()
    (tmp_path / "more.toml").write_text('schema = 1\n[[rule]]\nid = "m"\neffect = "block"\ntools = ["m"]\n')
    (tmp_path / "s.jsonl").write_text('{"id": "c1", "name": "m", "arguments": {}}\n')
    for command in ("pytest *", "make *"):
        (tmp_path / "r.toml").write_text(_RULES.format(command))
        words = ("--rules", "r.toml", "--workspace", "w", "--record", "a.db", "--unattended", "block")
        cli("run", "s.jsonl", *words)
    for path in tmp_path.glob("*.toml"):
        path.unlink()
    _, out, _ = cli("audit", "policy", "--record", "a.db", "--json")
    return [json.loads(line)["policy_version"] for line in out.splitlines()]


def test_the_rules_are_printed_as_they_were(cli: Callable[..., Outcome], versions: list[str]) -> None:
    """Of a version, or of its beginning."""
    code, out, _ = cli("audit", "policy", versions[0][:8], "--record", "a.db")
    assert code == 0
    assert '"pytest *"' in out
    assert "# more.toml (user)" in out
    code, _, error = cli("audit", "policy", "no-such", "--record", "a.db")
    assert (code, "no record names a policy `no-such`" in error) == (4, True)


def test_they_are_loaded_as_they_were(versions: list[str]) -> None:
    """To the same version, though no file is there any more."""
    store = store_at("a.db")
    loaded = [load_rules(origins_on_record(each.files)).policy().version for each in store.policies()]
    store.close()
    assert loaded == versions


def test_they_are_compared(cli: Callable[..., Outcome], versions: list[str]) -> None:
    """Both sides out of the store."""
    code, out, _ = cli("diff", *(f"audit:{each}" for each in versions), "--store", "a.db")
    assert (code, out.splitlines()[0]) == (1, "More is allowed: 1 way")
    assert "allow (t, r.toml:3)" in out


def test_what_is_no_file_is_said_in_words(cli: Callable[..., Outcome], tmp_path: Path) -> None:
    """A policy of code, what a session adds, and versions of which nothing is kept."""
    store = store_at(tmp_path / "a.db")
    recorder = StoredRecorder(store)
    rule = attrs.evolve(
        load_rules('schema = 1\n[[rule]]\nid = "c"\neffect = "block"\ntools = ["c"]\n').rules[0], source=None
    )
    listed = load_policy('schema = 1\n[list.l]\nvalues = []\n[[rule]]\nid = "r"\neffect = "allow"\nwhen.host = "@l"\n')
    for policy, session in (
        (AuthorizationPolicy(), Session()),
        (AuthorizationPolicy((rule,)), Session()),
        (listed, Session(lists={"l": ["a.example"]})),
    ):
        ToolHandler(session, policy, recorder=recorder).begin(ToolCall("look"))
    store.append('{"at": "2026-01-01", "event": "decided", "policy_version": "earlier"}')
    store.close()
    _, out, _ = cli("audit", "policy", "--record", tmp_path / "a.db", "--json")
    versions = [json.loads(line)["policy_version"] for line in out.splitlines()]
    said = ["".join(cli("audit", "policy", each, "--record", tmp_path / "a.db")[1:]) for each in versions]
    assert said[0].splitlines()[1:] == ["# no rule file: the policy was made in code"]
    assert "# rules that are in no file, but made in code: c" in said[1]
    assert "# lists to which the session added values: l" in said[2]
    assert "no rules are kept of policy `earlier`: records name it that were made before" in said[3]
    shown = cli("audit", "policy", "--record", tmp_path / "a.db")[1].splitlines()
    assert [line.split()[-1] for line in shown[-4:-1]] == ["code", "code", "1>"]
    assert shown[-1].rstrip().endswith("not kept")
    _, out, err = cli("audit", "verify", "--record", tmp_path / "a.db")
    assert "no rules are kept of 1 version of a policy that older records name: earlier" in err


def test_a_text_that_was_changed_is_found(cli: Callable[..., Outcome], versions: list[str]) -> None:
    """By `verify`, and where it is to be read."""
    with contextlib.closing(sqlite3.connect("a.db")) as connection, connection:
        connection.execute("UPDATE rule_file SET text = replace(text, 'make', 'rm')")
    code, out, _ = cli("audit", "verify", "--record", "a.db")
    assert (code, f"the text of `r.toml` in policy `{versions[1]}` is not as it was kept" in out) == (1, True)
    code, _, err = cli("audit", "policy", versions[1], "--record", "a.db")
    assert (code, "is not as it was kept; see `permitry audit verify`" in err) == (4, True)
