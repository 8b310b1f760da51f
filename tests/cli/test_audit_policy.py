"""`permitry audit policy`, and `permitry diff` of what it has."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Outcome

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
