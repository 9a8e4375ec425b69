"""The agent that speaks ACP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import orjson
import structlog

from bridge.agents.acp.schema import accepted_parts, mismatches, missing
from bridge.agents.acp.settings import AcpSettings
from bridge.agents.acp.stream import Stream
from bridge.agents.acp.write import API, items_of, write_request
from bridge.agents.codec.json_values import Json, arr, obj, text
from bridge.agents.codec.prompt import with_notice
from bridge.agents.codec.stream_reader import BROKEN_LINE
from bridge.agents.transport.http import Http, Request, bearer
from bridge.agents.transport.probe import probe
from bridge.agents.turn.answer_record import answer_record
from bridge.agents.turn.history import only_new_messages, readable_window
from bridge.agents.turn.inline_files import inline_files
from bridge.agents.turn.inputs import TurnInputs
from bridge.agents.turn.paragraphs import Paragraphs
from bridge.agents.turn.run import api_key_of, run_turn, with_retries
from bridge.agents.turn.server_memory import memory_of, memory_part
from bridge.content.messages.negotiation import describe_accepted as in_words
from bridge.errors import AgentError, BridgeError, Refused
from bridge.model.turns import AgentEvent, AgentInput, AnswerRecorded, PartGiven, Turn, TurnDone
from bridge.ports.agent import AgentTools
from bridge.ports.findings import Finding
from bridge.uacs import Conversation, Message, write

log = structlog.get_logger()

Headers = Mapping[str, str]
_CANCEL_SECONDS = 2.0


@dataclass
class _Run:
    """One run: where it starts or continues, its input, and the reader of its answer."""

    path: str
    body: Json
    session: str
    record: Json
    """The record of the answer before there is one."""
    reader: Stream = field(default_factory=Stream)
    resumed: bool = False


class AcpAgent:
    """Answers from the room; the session on its server is a cache of the room."""

    def __init__(self, name: str, settings: AcpSettings, tools: AgentTools) -> None:
        self.name = name
        self._settings = settings
        self._tools = tools

    async def check(self) -> Sequence[Finding]:
        """Return whether the server knows the agent."""
        name = self._settings.agent_name
        return await probe(
            self._settings, self._probe, absent=f"the server does not know the agent {name!r}"
        )

    async def _probe(self) -> Request:
        url = f"{self._settings.base_url}/agents/{quote(self._settings.agent_name, safe='')}"
        return Request(url, await self._headers(), method="GET")

    def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        """Answer one turn; ends with TurnDone or TurnFailed."""
        return run_turn(self.name, self._settings, inputs, partial(self._answer, turn))

    async def _answer(
        self, turn: Turn, inputs: TurnInputs, http: Http
    ) -> AsyncGenerator[AgentEvent]:
        """Make one run, and another one for messages that arrive meanwhile. If the run awaits an
        answer, its question is posted, and the reply is the next turn."""
        headers = await self._headers()
        run = await self._begun(turn.conversation, headers, http)
        yield AnswerRecorded(record=run.record)
        has_said = False
        paragraphs = Paragraphs()
        while True:
            try:
                answer = paragraphs.of(self._with_retries(run, headers, inputs, http))
                async with aclosing(answer) as events:
                    async for event in events:
                        has_said = True
                        yield event
            except Refused:
                if has_said or not run.resumed:
                    raise
                log.info("agent_context_lost", agent=self.name, api=API)
                run = await self._anew(turn.conversation)
                continue
            yield AnswerRecorded(record=self._recorded(run))
            for event in run.reader.question():
                has_said = True
                for shown_event in paragraphs.pass_on(event):
                    yield shown_event
            new_messages = inputs.take_messages()
            if not new_messages:
                break
            run = await self._next(turn.conversation, run, new_messages)
            paragraphs.next()
        if has_said:
            yield PartGiven(part=orjson.loads(write(self._memory(turn.conversation, run))))
        yield TurnDone()

    def _memory(self, conversation: Conversation, run: _Run) -> Any:
        ids: Json = {"session_id": run.reader.session_id or run.session}
        if run.reader.awaited is not None:
            ids["run_id"] = run.reader.run_id
        return memory_part(conversation, API, ids)

    async def _begun(self, conversation: Conversation, headers: Headers, http: Http) -> _Run:
        """Return the run to make: continue a waiting run, send only new messages to a session that
        knows the room, else send the whole room."""
        memory = memory_of(conversation, self.name, API)
        if memory is not None and memory.new_messages:
            session = text(memory.ids.get("session_id"))
            run_id = text(memory.ids.get("run_id"))
            conversation_of_new = only_new_messages(conversation, memory.new_messages)
            if run_id and await self._waits(run_id, headers, http):
                return self._resumed(
                    *await self._written(conversation_of_new, resumes=True), session, run_id
                )
            if (
                not run_id
                and self._settings.sessions
                and await self._is_known(session, headers, http)
            ):
                return self._continued(*await self._written(conversation_of_new), session)
        return await self._anew(conversation)

    async def _anew(self, conversation: Conversation) -> _Run:
        return self._fresh(*await self._written(conversation, whole=True), str(uuid4()))

    async def _is_known(self, session: str, headers: Headers, http: Http) -> bool:
        """Return whether the server still has the session: it would silently begin it anew."""
        url = f"{self._settings.base_url}/sessions/{quote(session, safe='')}"
        try:
            session_body = await http.json(Request(url, headers, method="GET"))
        except Refused:
            return False
        return bool(arr(obj(session_body).get("history")))

    async def _waits(self, run_id: str, headers: Headers, http: Http) -> bool:
        """Return whether the run exists and still waits. The SDK's server also accepts an answer if
        it does not, and then never replies (acp-sdk 1.0.3)."""
        url = f"{self._settings.base_url}/runs/{quote(run_id, safe='')}"
        try:
            run_body = await http.json(Request(url, headers, method="GET"))
        except Refused:
            return False
        return obj(run_body).get("status") == "awaiting"

    async def _next(self, conversation: Conversation, run: _Run, messages: list[Message]) -> _Run:
        resumes = run.reader.awaited is not None
        body, record = await self._written(
            only_new_messages(conversation, messages), resumes=resumes
        )
        session = run.reader.session_id or run.session
        if resumes:
            return self._resumed(body, record, session, run.reader.run_id)
        return self._continued(body, record, session)

    def _fresh(self, body: Json, record: Json, session: str) -> _Run:
        own: Json = {"agent_name": self._settings.agent_name, "session_id": session}
        return _Run("/runs", {**own, **body, "mode": self._settings.mode}, session, record)

    def _continued(self, body: Json, record: Json, session: str) -> _Run:
        return self._fresh(body, {**record, "continued": True}, session)

    def _resumed(self, body: Json, record: Json, session: str, run_id: str) -> _Run:
        """Return the continuation of a waiting run. All messages that arrived meanwhile become one
        message, because the run awaits one."""
        parts = [part for item in items_of(body, "input") for part in arr(item.get("parts"))]
        message: Json = {"role": "user", "parts": parts}
        resume: Json = {"type": "message", "message": message}
        again: Json = {"await_resume": resume, "mode": self._settings.mode}
        path = f"/runs/{quote(run_id, safe='')}"
        return _Run(path, again, session, {**record, "continued": True}, resumed=True)

    async def _written(
        self, conversation: Conversation, *, whole: bool = False, resumes: bool = False
    ) -> tuple[Json, Json]:
        """Return a part of the room as the protocol has it, and the record of it. An answer to a
        waiting run (`resumes`) need not have the parts that a run's input requires. Raises
        AgentError if the agent accepts no part of it, or if a required part is missing."""
        settings = self._settings
        room = readable_window(conversation, self.name, settings.history_tokens)
        limit = settings.inline_bytes
        room, losses = await inline_files(room, self._tools.files, limit)
        conversation_to_send = with_notice(room, self.name) if whole else room
        written = write_request(conversation_to_send, self.name)
        accepted_messages, unfit = accepted_parts(items_of(written.body, "input"), settings.accepts)
        if settings.accepts and not accepted_messages:
            accepted_types = " and ".join(map(in_words, settings.accepts))
            raise AgentError(f"it accepts no part of this question, only {accepted_types}")
        if not resumes and (lacking := missing(accepted_messages, settings.accepts)):
            raise AgentError(f"it requires {', '.join(lacking)}")
        losses = (*losses, *written.losses, *unfit)
        for loss in losses:
            log.debug("agent_loss", agent=self.name, kind=loss.kind, path=loss.path)
        record = answer_record(API, room, self.name, losses, agent_name=settings.agent_name)
        return {"input": [*accepted_messages]}, record

    def _with_retries(
        self, run: _Run, headers: Headers, inputs: TurnInputs, http: Http
    ) -> AsyncGenerator[AgentEvent]:
        def attempt() -> AsyncGenerator[AgentEvent]:
            run.reader = Stream()
            return self._events(run, headers, inputs, http)

        return with_retries(self.name, attempt, self._settings.retries, inputs, self._tools.clock)

    async def _events(
        self, run: _Run, headers: Headers, inputs: TurnInputs, http: Http
    ) -> AsyncGenerator[AgentEvent]:
        request = Request(f"{self._settings.base_url}{run.path}", headers, run.body)
        try:
            async with aclosing(inputs.each(http.events(request))) as events:
                async for event in events:
                    if event == BROKEN_LINE:
                        log.warning("agent_stream_broken", agent=self.name, lines=1)
                    for agent_event in run.reader.take(event):
                        yield agent_event
            while self._settings.mode == "async" and run.reader.is_at_work:
                await inputs.first(self._tools.clock.sleep(self._settings.poll_seconds))
                for agent_event in run.reader.take(await http.json(self._look(run, headers))):
                    yield agent_event
            for agent_event in run.reader.end():
                yield agent_event
        finally:
            if run.reader.run_id and run.reader.is_at_work:
                await self._cancel(run, headers, http)

    def _look(self, run: _Run, headers: Headers) -> Request:
        url = f"{self._settings.base_url}/runs/{quote(run.reader.run_id, safe='')}"
        return Request(url, headers, method="GET")

    async def _cancel(self, run: _Run, headers: Headers, http: Http) -> None:
        """Cancel a run that nobody awaits. A failure to cancel changes nothing for the turn."""
        look = self._look(run, headers)
        try:
            async with asyncio.timeout(_CANCEL_SECONDS):
                await http.json(Request(f"{look.url}/cancel", headers))
        except (BridgeError, TimeoutError) as error:
            log.info("run_cancel_failed", agent=self.name, error=type(error).__name__)

    def _recorded(self, run: _Run) -> Json:
        """Return the record with the server's ids, and the parts of the answer that the settings do
        not allow."""
        session = run.reader.session_id or run.session
        record: Json = {**run.record, "session_id": session, "run_id": run.reader.run_id}
        found = mismatches(items_of(run.reader.response, "output"), self._settings.returns)
        if found and run.reader.is_over:
            log.warning("answer_schema_violated", agent=self.name, faults=found)
            record["faults"] = [*found]
        return record

    async def _headers(self) -> Headers:
        return bearer(await api_key_of(self._settings.api_key, self._tools.secrets))


class _Type:
    kind = API
    settings = AcpSettings

    def build(self, name: str, settings: Any, tools: AgentTools) -> AcpAgent:
        return AcpAgent(name, settings, tools)


agent_type = _Type()
