"""The threat model: what it says that permitry does is tried by the test that it names."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/explanation/threat-model.md"
NAMED = re.compile(r"`(test_\w+)`")


def test_every_test_that_it_names_is_there() -> None:
    """A claim whose test is gone is only a claim."""
    named = set(NAMED.findall(PAGE.read_text(encoding="utf-8")))
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "tests").rglob("test_*.py"))
    there = {node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert len(named) > 50
    assert named <= there, sorted(named - there)


def test_every_attempt_names_a_test() -> None:
    """In the table by assets, each row says who tries it."""
    table = PAGE.read_text(encoding="utf-8").partition("| tried by |")[2].partition("\n\n")[0]
    rows = [line for line in table.splitlines() if line.startswith("|") and not line.startswith("|-")]
    assert len(rows) > 40
    for row in rows:
        assert row.count("|") == 5, row
        assert NAMED.search(row.split("|")[4]), row
