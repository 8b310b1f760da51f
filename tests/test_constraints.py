"""The versions that the README's commands install are written down, and only those."""

import re
import tomllib
from pathlib import Path

from tests.constraints import FILE, compare, read

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _names(requirements: list[str]) -> set[str]:
    """Return the packages that requirements name, those of the extras of this package included."""
    names: set[str] = set()
    for requirement in requirements:
        name, extras = re.match(r"([\w.-]+)(?:\[([\w,-]+)\])?", requirement).groups()  # type: ignore[union-attr]
        if name == "permitry":
            names.update(*(_names(PROJECT["optional-dependencies"][extra]) for extra in extras.split(",")))
        else:
            names.add(name.lower())
    return names


def test_constraints_are_names_and_versions() -> None:
    """No address, no range, sorted, each once."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.+!]*", line) for line in lines)
    names = [line.partition("==")[0] for line in lines]
    assert names == sorted(set(names))


def test_what_the_tests_need_is_constrained() -> None:
    """What floats is a version that nothing has been tested with."""
    assert _names([*PROJECT["dependencies"], "permitry[dev,docs]"]) <= read(FILE.read_text(encoding="utf-8")).keys()


def test_another_version_is_reported() -> None:
    """And so is a package that is new."""
    changed = compare({"a": "1", "b": "2", "gone": "1"}, {"a": "1", "b": "3", "new": "1"})
    assert changed == ["b: 2 -> 3", "new: not constrained -> 1"]


def test_the_upper_bounds_stay_open() -> None:
    """A constraint is of this repository; who installs the package gets no bound from it."""
    assert not [each for each in PROJECT["dependencies"] if "<" in each or "==" in each]
