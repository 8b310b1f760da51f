"""Every recipe of docs/how-to/other-frameworks.md has a test, and `run_all.sh` runs it."""

import re
from pathlib import Path

from tests.adapters.recipe import PAGE

HERE = Path(__file__).parent
TESTS = sorted((HERE / "recipes").glob("test_*.py"))


def test_every_recipe_has_a_test() -> None:
    """A section without one would be a promise only."""
    tested = "\n".join(path.read_text("utf-8") for path in TESTS)
    assert sorted(re.findall(r'^SECTION = "(.+)"$', tested, re.MULTILINE)) == sorted(
        re.findall(r"^## (.+)$", PAGE.read_text("utf-8"), re.MULTILINE)
    )


def test_every_test_of_a_recipe_is_run() -> None:
    """In the environment of its framework: everywhere else it is skipped."""
    loop = re.search(r"^for name in ([^;]+); do", (HERE / "run_all.sh").read_text("utf-8"), re.MULTILINE)
    assert loop is not None
    names = loop[1].replace("\\\n", "").split()
    assert sorted(f"test_{name.replace('-', '_')}.py" for name in names) == [path.name for path in TESTS]
