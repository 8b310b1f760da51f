"""`permitry --version --verbose`: what a report of a bug needs."""

from collections.abc import Callable
from pathlib import Path

import pytest

Outcome = tuple[int, str, str]


def test_a_report_has_versions_folders_and_hosts(
    cli: Callable[..., Outcome], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And neither the name of the user nor what variables hold."""
    (home / ".claude").mkdir(parents=True)
    monkeypatch.setenv("PERMITRY_WEBHOOK_SECRET", "hunter2")
    code, out, err = cli("--version", "--verbose")
    assert (code, err) == (0, "")
    lines = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert list(lines) == ["permitry", "python", "system", "package", "config", "state", "cache", "extras", "hosts"]
    assert lines["hosts"] == "claude-code"
    assert lines["config"] == "~/permitry"
    assert "hunter2" not in out
    assert str(home) not in out
