"""The agent that speaks A2A."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import orjson
import structlog
from pydantic import JsonValue

from bridge.agents.a2a.settings import A2aSettings
from bridge.agents.a2a.stream import Stream
from bridge.agents.a2a.write import API, write_request
from bridge.agents.codec.json_values import Json, arr, obj, patched, text
from bridge.agents.codec.prompt import with_notice
from bridge.agents.transport.api_errors import without_keys
from bridge.agents.transport.http import Http, Request, bearer
from bridge.agents.transport.probe import probe
from bridge.agents.turn.answer_record import answer_record, refusal
from bridge.agents.turn.history import only_new_messages, readable_window
from bridge.agents.turn.inline_files import inline_files
from bridge.agents.turn.inputs import TurnInputs
from bridge.agents.turn.paragraphs import Paragraphs
from bridge.agents.turn.run import api_key_of, run_turn, with_retries
from bridge.agents.turn.server_memory import memory_of, memory_part
from bridge.agents.turn.sub_actors import as_allowed
from bridge.errors import BridgeError, ConfigError, Refused, Unavailable, Unsettled
from bridge.model.turns import (
    AgentEvent,
    AgentInput,
    AnswerRecorded,
    ModerationReported,
    PartGiven,
    TextDelta,
    Turn,
    TurnDone,
    TurnFailed,
)
from bridge.ports.agent import AgentTools
from bridge.ports.findings import Finding
from bridge.runtime.extras import how_to_install
from bridge.uacs import Conversation, Message, write

if TYPE_CHECKING:
    from bridge.agents.a2a.client import Peer

log = structlog.get_logger()

_CANCEL_SECONDS = 2.0
_SIGN_IN = "It waits until it is allowed in elsewhere. Say something here when that is done."


@dataclass
class _Task:
    """What is sent, and the reader of its answer."""

    params: Json
    record: Json
    """The record of the answer before there is one."""
    needs_server_state: bool = False
    """Whether the server must know a context or task for it."""
    card: Json = field(default_factory=dict[str, JsonValue])
    """The agent's name and versions, from its card."""
    reader: Stream = field(default_factory=Stream)


class A2aAgent:
    """Answers from the room; the context on its server is a cache of the room."""

    def __init__(self, name: str, settings: A2aSettings, tools: AgentTools) -> None:
        self.name = name
        self._settings = settings
        self._tools = tools

    async def check(self) -> Sequence[Finding]:
        """Return whether the address has an agent card."""
        from bridge.agents.a2a.client import CARD, OLD_CARD

        findings: Sequence[Finding] = ()
        for path in ("",) if self._settings.base_url.endswith(".json") else (CARD, OLD_CARD):
            findings = await probe(
                self._settings, partial(self._probe, path), absent="there is no agent card"
            )
            if any(finding.level == "ok" for finding in findings):
                break
        return findings

    async def _probe(self, path: str) -> Request:
        key = await api_key_of(self._settings.api_key, self._tools.secrets)
        return Request(f"{self._settings.base_url}{path}", bearer(key), method="GET")

    def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        """Answer one turn; ends with TurnDone or TurnFailed."""
        return run_turn(self.name, self._settings, inputs, partial(self._answer, turn))

    async def _answer(
        self, turn: Turn, inputs: TurnInputs, http: Http
    ) -> AsyncGenerator[AgentEvent]:
        """Send one task, and another one for messages that arrive meanwhile. If the task needs
        input, its question is the answer, and the reply is the next turn."""
        task = await self._begun(turn.conversation)
        yield AnswerRecorded(record=task.record)
        has_said = False
        paragraphs = Paragraphs()
        while True:
            try:
                async with aclosing(
                    paragraphs.of(self._with_retries(task, inputs, http))
                ) as events:
                    async for event in events:
                        for allowed in as_allowed(event, self._settings.actors):
                            has_said = True
                            yield allowed
            except Refused:
                if has_said or not task.needs_server_state:
                    raise
                log.info("agent_context_lost", agent=self.name, api=API)
                task = await self._anew(turn.conversation)
                continue
            yield AnswerRecorded(record=_recorded(task))
            if failure := self._failure(task.reader):
                if task.reader.ending.outcome == "refused":
                    yield ModerationReported(moderation=refusal(task.reader.ending.words))
                yield failure
                return
            if task.reader.state == "TASK_STATE_AUTH_REQUIRED":
                yield TextDelta(text=f"\n\n{_SIGN_IN}" if has_said else _SIGN_IN)
                has_said = True
            new_messages = inputs.take_messages()
            if not new_messages:
                break
            task = await self._next(turn.conversation, task, new_messages)
            paragraphs.next()
        if has_said and (task.reader.context_id or task.reader.waits):
            yield PartGiven(part=orjson.loads(write(self._memory(turn.conversation, task.reader))))
        yield TurnDone()

    def _failure(self, reader: Stream) -> TurnFailed | None:
        status = obj(obj(reader.response.get("task")).get("status"))
        parts = arr(obj(status.get("message")).get("parts"))
        reported = " ".join(text(obj(part).get("text")) for part in parts)
        match reader.state:
            case "TASK_STATE_FAILED":
                log.warning("agent_failed", agent=self.name, api=API, error=without_keys(reported))
                return TurnFailed(reason="its task failed on its server; the log has the details")
            case "TASK_STATE_REJECTED":
                return TurnFailed(reason="it refused to do this", retry=False)
            case "TASK_STATE_CANCELED":
                return TurnFailed(reason="its task was cancelled on its server")
            case _:
                return None

    def _memory(self, conversation: Conversation, reader: Stream) -> Any:
        ids: Json = {"context_id": reader.context_id}
        if reader.waits:
            ids["task_id"] = reader.task_id
        return memory_part(conversation, API, ids)

    async def _begun(self, conversation: Conversation) -> _Task:
        """Return the task to send: continue a waiting task, send only new messages to a context
        that knows the room, else send the whole room."""
        memory = memory_of(conversation, self.name, API)
        if memory is not None and memory.new_messages:
            context, task = text(memory.ids.get("context_id")), text(memory.ids.get("task_id"))
            if task or (context and self._settings.contexts):
                new_messages = only_new_messages(conversation, memory.new_messages)
                return await self._continued(new_messages, context, task)
        return await self._anew(conversation)

    async def _anew(self, conversation: Conversation) -> _Task:
        return _Task(*await self._written(conversation, whole=True))

    async def _next(
        self, conversation: Conversation, task: _Task, messages: list[Message]
    ) -> _Task:
        conversation_of_new = only_new_messages(conversation, messages)
        waiting = task.reader.task_id if task.reader.waits else ""
        return await self._continued(conversation_of_new, task.reader.context_id, waiting)

    async def _continued(self, conversation: Conversation, context: str, task: str) -> _Task:
        params, record = await self._written(conversation)
        ids: Json = {
            key: value for key, value in (("contextId", context), ("taskId", task)) if value
        }
        params = {**params, "message": patched(obj(params["message"]), ids)}
        return _Task(params, {**record, "continued": True}, needs_server_state=True)

    async def _written(
        self, conversation: Conversation, *, whole: bool = False
    ) -> tuple[Json, Json]:
        """Return a part of the room as one message, and the record of it."""
        settings = self._settings
        room = readable_window(conversation, self.name, settings.history_tokens)
        limit = settings.inline_bytes
        room, losses = await inline_files(room, self._tools.files, limit)
        conversation_to_send = with_notice(room, self.name) if whole else room
        written = write_request(conversation_to_send, self.name)
        losses = (*losses, *written.losses)
        for loss in losses:
            log.debug("agent_loss", agent=self.name, kind=loss.kind, path=loss.path)
        record = answer_record(API, room, self.name, losses)
        return {"message": written.body["message"]}, record

    def _with_retries(
        self, task: _Task, inputs: TurnInputs, http: Http
    ) -> AsyncGenerator[AgentEvent]:
        def attempt() -> AsyncGenerator[AgentEvent]:
            task.reader = Stream()
            return self._events(task, inputs, http)

        settings, clock = self._settings, self._tools.clock
        may_repeat = lambda: not task.reader.task_id  # noqa: E731
        return with_retries(self.name, attempt, settings.retries, inputs, clock, may_repeat)

    async def _events(
        self, task: _Task, inputs: TurnInputs, http: Http
    ) -> AsyncGenerator[AgentEvent]:
        from bridge.agents.a2a.client import open_peer  # importing the SDK takes seconds

        settings = self._settings
        key = await api_key_of(settings.api_key, self._tools.secrets)
        opening = open_peer(
            settings.base_url, key, settings.hosts, http, streaming=settings.streaming
        )
        peer = await inputs.first(opening)
        reader, task.card = task.reader, peer.card
        try:
            try:
                async with aclosing(inputs.each(peer.send(task.params))) as events:
                    async for event in events:
                        for agent_event in reader.take(event):
                            yield agent_event
            except (Unavailable, Unsettled):
                if not reader.task_id:
                    raise
                log.info("agent_stream_lost", agent=self.name, api=API)
            while reader.is_at_work and reader.task_id:
                await inputs.first(self._tools.clock.sleep(settings.poll_seconds))
                for agent_event in reader.take(await inputs.first(peer.task(reader.task_id))):
                    yield agent_event
            for agent_event in reader.end():
                yield agent_event
        finally:
            if reader.task_id and reader.is_at_work:
                await self._cancel(peer, reader.task_id)

    async def _cancel(self, peer: Peer, task_id: str) -> None:
        """Cancel a task that nobody awaits. A failure to cancel changes nothing for the turn."""
        try:
            async with asyncio.timeout(_CANCEL_SECONDS):
                await peer.cancel(task_id)
        except (BridgeError, TimeoutError) as error:
            log.info("task_cancel_failed", agent=self.name, error=type(error).__name__)


def _recorded(task: _Task) -> Json:
    """Return the record with the server's ids."""
    reader = task.reader
    ids: Json = {"context_id": reader.context_id, "task_id": reader.task_id, "state": reader.state}
    known_ids = {key: value for key, value in ids.items() if value}
    return {**task.record, **({"card": task.card} if task.card else {}), **known_ids}


class _Type:
    kind = API
    settings = A2aSettings

    def build(self, name: str, settings: Any, tools: AgentTools) -> A2aAgent:
        try:
            import_module("bridge.agents.a2a.client")
        except ImportError:
            raise ConfigError(
                f"agents.{name}: kind a2a needs the A2A SDK; {how_to_install('a2a')}"
            ) from None
        return A2aAgent(name, settings, tools)


agent_type = _Type()
