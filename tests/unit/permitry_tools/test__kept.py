"""What lives on after its call has a number, and an end."""

import os
import subprocess
import sys

import attrs
import pytest
from tests.processes import is_gone

from permitry.errors import ToolError
from permitry_tools._kept import Kept, _kill_all


@attrs.define
class _Thing:
    kills: int = 0

    def kill(self) -> None:
        self.kills += 1


def test_things_have_numbers() -> None:
    """From one on, and none twice."""
    kept, one, two = Kept[_Thing](2, "full"), _Thing(), _Thing()
    assert (kept.add(one), kept.add(two), kept.get(1), kept.get(3)) == (1, 2, one, None)
    assert (kept.drop(1), kept.drop(1), kept.add(one)) == (one, None, 3)


def test_there_are_only_so_many() -> None:
    """One more is refused, in words for the model."""
    kept = Kept[_Thing](1, "full up")
    kept.add(_Thing())
    with pytest.raises(ToolError, match="full up"):
        kept.add(_Thing())


def test_at_the_end_all_are_killed() -> None:
    """Those that were dropped are no one's concern; nothing is kept from then on."""
    kept, one, two = Kept[_Thing](2, "full"), _Thing(), _Thing()
    kept.add(one)
    kept.drop(kept.add(two))
    kept.close()
    kept.close()
    assert (one.kills, two.kills) == (1, 0)
    with pytest.raises(ToolError, match="closed"):
        kept.add(two)


def test_what_no_one_closes_ends_with_the_program() -> None:
    """A host that forgets leaves nothing behind."""
    code = (
        "import pathlib\n"
        "from permitry_tools._kept import Kept\n"
        "from permitry_tools._process import ProcessGroup\n"
        "kept, group = Kept(1, ''), ProcessGroup(['sleep', '60'], pathlib.Path('.'))\n"
        "kept.add(group)\n"
        "group.start()\n"
        "print(group.started().pid)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert is_gone(int(done.stdout))


def test_a_fork_leaves_alone_what_is_kept() -> None:
    """The processes belong to the program that started them."""
    thing = _Thing()
    _kill_all({1: thing}, os.getpid() + 1)
    assert thing.kills == 0
