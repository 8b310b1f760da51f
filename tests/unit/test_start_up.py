"""What a process loads before it answers: counted in modules, which do not depend on how busy a machine is.

After a change of `rules`, `python -m tests.unit.test_start_up` writes their quick form again.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.tables import for_each

import permitry.actions.programs.catalogue
from permitry.actions.programs.catalogue import compact, shipped
from permitry.cli.main import terminal_columns
from permitry.config.catalogue import find_shipped
from permitry.config.integrity import compile_sets

PROGRAMS = Path(permitry.actions.programs.catalogue.__file__).parents[1] / "programs.toml"
COMPILED = find_shipped("permitry:base").with_name("compiled.json")
# What takes long to import, and is of no use to a check of one call.
SLOW = frozenset(
    {
        "ada_url", "asyncio", "concurrent.futures", "dataclasses", "email", "importlib.metadata", "importlib.resources",
        "logging", "permitry.config.load", "permitry.config.schema", "permitry.handler", "platformdirs", "pydantic",
        "jsonschema", "psutil", "pydantic_core", "pygments", "re2", "rich", "shutil", "sqlite3", "subprocess",
        "tempfile", "tomllib", "tree_sitter", "tree_sitter_bash",
    }
)  # fmt: skip
# What only commands and addresses need.
READERS = frozenset({"permitry.actions.hosts", "permitry.actions.derive.script"})
READ = {"name": "read_file", "arguments": {"path": "a.txt"}}
SHELL = {"name": "run_shell", "arguments": {"command": "git status | head"}}

_CHECK = """
import sys
from permitry.cli.main import main
code = main(sys.argv[1:])
print(*sorted(sys.modules), file=sys.stderr)
sys.exit(code)
"""


@pytest.fixture
def loaded(tmp_path: Path) -> Callable[..., frozenset[str]]:
    """Return a function that says which modules a process loads for one `permitry check`, which must allow the call."""

    def modules(call: object, *words: str) -> frozenset[str]:
        # The tracer of a coverage run has modules of its own; and only at the usual places something is kept.
        rest = {name: value for name, value in os.environ.items() if not name.startswith(("COV", "XDG"))}
        done = subprocess.run(
            [sys.executable, "-I", "-c", _CHECK, "check", "--call", json.dumps(call), *words],
            cwd=tmp_path, env={**rest, "HOME": str(tmp_path)}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return frozenset(done.stderr.split())

    return modules


@pytest.mark.parametrize("words", [(), ("--rules", "permitry:coding-agent"), ("--json",)], ids=" ".join)
def test_a_warm_check_loads_nothing_that_is_slow(loaded: Callable[..., frozenset[str]], words: tuple[str, ...]) -> None:
    """Neither the reader of rule files nor anything of the edges; the first check does, and fills the cache."""
    assert {"pydantic", "tomllib", "permitry.config.load"} <= loaded(READ, *words)
    assert not (SLOW | READERS) & loaded(READ, *words)


def test_a_warm_check_of_a_command_loads_the_readers_of_commands(loaded: Callable[..., frozenset[str]]) -> None:
    """And nothing else that is slow: what only reads is read strictly, without a grammar."""
    loaded(SHELL)
    warm = loaded(SHELL)
    assert warm >= READERS
    assert not SLOW & warm


def test_a_check_with_rules_from_a_file_is_as_quick(loaded: Callable[..., frozenset[str]], tmp_path: Path) -> None:
    """Wherever rules come from; and a change is read."""
    path = tmp_path / "rules.toml"
    for text in ("schema = 1", "schema = 1\n# changed"):
        path.write_text(text)
        assert "permitry.config.load" in loaded(READ, "--rules", "permitry:base", "--rules", str(path))
        assert not (SLOW | READERS) & loaded(READ, "--rules", "permitry:base", "--rules", str(path))


@for_each("name", ["ToolCall", "AuthorizationPolicy", "create_default_authorization_policy"])
def test_what_decides_is_imported_without_the_edges(name: str) -> None:
    """A host that only decides pays for deciding."""
    code = f"import sys; from permitry import {name}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert not (SLOW | READERS) & set(done.stdout.split())


def test_a_hook_is_imported_without_what_is_slow() -> None:
    """It is started for every call; what names nearest matches and reads TOML is small, and asked of a guard."""
    code = "import sys; import permitry_hosts.cli.hook, permitry_hosts.hooks.hosts.claude_code; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert (SLOW | READERS) & set(done.stdout.split()) <= {"logging", "tomllib"}


def test_importing_the_package_imports_nothing_else() -> None:
    """The names are found on first use, and `typing` is not needed for that."""
    code = "import sys; before = set(sys.modules); import permitry; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", _PATH + code], capture_output=True, text=True, check=True)
    assert not {"typing", "re", "enum"} & set(done.stdout.split())


_PATH = f"import sys; sys.path.insert(0, {str(Path(permitry.__file__).parents[1])!r}); "


@for_each("columns", [None, "", "0", "-1", "x", "7", "100"])
def test_the_width_of_help_is_that_of_the_terminal(monkeypatch: pytest.MonkeyPatch, columns: str | None) -> None:
    """As `shutil` says, which takes longer to import than all our options to be read."""
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    assert terminal_columns() == shutil.get_terminal_size().columns


# What is known about programs -------------------------------------------------------------------------------------


def test_the_quick_form_of_the_programs_says_what_the_other_says() -> None:
    """`programs.json` is `programs.toml`, and its digest is of these very bytes."""
    assert PROGRAMS.with_suffix(".json").read_text(encoding="utf-8") == compact()
    shown = json.loads(compact())
    assert shown.pop("sha256") == hashlib.sha256(PROGRAMS.read_bytes()).hexdigest()
    assert shown == tomllib.loads(PROGRAMS.read_text(encoding="utf-8"))


@for_each("stored", [None, "", "[]", "{}", '{"sha256": "0", "program": {}, "group": {}}'])
def test_a_quick_form_of_other_programs_does_not_count(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stored: str | None
) -> None:
    """An edited `programs.toml` is read as it is, whatever is next to it."""
    text, quick = tmp_path / "programs.toml", tmp_path / "programs.json"
    text.write_text("[group]\n[program.'look see']\noptions = '-a'\n")
    if stored is not None:
        quick.write_text(stored)
    monkeypatch.setattr(permitry.actions.programs.catalogue, "_TEXT", text)
    monkeypatch.setattr(permitry.actions.programs.catalogue, "_COMPACT", quick)
    known = shipped.__wrapped__()
    assert list(known) == ["look", "see"]
    assert known["see"] == known["look"]
    assert known["look"].options.plain == {"-a"}
    assert "nothing" not in known


def test_the_quick_form_of_the_shipped_sets_says_what_they_say() -> None:
    """`compiled.json` is what the rule files are compiled to, and its digests are of their very bytes."""
    assert COMPILED.read_text(encoding="utf-8") == compile_sets()


def write() -> None:
    """Write the quick form of the shipped sets."""
    COMPILED.write_text(compile_sets(), encoding="utf-8")


if __name__ == "__main__":
    write()
