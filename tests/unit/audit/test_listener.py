"""What hears of the record."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

from permitry.audit.listener import Listener
from permitry.audit.record import JsonlRecorder
from permitry.audit.recorder import MemoryRecorder
from permitry.core.call import ToolCall
from permitry.errors import AuditError

_CALL = ToolCall("look", {"path": "a.txt"}, call_id="c1")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where the record is to be."""
    return tmp_path / "audit.jsonl"


@attrs.define(eq=False)
class _Heard(Listener):
    events: list[str] = attrs.field(factory=list)

    def hear(self, event: str, call: ToolCall, details: Mapping[str, Any]) -> None:
        """Note an event; fail where there is something wrong with it."""
        del call
        self.events.append(event)
        if "wrong" in details:
            raise KeyError(event)


def test_who_listens_hears_what_is_on_record(path: Path) -> None:
    """Not what is not, nor before it is; and what goes wrong there is logged."""
    inner = JsonlRecorder(str(path))
    listener = _Heard(inner)
    with listener.together():
        listener.record("decided", _CALL)
        listener.record("started", _CALL, wrong=True)
        assert not listener.events
    assert listener.events == ["decided", "started"]
    inner.close()
    with pytest.raises(AuditError):
        listener.record("finished", _CALL)
    with pytest.raises(AuditError), listener.together():
        listener.record("finished", _CALL)
    assert listener.events == ["decided", "started"]


def test_who_listens_has_what_its_recorder_has(path: Path) -> None:
    """One that keeps no session, and does not wait for a disk, is not taken for one that does."""
    assert not any(hasattr(_Heard(MemoryRecorder()), name) for name in ("session", "together"))
    inner = JsonlRecorder(str(path), session="s1")
    assert _Heard(_Heard(inner)).session == "s1"
    inner.close()
