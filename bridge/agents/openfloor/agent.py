"""The agent that speaks Open Floor: one envelope out, one envelope back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from functools import partial
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import structlog
from pydantic import JsonValue

from bridge.agents.codec.json_values import arr, obj, text
from bridge.agents.openfloor.invitations import Invitation, Invitations
from bridge.agents.openfloor.read import Answer, decisions, read_answer
from bridge.agents.openfloor.settings import OpenFloorSettings
from bridge.agents.openfloor.write import Peer, asking, changing, floor_envelope, wishing
from bridge.agents.transport.http import Deadlines, Http, Request, bearer, open_http
from bridge.agents.transport.probe import probe
from bridge.agents.transport.signing import ID, SIGNATURE, TIMESTAMP, sign, signing_key
from bridge.agents.turn.answer_record import answer_record
from bridge.agents.turn.history import readable_window
from bridge.agents.turn.inline_files import inline_files
from bridge.agents.turn.inputs import TurnInputs
from bridge.agents.turn.run import api_key_of, run_turn, with_retries
from bridge.content.messages.private_state import agent_state
from bridge.errors import AgentError, BridgeError, InvalidData
from bridge.model.floor import FloorChange, FloorWish
from bridge.model.times import datetime_of
from bridge.model.turns import (
    AgentEvent,
    AgentInput,
    AnswerRecorded,
    StateKept,
    Turn,
    TurnDone,
)
from bridge.openfloor.envelope import Envelope
from bridge.openfloor.read import LARGEST, read_envelope
from bridge.openfloor.write import write_envelope
from bridge.ports.agent import AgentTools
from bridge.ports.findings import Finding
from bridge.uacs import Conversation

log = structlog.get_logger()

API = "openfloor"
_TOLD_WITHIN = 5.0  # seconds for an envelope outside of turns
_REMEMBERED = 20  # utterances of the agent that are recognised when they come again


class OpenFloorAgent:
    """Answers as an invited member of a conversation, until it says good-bye."""

    def __init__(self, name: str, settings: OpenFloorSettings, tools: AgentTools) -> None:
        self.name = name
        self._settings = settings
        self._tools = tools
        self._invitations = Invitations(tools.key_values(name), tools.clock, self.invited_seconds)

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
        state = obj(self._state(room))
        was_invited = state.get("invited") is True
        invitation = await self._invitations.get(floor, turn.id, invited=was_invited)
        invited = invitation.state == "ready"
        question = asking(
            peer, room, invited=invited, history_events=settings.history_events,
            overheard=turn.overheard, floor=turn.floor,
        )  # fmt: skip
        body = write_envelope(question)
        heard = [text(digest) for digest in arr(state.get("heard"))]
        invitation.step("utterance" if invited else "invite")
        answers: list[Answer] = []

        async def attempt() -> AsyncGenerator[AgentEvent]:
            envelope = await inputs.first(self._posted(turn.id, body, http))
            now = datetime_of(self._tools.clock.time())
            answer = Answer()
            if envelope is not None:
                answer = read_answer(
                    envelope, floor, now, heard, peer.authority, private=turn.private
                )
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
        await self._answered(floor, invitation, answer)
        known = list[JsonValue]((*heard, *answer.heard))[-_REMEMBERED:]
        yield StateKept(state={API: {"heard": known} if known else None})
        yield answer.failure or TurnDone()

    @property
    def invited_seconds(self) -> float | None:
        """Seconds without a question after which the agent is sent away; None: never."""
        minutes = self._settings.invited_minutes
        return None if minutes is None else minutes * 60

    async def tell(self, conversation: str, change: FloorChange) -> None:
        """Tell the agent that it has lost the floor or has to leave; failures are logged."""
        invitation = await self._invitations.get(conversation)
        if invitation.kept != "ready":
            return
        if change.act == "uninvite":
            invitation.step("silence")
            await self._invitations.put(conversation, invitation)
        peer = self._peer()
        event = changing(peer, change)
        if event is None:
            return
        try:
            await self._exchange(floor_envelope(peer, conversation, [event]))
        except (BridgeError, TimeoutError) as error:
            log.warning("openfloor_not_told", agent=self.name, act=change.act, error=str(error))

    async def decide(self, conversation: str, wish: FloorWish) -> Sequence[FloorChange]:
        """Ask the agent, as the convener of a conversation, about the wish of another member.

        Raises:
            BridgeError: it cannot be reached, refuses, or answers with no envelope of this
                conversation.
        """
        peer = self._peer()
        read = await self._exchange(wishing(peer, conversation, wish))
        if read is None:
            return ()
        if read.talk.id != conversation:
            raise AgentError("it answered in another conversation than it was asked in")
        return decisions(read, peer.authority)

    async def _exchange(self, envelope: Envelope) -> Envelope | None:
        """Post an envelope outside of a turn. Returns the answer; None for an empty one.

        Raises:
            BridgeError: as for turns.
            TimeoutError: it did not answer within some seconds.
        """
        closed = not self._settings.private_addresses
        async with (
            asyncio.timeout(_TOLD_WITHIN),
            open_http(Deadlines(_TOLD_WITHIN, _TOLD_WITHIN), open_hosts_only=closed) as http,
        ):
            return await self._posted(uuid4().hex, write_envelope(envelope), http)

    async def _answered(self, floor: str, invitation: Invitation, answer: Answer) -> None:
        """Note what an answer says of the agent's part in the conversation."""
        if answer.has_declined:
            invitation.step("decline")
        invitation.step("accept" if invitation.state == "inviting" else "response")
        invitation.step("bye" if answer.has_left else "consumed")
        await self._invitations.put(floor, invitation)

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

    async def _posted(self, own_id: str, body: bytes, http: Http) -> Envelope | None:
        """Post an envelope. Returns the answer; None for an empty one.

        Raises:
            BridgeError: the peer cannot be reached, refuses, or answers with no envelope.
        """
        async with http.answer(await self._request(own_id, body)) as response:
            content = await response.whole(LARGEST)
        if not content.strip():
            return None
        try:
            read = read_envelope(content)
        except InvalidData as error:
            raise AgentError(f"it answered with no envelope: {error}") from None
        for warning in read.warnings:
            log.debug("openfloor_envelope_warning", agent=self.name, problem=warning)
        return read.envelope

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
