"""Model providers on loopback, which make given calls one after another and then say `done`."""

import contextlib
import json
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

import attrs

__all__ = ["Call", "FakeModel", "serving"]

Document: TypeAlias = dict[str, Any]


@attrs.frozen
class Call:
    """One tool call that the model makes."""

    name: str
    arguments: Document


@attrs.define
class FakeModel:
    """Makes the calls of `turns` turn by turn; `requests` are the bodies it was sent."""

    turns: Sequence[Sequence[Call]]
    requests: list[Document] = attrs.field(factory=list)
    paths: list[str] = attrs.field(factory=list)
    url: str = ""

    def calls_after(self, answered: int) -> list[tuple[str, Call]]:
        """Return the calls of the turn that follows after so many results, each with its id; none at the end."""
        for place, turn in enumerate(self.turns):
            if answered <= 0:
                return [(f"call_{place}_{number}", call) for number, call in enumerate(turn)]
            answered -= len(turn)
        return []

    @property
    def shown(self) -> str:
        """Everything that was sent to the model, as one text."""
        return json.dumps(self.requests)


def _anthropic(model: FakeModel, body: Document) -> Iterator[Document]:
    parts = [
        part for message in body["messages"] if isinstance(message["content"], list) for part in message["content"]
    ]
    has_tools = bool(body.get("tools"))
    calls = model.calls_after(sum(part["type"] == "tool_result" for part in parts)) if has_tools else []
    usage = {"input_tokens": 1, "output_tokens": 1}
    start = {"id": "msg_1", "type": "message", "role": "assistant", "model": "fake", "content": [], "usage": usage}
    yield {"type": "message_start", "message": {**start, "stop_reason": None, "stop_sequence": None}}
    blocks: list[tuple[Document, Document]] = [
        (
            {"type": "tool_use", "id": f"toolu_{name}", "name": call.name, "input": {}},
            {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)},
        )
        for name, call in calls
    ] or [({"type": "text", "text": ""}, {"type": "text_delta", "text": "done"})]
    for index, (block, delta) in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    reason = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": reason, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


def _responses(model: FakeModel, body: Document) -> Iterator[Document]:
    answered = sum(item.get("type", "").endswith("_call_output") for item in body["input"])
    calls = model.calls_after(answered) if body.get("tools") else []
    text = {"type": "output_text", "text": "done", "annotations": []}
    items: list[Document] = [
        {"type": "function_call", "call_id": name, "name": call.name, "arguments": json.dumps(call.arguments)}
        if call.name != "apply_patch"
        else {"type": "custom_tool_call", "call_id": name, "name": call.name, "input": call.arguments["input"]}
        for name, call in calls
    ] or [{"type": "message", "role": "assistant", "content": [text]}]
    items = [{**item, "id": f"item_{number}", "status": "completed"} for number, item in enumerate(items)]
    yield {"type": "response.created", "response": {"id": "resp_1"}}
    for number, item in enumerate(items):
        yield {"type": "response.output_item.done", "output_index": number, "item": item}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    yield {"type": "response.completed", "response": {"id": "resp_1", "output": items, "usage": usage}}


def _gemini(model: FakeModel, body: Document) -> Iterator[Document]:
    parts = [part for message in body["contents"] for part in message["parts"]]
    calls = model.calls_after(sum("functionResponse" in part for part in parts)) if body.get("tools") else []
    made: list[Document] = [{"functionCall": {"name": call.name, "args": call.arguments}} for _, call in calls]
    content = {"role": "model", "parts": made or [{"text": "done"}]}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    yield {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}


_PROTOCOLS = (("/messages", _anthropic), ("/responses", _responses), (":streamGenerateContent", _gemini))


def _handler(model: FakeModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            path = self.path.partition("?")[0]
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"] or 0)) or "{}")
            model.paths.append(path)
            protocol = next((each for end, each in _PROTOCOLS if path.endswith(end)), None)
            if protocol is None:
                self.send_error(404)
                return
            model.requests.append(body)
            events = list(protocol(model, body))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for event in events:
                name = f"event: {event['type']}\n" if "type" in event else ""
                self.wfile.write(f"{name}data: {json.dumps(event)}\n\n".encode())

        def do_GET(self) -> None:
            model.paths.append(self.path)
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    return Handler


@contextlib.contextmanager
def serving(model: FakeModel) -> Iterator[FakeModel]:
    """Serve a model on loopback while the block runs."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(model))
    model.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
