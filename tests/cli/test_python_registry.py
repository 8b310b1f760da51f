"""The tools of a registry in Python, for `check` and `lint`."""

from pathlib import Path

import pytest
from tests.tables import for_each

from permitry.cli.main import main
from permitry.cli.python_registry import registry_at
from permitry.errors import PermitryError

_MODULE = """
from permitry import ToolRegistry
shop = ToolRegistry()
other = 3
@shop.tool(requires_approval=True)
def pay(amount: int) -> str:
    "Pay."
    return "paid"
"""
_RULES = """schema = 1
[[rule]]
id = "odd"
effect = "allow"
tools = ["pay"]
when.args.amnt = { le = 9 }
[[rule]]
id = "cheap"
effect = "allow"
tools = ["pay"]
when.args.amount = { le = 9 }
"""


@pytest.fixture
def name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of a module in the current folder, which each test has for itself."""
    module = f"shop_{abs(hash(tmp_path))}"
    (tmp_path / f"{module}.py").write_text(_MODULE)
    (tmp_path / f"{module}_broken.py").write_text("1 / 0")
    (tmp_path / "rules.toml").write_text(_RULES)
    monkeypatch.chdir(tmp_path)
    return module


def test_check_decides_by_the_declarations_of_a_registry(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What it wants asked about is asked about; a tool that it does not have is named."""
    given = ["check", "--rules", "rules.toml", "--tool", "pay", "--arg", "amount=3"]
    assert main(given) == 0
    assert main([*given, "--python", f"{name}:shop"]) == 3
    assert "requires-approval" in capsys.readouterr().out
    assert main(["check", "--rules", "rules.toml", "--tool", "pai", "--python", f"{name}:shop"]) == 3
    assert "no tool `pai` is registered" in capsys.readouterr().err


def test_lint_knows_the_tools_of_a_registry(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """And their arguments."""
    assert main(["lint", "--rules", "rules.toml"]) == 0
    assert main(["lint", "--rules", "rules.toml", "--python", f"{name}:shop"]) == 1
    assert "`pay` has no argument `amnt`" in capsys.readouterr().out


@for_each("rest, why", [
    ("", "is not MODULE:REGISTRY"), (":", "is not MODULE:REGISTRY"), (":nothing", "is nothing; name"),
    (":other", "is a int; name"), ("_broken:shop", "cannot be imported: division by zero"),
    ("_absent:shop", "cannot be imported: No module named"),
])  # fmt: skip
def test_what_is_not_a_registry_is_an_error(name: str, rest: str, why: str) -> None:
    """It says what there is in its place."""
    with pytest.raises(PermitryError, match=why):
        registry_at(f"{name}{rest}")
