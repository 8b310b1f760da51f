"""How much of permitry an import needs, those inside functions included: what a reader must read to understand it.

Shown with `pytest tests/test_closure.py -rP -n0`. The bounds are what was measured; they fall, and are never raised.
"""

import ast
import functools
import sys
from collections.abc import Iterable
from pathlib import Path

from tests.tables import for_each

SOURCE = Path(__file__).parents[1] / "src"
MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in SOURCE.rglob("*.py")
}
POLICY = "permitry.core.policy"
DECIDING = (POLICY, "permitry.rules.", "permitry.conditions.", "permitry.actions.", "permitry.config.load")
CLOSURES = [
    ("what decides", (POLICY,), 5_770),
    ("with rules, conditions, actions and rule files", DECIDING, 30_940),
    ("Guard", ("permitry.guard.guard",), 34_800),
    ("ToolHandler", ("permitry.handler",), 37_560),
]


@functools.cache
def imports(module: str) -> frozenset[str]:
    """Return our modules that one imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
    # What gathers the public names loads each of them on its first use.
    return frozenset(found & MODULES.keys() - {"permitry"})


def closure(starts: Iterable[str]) -> set[str]:
    """Return the modules that begin with one of some names, and all that they need."""
    left = [module for module in MODULES for start in starts if module == start or module.startswith(start)]
    found: set[str] = set()
    while left:
        module = left.pop()
        if module not in found:
            found.add(module)
            left += imports(module)
    return found


@for_each("name, starts, most", CLOSURES)
def test_an_import_needs_no_more_than_it_did(name: str, starts: tuple[str, ...], most: int) -> None:
    """And nothing of the packages that are built on permitry."""
    modules = closure(starts)
    lines = sum(len(MODULES[module].read_text(encoding="utf-8").splitlines()) for module in modules)
    sys.stdout.write(f"{name}: {lines:,} lines in {len(modules)} files\n")
    assert not [module for module in modules if module.startswith("permitry_")]
    assert lines <= most
    assert lines > most * 9 // 10, "lower the bound"
