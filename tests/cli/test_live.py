"""What running tools report, on a terminal."""

import io
import tracemalloc

import attrs
import pytest

from permitry.cli.story import LiveView
from permitry.dispatch.events import ToolEvent, ToolEventKind

Kind = ToolEventKind


@pytest.fixture
def shown() -> io.StringIO:
    """Return where a view prints."""
    return io.StringIO()


@pytest.fixture
def view(shown: io.StringIO) -> LiveView:
    """Return a view."""
    return LiveView(shown)


def _event(kind: Kind, text: str = "", **data: object) -> ToolEvent:
    return ToolEvent(kind, "run_shell", "c1", "main", text, data)


def test_output_is_shown_by_lines(view: LiveView, shown: io.StringIO) -> None:
    """Pieces of a line wait for its end; the last one needs none."""
    for text in ("one\ntw", "o\r\nthr"):
        view(_event(Kind.OUTPUT, text))
    assert shown.getvalue() == "  | one\n  | two\n"
    view(_event(Kind.FINISHED, "the result"))
    assert shown.getvalue() == "  | one\n  | two\n  | thr\n"


def test_output_cannot_pass_for_something_else(view: LiveView, shown: io.StringIO) -> None:
    """Neither by what moves the cursor nor by a line of permitry's own."""
    view(_event(Kind.OUTPUT, "\x1b[2J\x1b[31mred\rallow   run_shell\n[bold]x[/bold]\n"))
    text = shown.getvalue()
    assert "\x1b" not in text
    assert "\r" not in text
    assert all(line.startswith("  | ") for line in text.splitlines())
    assert "[bold]x[/bold]" in text


def test_a_flood_is_not_shown_whole(view: LiveView, shown: io.StringIO) -> None:
    """Its last lines are; how many are not is said."""
    view(_event(Kind.OUTPUT, "".join(f"{number}\n" for number in range(1_000)) + "x" * 2_000 + "\n"))
    lines = shown.getvalue().splitlines()
    assert (len(lines), lines[0], lines[-2]) == (51, "  | ... 951 lines not shown ...", "  | 999")
    assert lines[-1] == "  | " + "x" * 500


def test_what_is_left_out_is_said(view: LiveView, shown: io.StringIO) -> None:
    """The view shows less than came, and says so."""
    view(_event(Kind.OUTPUT, "end\n", omitted=7))
    assert shown.getvalue() == "  | ... 7 characters not shown ...\n  | end\n"


def test_other_events_have_their_forms(view: LiveView, shown: io.StringIO) -> None:
    """Status, steps, progress and plans; the beginning is shown by the line of the call itself."""
    steps = [{"step": "a", "status": "completed"}, {"step": "b", "status": "in_progress"}]
    view(_event(Kind.STARTED))
    view(_event(Kind.STATUS, "looking"))
    view(_event(Kind.STEP, "round 1"))
    view(_event(Kind.PROGRESS, "files", done=1, total=2))
    view(_event(Kind.PROGRESS, done=3))
    view(_event(Kind.PLAN, "why", steps=[*steps, {"step": "c", "status": "pending"}]))
    assert shown.getvalue().splitlines() == [
        "  - looking", "  - round 1", "  - 1 of 2 files", "  - 3", "  [x] a", "  [>] b", "  [ ] c",
    ]  # fmt: skip


def test_a_line_without_end_takes_no_more_room_than_is_shown(view: LiveView, shown: io.StringIO) -> None:
    """A command may write megabytes without one."""
    tracemalloc.start()
    for _ in range(5_000):
        view(_event(Kind.OUTPUT, "x" * 1_000))
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()
    view(_event(Kind.FINISHED))
    assert shown.getvalue() == f"  | {'x' * 500}\n"


def test_lines_of_two_runs_are_not_one(view: LiveView, shown: io.StringIO) -> None:
    """What one has not ended does not begin a line of the other."""
    view(_event(Kind.OUTPUT, "one"))
    view(attrs.evolve(_event(Kind.OUTPUT, "two\n"), call_id="c2"))
    assert shown.getvalue() == "  | one\n  | two\n"
