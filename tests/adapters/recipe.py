"""What the tests of the recipes share, which docs/how-to/other-frameworks.md has: each runs with the real framework."""

import contextlib
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeAlias

from permitry.guard.capabilities import Capabilities
from permitry.guard.guard import Guard
from permitry.testing import conformance

Foreign: TypeAlias = Any
"""What belongs to a framework, which is not installed where types are checked."""

PAGE = Path(__file__).resolve().parents[2] / "docs/how-to/other-frameworks.md"
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def recipe(section: str) -> Foreign:
    """Return what the block of a section defines."""
    text = PAGE.read_text("utf-8").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    (block,) = _BLOCK.findall(text)
    names: dict[str, Any] = {}
    exec(compile(block, section, "exec"), names)  # noqa: S102 -- running examples is this test
    return SimpleNamespace(**names)


def cases(capabilities: Capabilities, *left_out: str) -> list[conformance.Case]:
    """Return the cases of the kit that a host can be asked, without those that its framework has no way to make."""
    return [case for case in conformance.CASES if case.needs(capabilities) and case.name not in left_out]


class _Broken(Guard):
    """A guard in which everything goes wrong."""

    def call(self, *_: Foreign, **__: Foreign) -> Foreign:
        raise ZeroDivisionError


def check_that_nothing_runs_by_mistake(host: conformance.Host) -> None:
    """Raise if a tool runs whose guard fails, or leaves the call to a host that has no other way of asking."""
    for guard in (_Broken(), Guard(unmatched="silence")):
        tools = conformance.Tools()
        with contextlib.suppress(Exception):
            host.run(guard, tools, [conformance.Made("look", "a")])
        assert tools.ran == []
