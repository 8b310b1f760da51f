"""The versions the tests have passed with, as constraints for pip.

`python -m tests.constraints > tests/constraints.txt` writes those of the environment it runs in, after a green
`.ci/run nightly` in that environment; `--compare` prints what is at another version than the file says, and fails.
"""

import re
import sys
from importlib.metadata import distributions
from pathlib import Path

__all__ = ["FILE", "compare", "installed", "read"]

FILE = Path(__file__).with_suffix(".txt")
# The package itself, and what a new environment has before anything is installed.
_OWN = {"permitry", "pip", "setuptools", "wheel"}


def installed() -> dict[str, str]:
    """Return the version of each distribution of this environment, by its normalised name."""
    found = {_normalise(each.name): each.version for each in distributions()}
    return {name: found[name] for name in sorted(found.keys() - _OWN)}


def read(text: str) -> dict[str, str]:
    """Return the versions that a file of constraints names."""
    pairs = (line.partition("==") for line in text.splitlines())
    return {name: version for name, _, version in pairs}


def compare(constrained: dict[str, str], found: dict[str, str]) -> list[str]:
    """Return a line for each package whose version is not the constrained one, or that has none."""
    return [
        f"{name}: {constrained.get(name, 'not constrained')} -> {version}"
        for name, version in found.items()
        if constrained.get(name) != version
    ]


def _normalise(name: str) -> str:
    """Return a name as PyPI compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    if sys.argv[1:] == ["--compare"]:
        changed = compare(read(FILE.read_text(encoding="utf-8")), installed())
        print("\n".join(changed) or "every package has the constrained version")  # noqa: T201 -- a command
        sys.exit(bool(changed))
    print(*(f"{name}=={version}" for name, version in installed().items()), sep="\n")  # noqa: T201 -- a command
