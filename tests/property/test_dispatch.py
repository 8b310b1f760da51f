"""Laws of the registry: one end each, locks that keep readers and writers apart, and schemas that stay closed."""

from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from permitry.audit.record import MemoryRecorder
from permitry.core.call import ToolCall
from permitry.core.spec import ToolSpec, ToolTraits
from permitry.dispatch.limits import Acquisition, ReadWriteLocks
from permitry.dispatch.registry import ToolRegistry
from permitry.dispatch.strict import strict_schema
from permitry.errors import FatalToolError, RegistryError, ToolError
from permitry.guard.session import Session
from permitry.handler import ToolHandler

ENDS: dict[str, Any] = {
    "ok": "done", "failed": (False, "no"), "crashed": ValueError("x"), "told": ToolError("no"),
    "fatal": FatalToolError("no"), "interrupted": KeyboardInterrupt(), "wrong": 1,
}  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from(sorted(ENDS)), st.booleans()), max_size=12))
def test_every_start_has_one_end(runs: list[tuple[str, bool]]) -> None:
    """However the runs end, and nothing is held afterwards."""
    registry, recorder = ToolRegistry(), MemoryRecorder()
    handler = ToolHandler(Session(yolo_mode=True), registry=registry, recorder=recorder)

    def tool(arguments: dict[str, Any]) -> Any:  # noqa: ANN401 -- also what no tool may return
        end = ENDS[arguments["end"]]
        if isinstance(end, BaseException):
            raise type(end)(*end.args)  # again: one that is raised again carries all tracebacks of before
        return end

    for is_once in (False, True):
        registry.register(ToolSpec(f"tool-{is_once}", traits=ToolTraits(idempotent=is_once)), tool)
    for end, is_once in runs:
        try:
            result = handler.handle(ToolCall(f"tool-{is_once}", {"end": end}))
            assert result.ok is (end == "ok")
        except (FatalToolError, KeyboardInterrupt):
            assert end in ("fatal", "interrupted")
    events = [each["event"] for each in recorder.records if each["event"] != "decided"]
    assert events == ["started", "finished"] * len(runs)
    shared = registry._shared  # noqa: SLF001 -- a leak shows nowhere else
    assert (shared.locks._queues, shared.single_flight._flying, shared.running) == ({}, {}, {})  # noqa: SLF001 -- as above


@given(st.lists(st.one_of(st.booleans(), st.integers(0, 20)), max_size=40))
def test_locks_keep_readers_and_writers_apart(steps: list[bool | int]) -> None:
    """The one who comes (a reader: True) and goes (by number): a writer is alone, and the first never waits idly."""
    locks, there = ReadWriteLocks(), list[Acquisition]()
    for step in steps:
        if isinstance(step, bool):
            there.append(locks.acquire("r", is_shared=step))
        elif there:
            locks.release(there.pop(step % len(there)))
        running = [each for each in there if each.granted is None or each.granted.done()]
        assert len(running) <= 1 or all(each.is_shared for each in running)
        assert not there or there[0] in running
        assert running == there[: len(running)]


SCHEMAS: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.sampled_from(
        [{"type": "string"}, {"type": ["integer", "null"]}, {"enum": ["a"]}, {"const": {"default": 1}}, {}]
    ),
    lambda inner: st.one_of(
        st.builds(
            lambda properties, required: {"type": "object", "properties": properties, "required": required},
            st.dictionaries(st.sampled_from(["a", "default", "properties"]), inner, max_size=3),
            st.just([]),
        ),
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(lambda some: {"anyOf": some}, st.lists(inner, min_size=1, max_size=2)),
        st.builds(lambda some: {"oneOf": some}, st.lists(inner, min_size=1, max_size=2)),
    ),
    max_leaves=8,
)


def _objects(schema: Any) -> list[Mapping[str, Any]]:  # noqa: ANN401 -- any part of a schema
    if not isinstance(schema, Mapping) or "const" in schema:
        return []
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", ()), schema.get("items")]
    assert "oneOf" not in schema
    return [*([schema] if schema.get("type") == "object" else []), *(each for part in inner for each in _objects(part))]


@given(SCHEMAS)
def test_a_strict_schema_is_closed_everywhere_and_stays_as_it_is(schema: dict[str, Any]) -> None:
    """Or there is none."""
    try:
        strict = strict_schema(schema)
    except RegistryError:
        return
    for each in _objects(strict):
        assert each["additionalProperties"] is False
        assert each["required"] == list(each["properties"])
    assert strict_schema(strict) == strict
