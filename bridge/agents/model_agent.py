"""The agent that every model's API has: a turn in, requests and streams, agent events out.

What differs between APIs stands in an `Api`: pure functions and a reader of streams.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

import orjson
import structlog
from pydantic import JsonValue

from bridge.agents.faults import failure_of
from bridge.agents.files import inline_files
from bridge.agents.heard import Heard, Stopped, TookTooLong, listening
from bridge.agents.history import within
from bridge.agents.http import Http, Patience, Request, open_http
from bridge.agents.json_values import Json, patched
from bridge.agents.lines import Written, has_speakers
from bridge.agents.schemas import read_answer
from bridge.agents.settings import ModelSettings
from bridge.agents.speakers import NOTICE, UNMARKED, agent_id, instructions_id
from bridge.agents.streams import Ending, StreamReader
from bridge.agents.tools import tool_names
from bridge.errors import AgentError, BridgeError, RateLimited, Unavailable, Unsettled
from bridge.model.turns import (
    AgentEvent,
    AgentInput,
    PartGiven,
    TextDelta,
    ToolAnswered,
    Turn,
    TurnDone,
    TurnFailed,
    UsageReported,
)
from bridge.ports.agent import AgentTools
from bridge.ports.clock import datetime_of
from bridge.uacs import (
    Actor,
    ContentPart,
    Conversation,
    Message,
    RequestedResponseFormatPart,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    to_timestamp,
    write,
)

log = structlog.get_logger()

_ROUNDS = 25  # requests of one turn: a model that calls tools for ever is stopped
_LONGEST_PAUSE = 30.0  # seconds; a vendor that asks for more is not waited for


@dataclass(frozen=True)
class Api:
    """One vendor's API: pure functions."""

    name: str
    write_request: Callable[[Conversation, str], Written]
    read_response: Callable[[JsonValue, str], Message]
    usage: Callable[[Json], Json]
    stream: Callable[[], StreamReader]
    settings_of_request: Callable[[ModelSettings], Json]
    """The members of a request that are no messages."""
    address: Callable[[ModelSettings], str]
    headers: Callable[[str], dict[str, str]]
    """With the key, or with an empty string where none is needed."""


@dataclass
class _Round:
    """One request: the reader of its answer, and what was held back because a format is wanted."""

    body: Json
    reader: StreamReader
    held: list[str] | None = None
    shown: bool = False


class ModelAgent:
    """Answers from the room alone: nothing is kept at the vendor's."""

    def __init__(self, name: str, api: Api, settings: ModelSettings, tools: AgentTools) -> None:
        self.name = name
        self._api = api
        self._settings = settings
        self._tools = tools

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        """Answer one turn; ends with TurnDone or TurnFailed."""
        settings = self._settings
        until = asyncio.get_running_loop().time() + settings.total_seconds
        patience = Patience(settings.connect_seconds, settings.idle_seconds)
        try:
            async with listening(inputs, until) as heard, open_http(patience) as http:
                conversation = await self._conversation(turn)
                async with aclosing(self._answer(conversation, heard, http)) as events:
                    async for event in events:
                        yield event
        except Stopped:
            yield TurnDone()
        except TookTooLong:
            yield TurnFailed(reason=f"its answer took longer than {settings.total_seconds:g} s")
        except BridgeError as error:
            log.warning("agent_failed", agent=self.name, api=self._api.name, error=str(error))
            yield failure_of(error)

    async def _conversation(self, turn: Turn) -> Conversation:
        """The room as this agent's API is told it: with instructions and settings."""
        settings = self._settings
        room = within(turn.conversation, self.name, settings.history_tokens)
        limit = int(settings.inline_mb * 1_000_000)
        room, losses = await inline_files(room, self._tools.files, limit)
        for loss in losses:
            log.info("agent_not_given", agent=self.name, turn=turn.id, what=loss.what)
        messages = [*_instructions(room, self.name, settings.system), *room.messages]
        if settings.response_format is not None and _wanted(messages, self.name) is None:
            part = RequestedResponseFormatPart(schema=settings.response_format)
            messages[-1] = _wanting(messages[-1], part)
        metadata = dict(room.metadata or {})
        agents = metadata.get("agents")
        request = self._api.settings_of_request(settings)
        own: Json = {"api": self._api.name, "request": patched(request, settings.extra_body)}
        metadata["agents"] = {**(agents if isinstance(agents, dict) else {}), self.name: own}
        return room.model_copy(update={"messages": tuple(messages), "metadata": metadata})

    async def _answer(
        self, conversation: Conversation, heard: Heard, http: Http
    ) -> AsyncGenerator[AgentEvent, None]:
        """Rounds of requests, until the model says no more."""
        wanted = _wanted(conversation.messages, self.name)
        usage: Json = {}
        asked_again = False
        for number in range(1, _ROUNDS + 1):
            held = None if wanted is None else list[str]()
            one = _Round(self._body(conversation), self._api.stream(), held)
            async with aclosing(self._round(one, heard, http)) as events:
                async for event in events:
                    yield event
            usage = _added(usage, self._api.usage(one.reader.response))
            yield UsageReported(usage={**usage, "requests": number})
            own = self._api.read_response(one.reader.response, self.name)
            if one.reader.ending.outcome == "calls":
                results = await self._results(conversation, own, heard)
                for result in results:
                    yield ToolAnswered(part=result)
                more = [*_as_messages(results), *heard.new_messages()]
            elif one.reader.ending.outcome != "done":
                for text in held or ():
                    yield TextDelta(text=text)
                yield _failure(one.reader.ending, self._settings)
                return
            elif more := heard.new_messages():
                pass
            elif wanted is not None:
                try:
                    part = read_answer("".join(held or ()), wanted.schema_)
                except AgentError as error:
                    if asked_again:
                        raise
                    asked_again = True
                    more = [_asking(f"{error}. Answer again, in that format alone.")]
                else:
                    yield PartGiven(part=orjson.loads(write(part)))
                    yield TurnDone()
                    return
            else:
                yield TurnDone()
                return
            conversation = _continued(conversation, own, more, wanted)
        yield TurnFailed(reason=f"it did not come to an answer in {_ROUNDS} requests")

    def _body(self, conversation: Conversation) -> Json:
        written = self._api.write_request(conversation, self.name)
        for loss in written.losses:
            log.debug("agent_loss", agent=self.name, kind=loss.kind, path=loss.path)
        return written.body

    async def _round(self, one: _Round, heard: Heard, http: Http) -> AsyncGenerator[AgentEvent]:
        """One request; it is sent again only while nothing of its answer was said."""
        for attempt in range(self._settings.retries + 1):
            one.reader = self._api.stream()
            try:
                async with aclosing(self._events(one, heard, http)) as events:
                    async for event in events:
                        if one.held is not None and isinstance(event, TextDelta):
                            one.held.append(event.text)
                            continue
                        one.shown = True
                        yield event
            except (RateLimited, Unavailable, Unsettled) as error:
                pause = _pause(error, attempt)
                if one.shown or attempt == self._settings.retries or pause > _LONGEST_PAUSE:
                    raise
                log.info("agent_retries", agent=self.name, error=str(error), pause=pause)
                if one.held is not None:
                    one.held.clear()
                await heard.first(self._tools.clock.sleep(pause))
            else:
                return

    async def _events(self, one: _Round, heard: Heard, http: Http) -> AsyncGenerator[AgentEvent]:
        key = self._settings.api_key
        secret = "" if key is None else await self._tools.tokens.secret(key)
        url = self._api.address(self._settings)
        request = Request(url, self._api.headers(secret), one.body)
        async with aclosing(http.events(request)) as events:
            while (event := await heard.first(anext(events, _END))) is not _END:
                for said in one.reader.take(event):
                    yield said
        for said in one.reader.end():
            yield said

    async def _results(
        self, conversation: Conversation, own: Message, heard: Heard
    ) -> Sequence[ToolResultPart]:
        """What the tools answered that the bridge has; others are answered that there is none."""
        calls = [part for part in own.content if isinstance(part, ToolCallPart)]
        if not calls:
            raise AgentError("its model called a tool in a way that cannot be read")
        known = tool_names(conversation)
        awaited = await heard.results([one.id for one in calls if one.name in known])
        found = {one.tool_call_id: one for one in awaited}
        return [found.get(one.id) or _no_such_tool(one) for one in calls]


_END: JsonValue = "end of the stream, which no event is"


def _instructions(room: Conversation, agent: str, system: str) -> list[Message]:
    texts = [system.strip(), NOTICE if has_speakers(room, agent) else ""]
    said = "\n\n".join(filter(None, texts))
    return [_message(instructions_id(agent), "system", (TextPart(text=said),))] if said else []


def _message(actor: str, role: Role, content: Sequence[ContentPart]) -> Message:
    """A message that is said to the model alone and kept nowhere."""
    return Message(
        message_id=actor,
        timestamp=to_timestamp(datetime_of(0)),
        actor=Actor(id=actor, role=role),
        content=tuple(content),
    )


def _wanted(messages: Sequence[Message], agent: str) -> RequestedResponseFormatPart | None:
    """The format that was asked for since the agent last spoke."""
    for message in reversed(messages):
        if message.actor.id == agent_id(agent):
            return None
        for part in reversed(message.content):
            if isinstance(part, RequestedResponseFormatPart):
                return part
    return None


def _wanting(message: Message, wanted: RequestedResponseFormatPart) -> Message:
    return message.model_copy(update={"content": (*message.content, wanted)})


def _continued(
    conversation: Conversation,
    own: Message,
    more: Sequence[Message],
    wanted: RequestedResponseFormatPart | None,
) -> Conversation:
    """After an answer that is not the last; a format is wanted of the next one again."""
    messages = [*conversation.messages, own, *more]
    if wanted is not None:
        messages[-1] = _wanting(messages[-1], wanted)
    return conversation.model_copy(update={"messages": tuple(messages)})


def _as_messages(results: Sequence[ToolResultPart]) -> list[Message]:
    return [_message("tool", "tool", results)] if results else []


def _asking(text: str) -> Message:
    return _message(UNMARKED, "human", (TextPart(text=text),))


def _no_such_tool(call: ToolCallPart) -> ToolResultPart:
    text = f"There is no tool {call.name!r} here."
    return ToolResultPart(tool_call_id=call.id, content=text, is_error=True)


def _pause(error: RateLimited | Unavailable | Unsettled, attempt: int) -> float:
    return error.retry_after if isinstance(error, RateLimited) else 0.5 * 2.0**attempt


def _failure(ending: Ending, settings: ModelSettings) -> TurnFailed:
    if ending.outcome == "refused":
        return TurnFailed(reason="its model refused to answer this", retry=False)
    limit = f" of {settings.max_tokens} tokens" if settings.max_tokens else ""
    return TurnFailed(reason=f"it reached the limit{limit} of its model's answers", retry=False)


def _added(usage: Json, more: Json) -> Json:
    """Tokens of all requests of a turn."""
    result = {**usage, **more}
    for key, count in usage.items():
        other = more.get(key)
        if isinstance(count, int) and isinstance(other, int):
            result[key] = count + other
    return result
