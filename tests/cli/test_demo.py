"""`permitry demo`: a recorded session is guarded, and nothing is written outside of a temporary folder."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run_demo(program: list[str], folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run the demo in a folder, whose `tmp` is the temporary one, with a home that is empty."""
    for name in ("tmp", "home"):
        (folder / name).mkdir()
    environment = {**os.environ, "TMPDIR": str(folder / "tmp"), "HOME": str(folder / "home"), "COLUMNS": "160"}
    return subprocess.run([*program, "demo"], cwd=folder, env=environment, capture_output=True, text=True, check=False)


def assert_shows_all(done: "subprocess.CompletedProcess[str]", folder: Path) -> None:
    """Every verdict, the fixed file, and what to do next; nothing else in the folder is touched."""
    assert done.returncode == 0, done.stderr
    assert {line.split()[0] for line in done.stderr.splitlines() if line} >= {"allow", "confirm", "block"}
    assert "permitry setup" in done.stdout
    (place,) = (folder / "tmp").glob("permitry-demo-*")
    assert str(place) in done.stdout
    assert "price * count" in (place / "workspace/invoice.py").read_text("utf-8")
    assert (place / "results.jsonl").read_bytes() == (ROOT / "golden/sessions/bug-fix/results.jsonl").read_bytes()
    assert list((folder / "home").iterdir()) == []


@pytest.mark.skipif(shutil.which("git") is None, reason="needs the program git")
def test_the_demo_guards_the_session_in_a_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a checkout."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    assert_shows_all(run_demo([sys.executable, "-m", "permitry"], tmp_path), tmp_path)


@pytest.mark.large
@pytest.mark.skipif(shutil.which("git") is None, reason="needs the program git")
def test_the_wheel_needs_no_clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Installed into an empty environment; `.ci/run` does the same with what the README's first command installs."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    pip = ["-m", "pip", "--quiet", "--disable-pip-version-check"]
    source = shutil.copytree(ROOT, tmp_path / "source", ignore=shutil.ignore_patterns(".*venv", ".git", "__pycache__"))
    subprocess.run([sys.executable, *pip, "wheel", "--no-deps", "-w", str(tmp_path), str(source)], check=True)
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "empty")], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    constraints = ["-c", str(ROOT / "tests/constraints.txt")]
    subprocess.run([str(tmp_path / "empty/bin/python"), *pip, "install", *constraints, str(wheel)], check=True)
    with tempfile.TemporaryDirectory() as folder:
        assert_shows_all(run_demo([str(tmp_path / "empty/bin/permitry")], Path(folder)), Path(folder))
