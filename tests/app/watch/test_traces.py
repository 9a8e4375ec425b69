"""One trace follows a message from its event to every copy and every agent that it asks."""

from __future__ import annotations

import asyncio
import hashlib
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import ValidationError
from structlog.testing import capture_logs

from bridge.app.build import open_tracer
from bridge.app.settings.traces import TraceSettings
from bridge.app.watch.traces import OtelTracer
from bridge.model.turns import (
    AgentEvent,
    AgentInput,
    AnswerRecorded,
    TextDelta,
    ToolAnswered,
    ToolCalled,
    Turn,
    TurnDone,
    UsageReported,
)
from bridge.ports.traces import Span
from bridge.router import AgentMembership
from bridge.store import SqliteStore
from bridge.uacs import ToolCallPart, ToolResultPart
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector

SECRET = "the merger is on Friday"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


class Model:
    """Calls a tool of its own, and answers."""

    name = "bot"

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        del turn, inputs
        yield AnswerRecorded(record={"api": "openai-chat", "model": "m-1"})
        yield ToolCalled(part=ToolCallPart(id="1", name="look_up", arguments={"q": SECRET}))
        yield ToolAnswered(part=ToolResultPart(tool_call_id="1", content=SECRET))
        yield TextDelta(text=f"Yes, {SECRET}.")
        yield UsageReported(usage={"input_tokens": 7, "output_tokens": 3})
        yield TurnDone()


async def traced(clock: FakeClock) -> list[ReadableSpan]:
    """The spans of a question in a room of two channels and an agent."""
    sales, billing = FakeConnector("sales", clock), FakeConnector("billing", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.agents = {"bot": Model()}
    rig.memberships = (AgentMembership("bot", "always"),)
    rig.room("plaza", (sales, "s", "both"), (billing, "b", "both"))
    exporter = InMemorySpanExporter()
    rig.tracer = OtelTracer(exporter, 1.0)

    async with rig.run():
        await sales.say("s", f"Is it true that {SECRET}?")
        await clock.advance(10)
    await rig.tracer.close()
    return list(exporter.get_finished_spans())


def trace_of(span: ReadableSpan) -> int:
    assert span.context is not None
    return span.context.trace_id


def named(spans: Sequence[ReadableSpan], name: str) -> ReadableSpan:
    (found,) = (span for span in spans if span.name == name)
    return found


async def test_one_trace_has_the_event_the_copies_the_turn_and_its_tool_calls(
    clock: FakeClock,
) -> None:
    spans = await traced(clock)

    root, turn = named(spans, "event received"), named(spans, "invoke_agent bot")
    tool, answer = named(spans, "execute_tool look_up"), named(spans, "answer written")
    question = [span for span in spans if trace_of(span) == trace_of(root)]
    assert sorted(span.name for span in question) == [
        "event received", "execute_tool look_up", "invoke_agent bot", "send post_message",
    ]  # fmt: skip
    assert root.parent is None
    assert turn.parent == root.context
    assert tool.parent == turn.context
    assert [link.context for link in turn.links] == [answer.context]
    assert [link.context for link in answer.links] == [root.context]
    sends = [s for s in spans if s.name.startswith("send ") and trace_of(s) == trace_of(answer)]
    accounts = {str((span.attributes or {})["bridge.account"]) for span in sends}
    assert accounts == {"sales", "billing"}
    assert all(span.parent == answer.context for span in sends)


async def test_spans_say_what_happened(clock: FakeClock) -> None:
    spans = await traced(clock)

    event: Any = named(spans, "event received").attributes
    turn: Any = named(spans, "invoke_agent bot").attributes
    root = named(spans, "event received")
    (copy,) = (s for s in spans if s.name.startswith("send ") and trace_of(s) == trace_of(root))
    sent: Any = copy.attributes
    assert (event["bridge.account"], event["bridge.outcome"]) == ("sales", "routed")
    assert (sent["bridge.account"], sent["bridge.state"]) == ("billing", "done")
    assert sent["bridge.attempts"] == 1
    assert turn["gen_ai.operation.name"] == "invoke_agent"
    assert (turn["gen_ai.provider.name"], turn["gen_ai.request.model"]) == ("openai", "m-1")
    assert (turn["gen_ai.usage.input_tokens"], turn["gen_ai.usage.output_tokens"]) == (7, 3)


async def test_no_span_has_words_of_people_agents_or_tools(clock: FakeClock) -> None:
    spans = await traced(clock)

    text = "".join(span.to_json() for span in spans)
    assert "look_up" in text
    assert "merger" not in text


async def test_all_spans_of_a_trace_are_sampled_or_none() -> None:
    exporter = InMemorySpanExporter()
    tracer = OtelTracer(exporter, 0.25)
    for key in ("", "operation:1", "turn:1:0"):
        for number in range(400):
            tracer.record(Span(f"m{number}", "x", "sent", 1.0, 2.0, key))
    await tracer.close()

    spans = Counter(trace_of(span) for span in exporter.get_finished_spans())
    assert set(spans.values()) == {3}
    assert 70 < len(spans) < 130


async def test_ids_are_those_of_the_message_before_and_after_a_restart() -> None:
    before, after = InMemorySpanExporter(), InMemorySpanExporter()
    for exporter, key in ((before, ""), (after, "operation:1")):
        tracer = OtelTracer(exporter, 1.0)
        tracer.record(Span("m", key, "sent", 1.0, 2.0, key))
        await tracer.close()

    (root,), (child,) = before.get_finished_spans(), after.get_finished_spans()
    assert trace_of(root).to_bytes(16, "big") == hashlib.sha256(b"m").digest()[:16]
    assert child.parent == root.context
    assert (child.start_time, child.end_time) == (10**9, 2 * 10**9)


class Away(SpanExporter):
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        del spans
        return SpanExportResult.FAILURE

    def shutdown(self) -> None:
        pass


async def test_a_collector_that_is_away_is_logged_once() -> None:
    tracer = OtelTracer(Away(), 1.0)

    with capture_logs() as logs:
        for number in range(1100):  # more than two batches
            tracer.record(Span(f"m{number}", "x", "sent", 1.0, 2.0))
        await tracer.close()

    assert [line["event"] for line in logs] == ["traces_lost"]


class Collector(BaseHTTPRequestHandler):
    received: list[tuple[str, bytes]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.received.append((self.path, body))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


async def test_spans_reach_a_collector_over_http() -> None:
    Collector.received = []
    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        tracer = open_tracer(TraceSettings(endpoint=f"http://127.0.0.1:{server.server_port}"))
        assert tracer is not None
        tracer.record(Span("m", "event received", "received", 1.0, 2.0))
        await tracer.close()
        await asyncio.to_thread(server.shutdown)

    ((path, body),) = Collector.received
    assert path == "/v1/traces"
    assert hashlib.sha256(b"m").digest()[:16] in body or body[:2] == b"\x1f\x8b"


@pytest.mark.process
def test_without_the_setting_opentelemetry_is_not_imported() -> None:
    code = (
        "import sys, bridge.app.build as build\n"
        "from bridge.app.settings.traces import TraceSettings\n"
        "assert build.open_tracer(TraceSettings()) is None\n"
        "print([m for m in sys.modules if m.startswith(('opentelemetry.sdk', "
        "'opentelemetry.exporter'))])\n"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("endpoint", ["localhost:4318", "http://a:b@host:4318", "http://h/?key=1"])
def test_an_endpoint_is_an_address_without_secrets(endpoint: str) -> None:
    with pytest.raises(ValidationError):
        TraceSettings(endpoint=endpoint)
