"""How often an MCP server that has ended is started again."""

from permitry.messages.mcp_restarts import Restarts


def test_a_program_is_started_again_five_times_in_ten_minutes() -> None:
    """And then no more, until the first of them is that long ago."""
    restarts = Restarts()
    assert [restarts.take(now) for now in range(7)] == [True] * 5 + [False] * 2
    assert [restarts.take(now) for now in (599.0, 600.5, 600.6)] == [False, True, False]
