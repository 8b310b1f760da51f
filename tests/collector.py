"""A collector on loopback that keeps what it receives over OTLP."""

import contextlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import attrs
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

__all__ = ["Collector", "attributes", "listening"]


@attrs.define
class Collector:
    """What a collector at `address` has received: paths and bodies."""

    address: str
    bodies: list[tuple[str, bytes]] = attrs.field(factory=list)

    def requests(self) -> list[Any]:
        """Return the requests with spans."""
        return [ExportTraceServiceRequest.FromString(body) for path, body in self.bodies if path == "/v1/traces"]

    def spans(self) -> list[Any]:
        """Return the spans that came, in the order in which they ended."""
        return [
            span
            for each in self.requests()
            for one in each.resource_spans
            for two in one.scope_spans
            for span in two.spans
        ]

    def metrics(self) -> dict[str, Any]:
        """Return the metrics that came last, by name."""
        requests = [ExportMetricsServiceRequest.FromString(body) for path, body in self.bodies if path == "/v1/metrics"]
        scopes = [two for one in requests[-1].resource_metrics for two in one.scope_metrics]
        return {metric.name: metric for scope in scopes for metric in scope.metrics}


def attributes(item: Any) -> dict[str, Any]:  # noqa: ANN401 -- a generated class
    """Return the attributes of a span, an event or a point."""
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in item.attributes}


@contextlib.contextmanager
def listening() -> Iterator[Collector]:
    """Yield a collector that listens."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            found.bodies.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    found = Collector(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
