"""The agent that speaks Open Floor: one envelope out, one envelope back."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import structlog

from bridge.agents.codec.json_values import obj
from bridge.agents.openfloor.read import Answer, read_answer
from bridge.agents.openfloor.settings import OpenFloorSettings
from bridge.agents.openfloor.write import Peer, asking
from bridge.agents.transport.http import Http, Request, bearer
from bridge.agents.transport.probe import probe
from bridge.agents.transport.signing import ID, SIGNATURE, TIMESTAMP, sign, signing_key
from bridge.agents.turn.answer_record import answer_record
from bridge.agents.turn.history import readable_window
from bridge.agents.turn.inline_files import inline_files
from bridge.agents.turn.inputs import TurnInputs
from bridge.agents.turn.run import api_key_of, run_turn, with_retries
from bridge.content.messages.private_state import agent_state
from bridge.errors import AgentError, InvalidData
from bridge.model.times import datetime_of
from bridge.model.turns import (
    AgentEvent,
    AgentInput,
    AnswerRecorded,
    StateKept,
    Turn,
    TurnDone,
)
from bridge.openfloor.read import LARGEST, read_envelope
from bridge.openfloor.write import write_envelope
from bridge.ports.agent import AgentTools
from bridge.ports.findings import Finding
from bridge.uacs import Conversation

log = structlog.get_logger()

API = "openfloor"


class OpenFloorAgent:
    """Answers as an invited member of a conversation, until it says good-bye."""

    def __init__(self, name: str, settings: OpenFloorSettings, tools: AgentTools) -> None:
        self.name = name
        self._settings = settings
        self._tools = tools

    @property
    def addresses(self) -> Sequence[str]:
        """Its `speakerUri` and its url, by which other agents invite it."""
        settings = self._settings
        return [settings.url, *([settings.speaker_uri] if settings.speaker_uri else [])]

    async def check(self) -> Sequence[Finding]:
        """Return whether the address is reachable; nobody is invited."""
        closed = not self._settings.private_addresses
        return await probe(self._settings, self._probe, open_hosts_only=closed)

    async def _probe(self) -> Request:
        key = await api_key_of(self._settings.api_key, self._tools.secrets)
        return Request(self._settings.url, bearer(key), method="GET")

    def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        """Answer one turn; ends with TurnDone or TurnFailed."""
        closed = not self._settings.private_addresses
        answer = partial(self._answer, turn)
        return run_turn(self.name, self._settings, inputs, answer, open_hosts_only=closed)

    async def _answer(
        self, turn: Turn, inputs: TurnInputs, http: Http
    ) -> AsyncGenerator[AgentEvent]:
        settings = self._settings
        room = readable_window(turn.conversation, self.name, settings.history_tokens)
        room, losses = await inline_files(room, self._tools.files, settings.inline_bytes)
        host = urlsplit(settings.url).hostname or ""
        yield AnswerRecorded(record=answer_record(API, room, self.name, losses, host=host))
        peer = self._peer()
        floor = room.conversation_id
        invited = obj(self._state(room)).get("invited") is True
        question = asking(peer, room, invited=invited, history_events=settings.history_events)
        body = write_envelope(question)
        answers: list[Answer] = []

        async def attempt() -> AsyncGenerator[AgentEvent]:
            answer = await inputs.first(self._asked(turn.id, body, floor, http))
            answers.append(answer)
            for event in answer.events:
                yield event

        async for event in with_retries(
            self.name, attempt, settings.retries, inputs, self._tools.clock
        ):
            yield event
        answer = answers[-1]
        if answer.private:
            log.info("openfloor_private_ignored", agent=self.name, count=answer.private)
        yield StateKept(state={API: None if answer.has_left else {"invited": True}})
        yield answer.failure or TurnDone()

    def _state(self, room: Conversation) -> Any:
        return agent_state(room.metadata, self.name).get(API)

    def _peer(self) -> Peer:
        settings, public = self._settings, self._tools.public_url
        return Peer(
            agent=self.name,
            url=settings.url,
            speaker_uri=settings.speaker_uri,
            version=settings.version,
            authority=urlsplit(public).hostname or "uacs-bridge.invalid",
            service_url=public,
        )

    async def _asked(self, own_id: str, body: bytes, floor: str, http: Http) -> Answer:
        """Post an envelope. Returns the answer.

        Raises:
            BridgeError: the peer cannot be reached, refuses, or answers with no envelope of this
                conversation.
        """
        async with http.answer(await self._request(own_id, body)) as response:
            content = await response.whole(LARGEST)
        if not content.strip():
            return Answer()
        try:
            read = read_envelope(content)
        except InvalidData as error:
            raise AgentError(f"it answered with no envelope: {error}") from None
        for warning in read.warnings:
            log.debug("openfloor_envelope_warning", agent=self.name, problem=warning)
        now = datetime_of(self._tools.clock.time())
        return read_answer(read.envelope, floor, now)

    async def _request(self, own_id: str, body: bytes) -> Request:
        key = await api_key_of(self._settings.api_key, self._tools.secrets)
        headers = {"accept": "application/json", "idempotency-key": own_id, **bearer(key)}
        if self._settings.secret is not None:
            secret = signing_key(await self._tools.secrets.secret(self._settings.secret))
            timestamp = str(int(self._tools.clock.time()))
            headers |= {
                ID: own_id, TIMESTAMP: timestamp, SIGNATURE: sign(secret, own_id, timestamp, body),
            }  # fmt: skip
        return Request(self._settings.url, headers, body)


class _Type:
    kind = API
    settings = OpenFloorSettings

    def build(self, name: str, settings: Any, tools: AgentTools) -> OpenFloorAgent:
        return OpenFloorAgent(name, settings, tools)


agent_type = _Type()
