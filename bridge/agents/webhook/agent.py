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
from bridge.agents.turn.answer_record import answer_record
from bridge.agents.turn.continuation import answer_so_far, unanswered_calls, with_answer
from bridge.agents.turn.history import readable_window
from bridge.agents.turn.inline_files import inline_files
from bridge.agents.turn.inputs import TurnInputs
from bridge.agents.turn.paragraphs import Paragraphs
from bridge.agents.turn.run import run_turn, with_retries
from bridge.agents.webhook.read import Stream, read_answer
from bridge.agents.webhook.settings import WebhookSettings
from bridge.agents.webhook.signing import ID, SIGNATURE, TIMESTAMP, check, sign, signing_key
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
    """Posts each turn, and says what is answered."""

    def __init__(self, name: str, settings: WebhookSettings, tools: AgentTools) -> None:
        self.name = name
        self._settings = settings
        self._tools = tools

    async def check(self) -> Sequence[Finding]:
        """Whether somebody answers at the address; a turn is asked of nobody."""
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
        return self._settings.feedback

    async def take_feedback(self, feedback: Feedback) -> None:
        """Posted like a turn; any 2xx says that it was taken."""
        settings = self._settings
        patience = Deadlines(settings.connect_seconds, settings.idle_seconds)
        at = int(feedback.given_at.timestamp() * 1000)
        own_id = f"feedback:{feedback.message}:{feedback.actor}:{at}"
        request = await self._request(own_id, write_feedback(feedback))
        async with (
            open_http(patience, open_hosts_only=not settings.private_addresses) as http,
            http.answer(request),
        ):
            pass

    async def _answer(
        self, turn: Turn, inputs: TurnInputs, http: Http
    ) -> AsyncGenerator[AgentEvent]:
        """Rounds of requests, until nothing is left that it waits for."""
        conversation, losses = await self._conversation(turn)
        host = urlsplit(self._settings.url).hostname or ""
        record = answer_record("webhook", conversation, self.name, losses, host=host)
        yield AnswerRecorded(record=record)
        given: list[AgentInput] = []
        paragraphs = Paragraphs()
        refused: set[str] = set()
        for number in range(_ROUNDS):
            own_id = turn.id if number == 0 else f"{turn.id}/{number}"
            body = write_turn(turn, conversation, given)
            said: list[AgentEvent] = []
            async with aclosing(self._round(own_id, body, inputs, http)) as events:
                async for event in events:
                    if isinstance(event, TurnFailed):
                        yield event
                        return
                    if isinstance(event, AnswerRecorded):
                        yield AnswerRecorded(record={**record, "program": event.record})
                    elif not isinstance(event, TurnDone):
                        for one in paragraphs.pass_on(event):
                            said.append(one)
                            yield one
            given = await self._meanwhile(said, conversation, inputs)
            unknown = _unknown(said, conversation)
            given += [ToolResultGiven(part=unknown_tool_result(call)) for call in unknown]
            for agent_input in given:
                if isinstance(agent_input, ToolResultGiven):
                    said.append(ToolAnswered(part=agent_input.part))
                    paragraphs.pass_on(said[-1])
                    yield said[-1]
            if len(given) == len(unknown) and refused.issuperset(call.name for call in unknown):
                yield TurnDone()  # it was told before that there are no such tools
                return
            refused.update(call.name for call in unknown)
            paragraphs.next()
            own = answer_so_far(said, self.name, turn.asked_at, number)
            more = [
                agent_input.message
                for agent_input in given
                if isinstance(agent_input, MessageGiven)
            ]
            conversation = with_answer(conversation, own, more)
        yield TurnFailed(reason=f"it did not come to an answer in {_ROUNDS} requests")

    async def _meanwhile(
        self, said: Sequence[AgentEvent], conversation: Conversation, inputs: TurnInputs
    ) -> list[AgentInput]:
        """What it waits for: results of the bridge's tools, approvals, and what people said."""
        known = tool_names(conversation)
        calls = [
            unanswered_call.id
            for unanswered_call in unanswered_calls(said)
            if unanswered_call.name in known
        ]
        wanted = [
            agent_event.part.id for agent_event in said if isinstance(agent_event, ApprovalWanted)
        ]
        given: list[AgentInput] = [await inputs.approval(call) for call in wanted]
        results = await inputs.results(calls)
        given += [ToolResultGiven(part=result) for result in results]
        return [*given, *(MessageGiven(message=message) for message in inputs.new_messages())]

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
        """One request. A repeat has the same id, so that a program answers once."""
        key = await self._key()
        pieces = self._pieces(await self._request(own_id, body), own_id, key, http)
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
        return None if ref is None else signing_key(await self._tools.tokens.secret(ref))

    async def _pieces(
        self, request: Request, own_id: str, key: bytes | None, http: Http
    ) -> AsyncGenerator[AgentEvent]:
        most = int(self._settings.max_answer_mb * 1_000_000)
        async with http.answer(request) as answer:
            if answer.kind == "text/event-stream":
                async with aclosing(self._streamed(answer, own_id, key, most)) as events:
                    async for event in events:
                        yield event
                return
            whole = await answer.whole(most)
            self._check(key, f"answer:{own_id}", answer, whole, answer.headers.get(SIGNATURE, ""))
            for event in read_answer(read_json(whole) if whole.strip() else None, self.name):
                yield event

    async def _streamed(
        self, answer: Response, own_id: str, key: bytes | None, most: int
    ) -> AsyncGenerator[AgentEvent]:
        stream = Stream(self.name)
        number = size = 0
        async with aclosing(answer.sent()) as sent:
            async for native_event in sent:
                size += len(native_event.data)
                if size > most:
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
        self, key: bytes | None, own_id: str, answer: Response, body: bytes, given: str
    ) -> None:
        if key is not None:
            timestamp = answer.headers.get(TIMESTAMP, "")
            check(key, own_id, timestamp, body, given, self._tools.clock.time())


def _unknown(said: Sequence[AgentEvent], conversation: Conversation) -> list[ToolCallPart]:
    """Calls of tools that it was not offered, and did not answer itself."""
    known = tool_names(conversation)
    return [
        unanswered_call
        for unanswered_call in unanswered_calls(said)
        if unanswered_call.name not in known
    ]


class _Type:
    kind = "webhook"
    settings = WebhookSettings

    def build(self, name: str, settings: Any, tools: AgentTools) -> WebhookAgent:
        return WebhookAgent(name, settings, tools)


agent_type = _Type()
