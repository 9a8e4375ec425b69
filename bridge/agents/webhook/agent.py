"""The agent that is a program behind an address."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import structlog

from bridge.agents.codec.stream_reader import DONE
from bridge.agents.codec.tool_catalogue import tool_names, unknown_tool_result
from bridge.agents.transport.http import Deadlines, Http, Request, Response, open_http, read_json
from bridge.agents.transport.probe import probe
from bridge.agents.transport.signing import ID, SIGNATURE, TIMESTAMP, check, sign, signing_key
from bridge.agents.turn.answer_record import answer_record
from bridge.agents.turn.continuation import answer_so_far, unanswered_calls, with_answer
from bridge.agents.turn.history import readable_window
from bridge.agents.turn.inline_files import inline_files
from bridge.agents.turn.inputs import TurnInputs
from bridge.agents.turn.paragraphs import Paragraphs
from bridge.agents.turn.run import run_turn, with_retries
from bridge.agents.turn.sub_actors import as_allowed
from bridge.agents.webhook.read import Stream, read_answer
from bridge.agents.webhook.settings import WebhookSettings
from bridge.agents.webhook.write import shown_to, write_feedback, write_turn
from bridge.errors import AgentError
from bridge.model import Loss
from bridge.model.turns import (
    AgentEvent,
    AgentInput,
    AnswerRecorded,
    ApprovalWanted,
    Feedback,
    MessageGiven,
    ToolAnswered,
    ToolResultGiven,
    Turn,
    TurnDone,
    TurnFailed,
)
from bridge.ports.agent import AgentTools
from bridge.ports.findings import Finding
from bridge.uacs import Conversation, ToolCallPart

log = structlog.get_logger()

_ROUNDS = 25  # requests of one turn
_DONE = DONE.encode()


class WebhookAgent:
    """Posts each turn, and says what the program answers."""

    def __init__(self, name: str, settings: WebhookSettings, tools: AgentTools) -> None:
        self.name = name
        self._settings = settings
        self._tools = tools

    async def check(self) -> Sequence[Finding]:
        """Return whether the address is reachable; no turn is sent."""
        closed = not self._settings.private_addresses
        return await probe(self._settings, self._probe, open_hosts_only=closed)

    async def _probe(self) -> Request:
        return Request(self._settings.url, {}, method="HEAD")

    def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        """Answer one turn; ends with TurnDone or TurnFailed."""
        settings = self._settings
        closed = not settings.private_addresses
        answer = partial(self._answer, turn)
        return run_turn(self.name, settings, inputs, answer, open_hosts_only=closed)

    @property
    def takes_feedback(self) -> bool:
        """Whether the settings enable feedback."""
        return self._settings.feedback

    async def take_feedback(self, feedback: Feedback) -> None:
        """Post feedback as a turn is posted; any 2xx accepts it. Raises BridgeError."""
        settings = self._settings
        deadlines = Deadlines(settings.connect_seconds, settings.idle_seconds)
        at = int(feedback.given_at.timestamp() * 1000)
        own_id = f"feedback:{feedback.message}:{feedback.actor}:{at}"
        request = await self._request(own_id, write_feedback(feedback))
        async with (
            open_http(deadlines, open_hosts_only=not settings.private_addresses) as http,
            http.answer(request),
        ):
            pass

    async def _answer(
        self, turn: Turn, inputs: TurnInputs, http: Http
    ) -> AsyncGenerator[AgentEvent]:
        """Send requests until the program waits for nothing more."""
        conversation, losses = await self._conversation(turn)
        host = urlsplit(self._settings.url).hostname or ""
        record = answer_record("webhook", conversation, self.name, losses, host=host)
        yield AnswerRecorded(record=record)
        inputs_to_send: list[AgentInput] = []
        paragraphs = Paragraphs()
        refused_names: set[str] = set()
        for number in range(_ROUNDS):
            own_id = turn.id if number == 0 else f"{turn.id}/{number}"
            body = write_turn(turn, conversation, inputs_to_send)
            agent_events: list[AgentEvent] = []
            async with aclosing(self._round(own_id, body, inputs, http)) as events:
                async for event in events:
                    if isinstance(event, TurnFailed):
                        yield event
                        return
                    if isinstance(event, AnswerRecorded):
                        yield AnswerRecorded(record={**record, "program": event.record})
                    elif not isinstance(event, TurnDone):
                        for allowed in as_allowed(event, self._settings.actors):
                            for shown_event in paragraphs.pass_on(allowed):
                                agent_events.append(shown_event)
                                yield shown_event
            inputs_to_send = await self._meanwhile(agent_events, conversation, inputs)
            unknown_calls = _unknown(agent_events, conversation)
            inputs_to_send += [
                ToolResultGiven(part=unknown_tool_result(call)) for call in unknown_calls
            ]
            for agent_input in inputs_to_send:
                if isinstance(agent_input, ToolResultGiven):
                    agent_events.append(ToolAnswered(part=agent_input.part))
                    paragraphs.pass_on(agent_events[-1])
                    yield agent_events[-1]
            if len(inputs_to_send) == len(unknown_calls) and refused_names.issuperset(
                call.name for call in unknown_calls
            ):
                yield TurnDone()  # it calls unknown tools again, after their errors
                return
            refused_names.update(call.name for call in unknown_calls)
            paragraphs.next()
            answer = answer_so_far(agent_events, self.name, turn.asked_at, number)
            messages = [
                agent_input.message
                for agent_input in inputs_to_send
                if isinstance(agent_input, MessageGiven)
            ]
            conversation = with_answer(conversation, answer, messages)
        yield TurnFailed(reason=f"it gave no answer within {_ROUNDS} requests")

    async def _meanwhile(
        self, agent_events: Sequence[AgentEvent], conversation: Conversation, inputs: TurnInputs
    ) -> list[AgentInput]:
        """Return what the program waits for: results of the bridge's tools, approvals, and messages
        that arrived meanwhile."""
        bridge_tools = tool_names(conversation)
        calls = [
            unanswered_call.id
            for unanswered_call in unanswered_calls(agent_events)
            if unanswered_call.name in bridge_tools
        ]
        awaited_approvals = [
            agent_event.part.id
            for agent_event in agent_events
            if isinstance(agent_event, ApprovalWanted)
        ]
        received: list[AgentInput] = [await inputs.approval(call) for call in awaited_approvals]
        results = await inputs.results(calls)
        received += [ToolResultGiven(part=result) for result in results]
        return [*received, *(MessageGiven(message=message) for message in inputs.take_messages())]

    async def _conversation(self, turn: Turn) -> tuple[Conversation, Sequence[Loss]]:
        settings = self._settings
        room = readable_window(turn.conversation, self.name, settings.history_tokens)
        limit = settings.inline_bytes
        room, losses = await inline_files(shown_to(room, self.name), self._tools.files, limit)
        for loss in losses:
            log.info("agent_input_omitted", agent=self.name, turn=turn.id, what=loss.what)
        return room, losses

    def _round(
        self, own_id: str, body: bytes, inputs: TurnInputs, http: Http
    ) -> AsyncGenerator[AgentEvent]:
        def attempt() -> AsyncGenerator[AgentEvent]:
            return self._events(own_id, body, inputs, http)

        return with_retries(self.name, attempt, self._settings.retries, inputs, self._tools.clock)

    async def _events(
        self, own_id: str, body: bytes, inputs: TurnInputs, http: Http
    ) -> AsyncGenerator[AgentEvent]:
        """Yield the events of one request. A repeated request has the same id, so that a program
        answers once."""
        key = await self._key()
        pieces = self._response_events(await self._request(own_id, body), own_id, key, http)
        async with aclosing(inputs.each(pieces)) as events:
            async for event in events:
                yield event

    async def _request(self, own_id: str, body: bytes) -> Request:
        key = await self._key()
        timestamp = str(int(self._tools.clock.time()))
        headers = {ID: own_id, "idempotency-key": own_id, TIMESTAMP: timestamp}
        headers["accept"] = "application/json, text/event-stream"
        if key is not None:
            headers[SIGNATURE] = sign(key, own_id, timestamp, body)
        return Request(self._settings.url, headers, body)

    async def _key(self) -> bytes | None:
        ref = self._settings.secret
        return None if ref is None else signing_key(await self._tools.secrets.secret(ref))

    async def _response_events(
        self, request: Request, own_id: str, key: bytes | None, http: Http
    ) -> AsyncGenerator[AgentEvent]:
        limit = int(self._settings.max_answer_mb * 1_000_000)
        async with http.answer(request) as answer:
            if answer.kind == "text/event-stream":
                async with aclosing(self._streamed(answer, own_id, key, limit)) as events:
                    async for event in events:
                        yield event
                return
            body = await answer.whole(limit)
            self._check(key, f"answer:{own_id}", answer, body, answer.headers.get(SIGNATURE, ""))
            for event in read_answer(read_json(body) if body.strip() else None, self.name):
                yield event

    async def _streamed(
        self, answer: Response, own_id: str, key: bytes | None, limit: int
    ) -> AsyncGenerator[AgentEvent]:
        stream = Stream(self.name)
        number = size = 0
        async with aclosing(answer.sent()) as sent_events:
            async for native_event in sent_events:
                size += len(native_event.data)
                if size > limit:
                    raise AgentError("its answer is too large")
                self._check(
                    key, f"answer:{own_id}/{number}", answer, native_event.data, native_event.id
                )
                number += 1
                for event in stream.take(
                    DONE if native_event.data == _DONE else read_json(native_event.data)
                ):
                    yield event
                if stream.ended:
                    return
        stream.end()

    def _check(
        self, key: bytes | None, own_id: str, answer: Response, body: bytes, signature: str
    ) -> None:
        if key is not None:
            timestamp = answer.headers.get(TIMESTAMP, "")
            check(key, own_id, timestamp, body, signature, self._tools.clock.time())


def _unknown(agent_events: Sequence[AgentEvent], conversation: Conversation) -> list[ToolCallPart]:
    """Return calls of tools that the program was not offered and did not answer itself."""
    bridge_tools = tool_names(conversation)
    return [
        unanswered_call
        for unanswered_call in unanswered_calls(agent_events)
        if unanswered_call.name not in bridge_tools
    ]


class _Type:
    kind = "webhook"
    settings = WebhookSettings

    def build(self, name: str, settings: Any, tools: AgentTools) -> WebhookAgent:
        return WebhookAgent(name, settings, tools)


agent_type = _Type()
