"""Work on many files, spread over a Ray cluster.

Ray starts programs and threads of its own, so that a cluster is tried in a process of its own, by tests/cli.
"""

import os
import socket
import sys
from collections.abc import Iterator
from unittest import mock

import pytest

from permitry.errors import PermitryError
from permitry_ops.replay.cluster import spread


@pytest.fixture(autouse=True)
def _own_environment() -> Iterator[None]:
    with mock.patch.dict(os.environ):
        yield


def test_without_the_extra_there_is_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the extra."""
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(PermitryError, match=r"permitry\[replay\]"):
        list(spread(str.upper, ["a"]))


def test_a_cluster_that_does_not_answer_is_an_error() -> None:
    """At once, where nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(PermitryError, match="cannot use the Ray cluster"):
        list(spread(str.upper, ["a"], address=f"127.0.0.1:{port}"))
