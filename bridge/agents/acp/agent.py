"""The agent on a server that speaks ACP."""

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
    """One run: where it is begun or goes on, what it is told, and the reader of its answer."""

    path: str
    body: Json
    session: str
    record: Json
    """What is known of the answer before there is one."""
    reader: Stream = field(default_factory=Stream)
    resumed: bool = False


class AcpAgent:
    """Answers from the room; the session on the server is a cache of it."""

    def __init__(self, name: str, settings: AcpSettings, tools: AgentTools) -> None:
        self.name = name
        self._settings = settings
        self._tools = tools

    async def check(self) -> Sequence[Finding]:
        """Whether the server knows the agent."""
        name = self._settings.agent_name
        return await probe(
            self._settings, self._probe, absent=f"the server knows no agent {name!r}"
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
        """One run, and another for what people said meanwhile. What it asks is said; the answer is
        the next turn's."""
        headers = await self._headers()
        run = await self._begun(turn.conversation, headers, http)
        yield AnswerRecorded(record=run.record)
        said = False
        paragraphs = Paragraphs()
        while True:
            try:
                answer = paragraphs.of(self._with_retries(run, headers, inputs, http))
                async with aclosing(answer) as events:
                    async for event in events:
                        said = True
                        yield event
            except Refused:
                if said or not run.resumed:
                    raise
                log.info("agent_context_lost", agent=self.name, api=API)
                run = await self._anew(turn.conversation)
                continue
            yield AnswerRecorded(record=self._recorded(run))
            for event in run.reader.question():
                said = True
                for one in paragraphs.pass_on(event):
                    yield one
            more = inputs.new_messages()
            if not more:
                break
            run = await self._next(turn.conversation, run, more)
            paragraphs.next()
        if said:
            yield PartGiven(part=orjson.loads(write(self._memory(turn.conversation, run))))
        yield TurnDone()

    def _memory(self, conversation: Conversation, run: _Run) -> Any:
        ids: Json = {"session_id": run.reader.session_id or run.session}
        if run.reader.awaited is not None:
            ids["run_id"] = run.reader.run_id
        return memory_part(conversation, API, ids)

    async def _begun(self, conversation: Conversation, headers: Headers, http: Http) -> _Run:
        """A run that waits goes on, a session that knows the room is told what is new, and where
        nothing is known all is told."""
        known = memory_of(conversation, self.name, API)
        if known is not None and known.new_messages:
            session = text(known.ids.get("session_id"))
            run_id = text(known.ids.get("run_id"))
            new = only_new_messages(conversation, known.new_messages)
            if run_id and await self._waits(run_id, headers, http):
                return self._resumed(*await self._told(new, resumes=True), session, run_id)
            if (
                not run_id
                and self._settings.sessions
                and await self._is_known(session, headers, http)
            ):
                return self._continued(*await self._told(new), session)
        return await self._anew(conversation)

    async def _anew(self, conversation: Conversation) -> _Run:
        return self._fresh(*await self._told(conversation, whole=True), str(uuid4()))

    async def _is_known(self, session: str, headers: Headers, http: Http) -> bool:
        """Whether the server has the session still: it would begin it anew without a word."""
        url = f"{self._settings.base_url}/sessions/{quote(session, safe='')}"
        try:
            found = await http.json(Request(url, headers, method="GET"))
        except Refused:
            return False
        return bool(arr(obj(found).get("history")))

    async def _waits(self, run_id: str, headers: Headers, http: Http) -> bool:
        """Whether the run is there and waits still. The SDK's server takes an answer also where it
        does not, and then never says a word (acp-sdk 1.0.3)."""
        url = f"{self._settings.base_url}/runs/{quote(run_id, safe='')}"
        try:
            found = await http.json(Request(url, headers, method="GET"))
        except Refused:
            return False
        return obj(found).get("status") == "awaiting"

    async def _next(self, conversation: Conversation, run: _Run, more: list[Message]) -> _Run:
        resumes = run.reader.awaited is not None
        new, record = await self._told(only_new_messages(conversation, more), resumes=resumes)
        session = run.reader.session_id or run.session
        if resumes:
            return self._resumed(new, record, session, run.reader.run_id)
        return self._continued(new, record, session)

    def _fresh(self, body: Json, record: Json, session: str) -> _Run:
        own: Json = {"agent_name": self._settings.agent_name, "session_id": session}
        return _Run("/runs", {**own, **body, "mode": self._settings.mode}, session, record)

    def _continued(self, body: Json, record: Json, session: str) -> _Run:
        return self._fresh(body, {**record, "continued": True}, session)

    def _resumed(self, body: Json, record: Json, session: str, run_id: str) -> _Run:
        """All that was said meanwhile is one message: that is what a run waits for."""
        parts = [part for item in items_of(body, "input") for part in arr(item.get("parts"))]
        message: Json = {"role": "user", "parts": parts}
        resume: Json = {"type": "message", "message": message}
        again: Json = {"await_resume": resume, "mode": self._settings.mode}
        path = f"/runs/{quote(run_id, safe='')}"
        return _Run(path, again, session, {**record, "continued": True}, resumed=True)

    async def _told(
        self, conversation: Conversation, *, whole: bool = False, resumes: bool = False
    ) -> tuple[Json, Json]:
        """A part of the room as the protocol has it, and the record of it. An answer to what a run
        asks (`resumes`) needs not have what the input of a run must have. Raises AgentError where
        the agent accepts nothing of it, and where it lacks what the agent requires."""
        settings = self._settings
        room = readable_window(conversation, self.name, settings.history_tokens)
        limit = settings.inline_bytes
        room, losses = await inline_files(room, self._tools.files, limit)
        told = with_notice(room, self.name) if whole else room
        written = write_request(told, self.name)
        found, unfit = accepted_parts(items_of(written.body, "input"), settings.accepts)
        if settings.accepts and not found:
            accepted = " and ".join(map(in_words, settings.accepts))
            raise AgentError(f"it accepts nothing of what was said, only {accepted}")
        if not resumes and (lacking := missing(found, settings.accepts)):
            raise AgentError(f"it is not asked without {', '.join(lacking)}")
        losses = (*losses, *written.losses, *unfit)
        for loss in losses:
            log.debug("agent_loss", agent=self.name, kind=loss.kind, path=loss.path)
        record = answer_record(API, room, self.name, losses, agent_name=settings.agent_name)
        return {"input": [*found]}, record

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
                    for said in run.reader.take(event):
                        yield said
            while self._settings.mode == "async" and run.reader.is_at_work:
                await inputs.first(self._tools.clock.sleep(self._settings.poll_seconds))
                for said in run.reader.take(await http.json(self._look(run, headers))):
                    yield said
            for said in run.reader.end():
                yield said
        finally:
            if run.reader.run_id and run.reader.is_at_work:
                await self._cancel(run, headers, http)

    def _look(self, run: _Run, headers: Headers) -> Request:
        url = f"{self._settings.base_url}/runs/{quote(run.reader.run_id, safe='')}"
        return Request(url, headers, method="GET")

    async def _cancel(self, run: _Run, headers: Headers, http: Http) -> None:
        """Nobody waits for it any more; that the server may not hear it changes nothing for us."""
        one = self._look(run, headers)
        try:
            async with asyncio.timeout(_CANCEL_SECONDS):
                await http.json(Request(f"{one.url}/cancel", headers))
        except (BridgeError, TimeoutError) as error:
            log.info("run_cancel_failed", agent=self.name, error=type(error).__name__)

    def _recorded(self, run: _Run) -> Json:
        """With what the server calls it, and what of the answer does not fit."""
        session = run.reader.session_id or run.session
        record: Json = {**run.record, "session_id": session, "run_id": run.reader.run_id}
        found = mismatches(items_of(run.reader.response, "output"), self._settings.returns)
        if found and run.reader.is_over:
            log.warning("answer_schema_violated", agent=self.name, faults=found)
            record["faults"] = [*found]
        return record

    async def _headers(self) -> Headers:
        return bearer(await api_key_of(self._settings.api_key, self._tools.tokens))


class _Type:
    kind = API
    settings = AcpSettings

    def build(self, name: str, settings: Any, tools: AgentTools) -> AcpAgent:
        return AcpAgent(name, settings, tools)


agent_type = _Type()
