"""`permitry man`: a manual page of all commands and options."""

import shutil
import subprocess
from collections.abc import Callable

import pytest

from permitry.cli.main import actions_of, whole_parser

Outcome = tuple[int, str, str]


def test_every_option_is_on_the_page(cli: Callable[..., Outcome]) -> None:
    """Made from the parsers, so that nothing is forgotten."""
    code, out, err = cli("man")
    assert (code, err) == (0, "")
    assert out.startswith(".TH PERMITRY 1 ")
    options = {name for action in actions_of(whole_parser()) for name in action.option_strings}
    assert [name for name in options if name.replace("-", "\\-") not in out] == []
    assert '.SS "permitry check"' in out


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff is there")
def test_the_page_is_well_formed(cli: Callable[..., Outcome]) -> None:
    """With all warnings on."""
    page = cli("man")[1]
    done = subprocess.run(
        ["groff", "-Kutf8", "-man", "-Tutf8", "-ww"], input=page, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
