"""What the port adds to the names it hands on: a command or a call as a policy sees it."""

from collections.abc import Sequence
from pathlib import Path

from tests.tables import for_each

from permitry.core.action import Access
from permitry.core.call import ToolCall
from permitry.core.spec import ToolSpec
from permitry.port import paths_touched, paths_written, programs_in


@for_each(
    ("command", "programs"),
    [
        ("vim a.txt", {"vim"}),
        ("git log | less", {"git", "less"}),
        ("echo $(top)", {"echo", "top"}),
        ("VAR=1", set()),
        ("'", set()),
    ],
)
def test_programs_are_found_wherever_they_are_run(command: str, programs: set[str]) -> None:
    """At least these: too many is better than too few."""
    assert programs_in(command) >= programs


@for_each("command", ["cat a > b", ["bash", "-c", "cat a > b"]])
def test_paths_of_a_command_come_with_what_is_done(command: str | Sequence[str], tmp_path: Path) -> None:
    """As shell text, and as a list of arguments."""
    root = str(tmp_path.resolve())
    assert paths_touched(command, root) >= {(Access.READ, f"{root}/a"), (Access.WRITE, f"{root}/b")}


def test_only_what_is_changed_is_written(tmp_path: Path) -> None:
    """A path that is read is not among them."""
    spec = ToolSpec("copy", roles={"source": "read_path", "target": "write_path"})
    call = ToolCall("copy", {"source": "a", "target": "b"})
    assert [place.text for place in paths_written(call, str(tmp_path), spec)] == ["b"]
