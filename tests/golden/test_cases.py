"""The golden cases of the shipped rules, each as `permitry test` checks it."""

from pathlib import Path

import pytest

from permitry.golden.case import find_cases, read_case
from permitry.golden.check import check_case
from permitry.golden.deciders import Deciders
from tests.tables import for_each

CASES = find_cases(Path(__file__).parents[2] / "golden" / "cases")
DECIDERS = Deciders()


@for_each("path", CASES, ids=lambda path: path.stem)
def test_the_case_holds(path: Path) -> None:
    """Verdict, rule, phase and message are those that are written down."""
    check_case(path, read_case(path), DECIDERS)
