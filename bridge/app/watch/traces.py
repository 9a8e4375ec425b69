"""Spans of messages -> an OpenTelemetry collector, in batches and in a thread of their own."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import threading
from collections.abc import Sequence

import structlog
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags

from bridge.app.settings.traces import TraceSettings
from bridge.ports.traces import Span
from bridge.runtime.version import bridge_version

log = structlog.get_logger()

_EXPORT_SECONDS = 5.0  # until a batch is given up
_CLOSE_SECONDS = 3.0
_KINDS = {
    "received": SpanKind.CONSUMER,
    "sent": SpanKind.PRODUCER,
    "asked": SpanKind.CLIENT,
    "inside": SpanKind.INTERNAL,
}


def otlp_tracer(endpoint: str, settings: TraceSettings) -> OtelTracer:
    """Return the tracer that exports to this collector, with the headers of the environment."""
    # The SDK logs every failed attempt of every batch; the tracer logs the first.
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
    url = f"{endpoint.rstrip('/')}/v1/traces"
    exporter = OTLPSpanExporter(endpoint=url, timeout=_EXPORT_SECONDS)
    return OtelTracer(exporter, settings.sample, endpoint)


class OtelTracer:
    """Exports spans under ids that come from the ids of what they trace: no context has to be
    stored, and a restart does not break a trace."""

    def __init__(self, exporter: SpanExporter, sample: float, endpoint: str = "") -> None:
        self._exporter = _LogsOnce(exporter, endpoint)
        self._batches = BatchSpanProcessor(self._exporter)
        self._below = round(sample * 2**64)
        self._resource = Resource.create(
            {"service.name": "uacs-bridge", "service.version": bridge_version()}
        )
        self._scope = InstrumentationScope("uacs-bridge", bridge_version())

    def record(self, span: Span) -> None:
        """Put the span into the next batch, if its trace is sampled."""
        context = self._context(span.trace, span.key)
        if not context.trace_flags.sampled:
            return
        status = Status(StatusCode.ERROR) if span.error else Status(StatusCode.UNSET)
        error = {"error.type": span.error} if span.error else {}
        self._batches.on_end(
            ReadableSpan(
                span.name,
                context,
                self._context(span.trace, span.parent) if span.key else None,
                self._resource,
                {**span.attributes, **error},
                links=[Link(self._context(trace, "")) for trace in span.links],
                kind=_KINDS[span.kind],
                status=status,
                start_time=round(span.began * 1e9),
                end_time=round(span.ended * 1e9),
                instrumentation_scope=self._scope,
            )
        )

    async def close(self) -> None:
        """Export what is left, unless the collector is away."""
        if self._exporter.is_away:
            self._exporter.shutdown()  # ends its retries
        closing = threading.Thread(target=self._batches.shutdown, daemon=True)
        closing.start()
        await asyncio.to_thread(closing.join, _CLOSE_SECONDS)

    def _context(self, trace: str, key: str) -> SpanContext:
        digest = hashlib.sha256(trace.encode()).digest()
        own = hashlib.sha256(f"{trace}\0{key}".encode()).digest()
        # All spans of a trace are exported, or none: its id decides (TraceIdRatioBased).
        sampled = int.from_bytes(digest[8:16], "big") < self._below
        return SpanContext(
            int.from_bytes(digest[:16], "big"), int.from_bytes(own[:8], "big"), is_remote=False,
            trace_flags=TraceFlags(TraceFlags.SAMPLED if sampled else TraceFlags.DEFAULT),
        )  # fmt: skip


class _LogsOnce(SpanExporter):
    """An exporter that logs when it begins to lose spans, and when it loses no more."""

    def __init__(self, exporter: SpanExporter, endpoint: str) -> None:
        self._exporter = exporter
        self._endpoint = endpoint
        self.is_away = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = self._exporter.export(spans)
        away = result is not SpanExportResult.SUCCESS
        if away and not self.is_away:
            log.warning("traces_lost", endpoint=self._endpoint, spans=len(spans))
        elif self.is_away and not away:
            log.info("traces_exported_again", endpoint=self._endpoint)
        self.is_away = away
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._exporter.force_flush(timeout_millis)
