"""A session that uses up a shared budget, in a process of its own.

`python -m tests.spending ADDRESS COUNT MOST` makes COUNT calls, of which MOST an hour may run for all such processes,
and prints how many ran, and how many seconds all took.
"""

import json
import sys
import time

from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.guard.guard import Guard
from permitry.guard.ledgers import counters_at
from permitry.guard.outcome import Permit
from permitry.guard.session import Session

_RULES = """
schema = 1
[[rule]]
id = "limit"
effect = "block"
tools = ["search"]
budget = {{ calls = {most}, per = "1h", by = "organisation" }}
[[rule]]
id = "free"
effect = "allow"
tools = ["search"]
"""


def spend(address: str, count: int, most: int) -> tuple[int, float]:
    """Return how many calls ran, and how many seconds all took."""
    counters = counters_at(address)
    guard = Guard(load_policy(_RULES.format(most=most)), Session(shared=counters))
    calls = [ToolCall("search", {"n": number}, call_id=f"c{number}") for number in range(count)]
    since = time.perf_counter()
    ran = sum(isinstance(guard.check(call), Permit) for call in calls)
    took = time.perf_counter() - since
    counters.close()
    return ran, took


if __name__ == "__main__":
    sys.stdout.write(json.dumps(spend(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
