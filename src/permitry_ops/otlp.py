"""The record as spans and metrics that are sent to a collector over OTLP, as the variables `OTEL_*` say."""

import contextlib
import os
from collections.abc import Iterator

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from permitry.audit.recorder import Recorder
from permitry_ops.otel import OtelRecorder

__all__ = ["over_otlp"]

_SECONDS = 2.0


@contextlib.contextmanager
def over_otlp(recorder: Recorder) -> Iterator[OtelRecorder]:
    """Yield a recorder that also sends what it keeps; all of it is sent at the end, if the collector is there."""
    named = {} if "OTEL_SERVICE_NAME" in os.environ else {"service.name": "permitry"}
    resource = Resource.create(named)
    # A collector that is away delays the end; by no more than this, unless the user says how long.
    timeout = None if "OTEL_EXPORTER_OTLP_TIMEOUT" in os.environ else _SECONDS
    tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
    tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(timeout=timeout)))
    meters = MeterProvider(
        [PeriodicExportingMetricReader(OTLPMetricExporter(timeout=timeout))], resource=resource, shutdown_on_exit=False
    )
    sent = OtelRecorder(recorder, tracer_provider=tracers, meter_provider=meters)
    try:
        yield sent
    finally:
        sent.close()
        tracers.shutdown()
        meters.shutdown()
