"""Results of tools in recorded messages."""

from tests.tables import for_each

from permitry.messages.results import RecordedResult, results_in

_BLOCKS = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]


@for_each(
    ("message", "results"),
    [
        ({"role": "tool", "tool_call_id": "c1", "content": "x"}, [RecordedResult("c1", None, "x")]),
        ({"role": "function", "name": "look", "content": "x"}, [RecordedResult(None, "look", "x")]),
        ({"type": "function_call_output", "call_id": "c1", "output": "x"}, [RecordedResult("c1", None, "x")]),
        ({"type": "custom_tool_call_output", "call_id": "c1", "output": _BLOCKS}, [RecordedResult("c1", None, "a\nb")]),
        ({"id": 7, "name": "look", "ok": True, "content": "x"}, [RecordedResult("7", "look", "x")]),
        ({"name": "look", "ok": False, "content": "x"}, [RecordedResult(None, "look", "x", ok=False)]),
        ({"name": "look", "ok": True, "content": {"a": [1]}}, [RecordedResult(None, "look", {"a": [1]})]),
        ({"role": "tool", "content": {"a": [1]}}, [RecordedResult(None, None, {"a": [1]})]),
        ({"role": "tool", "content": [{"a": 1}]}, [RecordedResult(None, None, [{"a": 1}])]),
        (
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": _BLOCKS},
                    {"type": "tool_result", "tool_use_id": "c2", "content": "no", "is_error": True},
                ],
            },
            [RecordedResult("c1", None, "a\nb"), RecordedResult("c2", None, "no", ok=False)],
        ),
        (
            {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"output": "x"}}}]},
            [RecordedResult(None, "look", "x")],
        ),
        (
            {"role": "user", "parts": [{"function_response": {"id": "c1", "response": {"a": 1, "b": 2}}}]},
            [RecordedResult("c1", None, {"a": 1, "b": 2})],
        ),
        (
            {"role": "user", "parts": [{"functionResponse": {"id": "c1", "response": {"error": "no"}}}]},
            [RecordedResult("c1", None, {"error": "no"}, ok=False)],
        ),
        ({"role": "user", "content": "x"}, []),
        ({"role": "user", "content": ["x", {"type": "text", "text": "x"}]}, []),
        ({"name": "look", "arguments": {}}, []),
        (["x"], []),
    ],
)
def test_results_of_every_provider(message: object, results: list[RecordedResult]) -> None:
    """By the id of their call, or by the name of the tool."""
    assert list(results_in(message)) == results
