"""Whether the inbox serves, for what watches its process."""

import pytest
from tests.unit.permitry_ops.inbox.inboxes import Browser, MemoryInbox

from permitry.errors import StoreError


def test_what_watches_the_process_learns_whether_it_serves(stranger: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a login, and nothing of a question."""
    response = stranger.get("/health")
    assert (response.status_code, response.text) == (200, "ok")

    def fail(*_: object) -> None:
        raise StoreError("the store is away")

    monkeypatch.setattr(MemoryInbox, "open", fail)
    response = stranger.get("/health")
    assert (response.status_code, response.text) == (503, "the questions cannot be read")
