"""The agent that every model's API has: a turn in, requests and streams, agent events out.

What differs between APIs stands in an `Api`: pure functions and a reader of streams.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial

import orjson
import structlog
from pydantic import JsonValue

from bridge.agents.codec.json_values import Json, obj, patched, text
from bridge.agents.codec.prompt import WrittenRequest, has_named_speakers, speakers_notice
from bridge.agents.codec.schemas import read_structured_answer
from bridge.agents.codec.speakers import (
    ANONYMOUS_USER,
    TOOLS_NOTICE,
    agent_id,
    instructions_id,
)
from bridge.agents.codec.stream_reader import BROKEN_LINE, Ending, ReportsThinking, StreamReader
from bridge.agents.codec.tool_catalogue import media_of, tool_names, tools_of, unknown_tool_result
from bridge.agents.model.dialects import Dialect, dialect_after, fitted
from bridge.agents.model.show_card import shown as shown_card
from bridge.agents.model.show_card import tool as show_card_tool
from bridge.agents.model.show_card import with_presses
from bridge.agents.model.transcripts import Transcripts
from bridge.agents.model.uploads import FileApi, Uploads
from bridge.agents.settings import ModelSettings
from bridge.agents.transport.http import Http, Request
from bridge.agents.transport.probe import probe
from bridge.agents.turn.answer_record import answer_record, refusal
from bridge.agents.turn.history import readable_window
from bridge.agents.turn.inline_files import inline_files
from bridge.agents.turn.inputs import TurnInputs
from bridge.agents.turn.paragraphs import Paragraphs
from bridge.agents.turn.run import api_key_of, run_turn, with_retries
from bridge.content.messages.tool_names import SHOW_CARD
from bridge.errors import AgentError, PlatformError, Refused
from bridge.model import Loss
from bridge.model.times import datetime_of
from bridge.model.turns import (
    AgentEvent,
    AgentInput,
    AnswerRecorded,
    ModerationReported,
    PartGiven,
    TextDelta,
    TextReplaced,
    ToolAnswered,
    ToolCalled,
    Turn,
    TurnDone,
    TurnFailed,
    UsageReported,
)
from bridge.ports.agent import AgentTools
from bridge.ports.findings import Finding
from bridge.uacs import (
    Actor,
    AudioPart,
    ContentPart,
    Conversation,
    Message,
    RequestedResponseFormatPart,
    Role,
    StructuredDataPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    to_timestamp,
    write,
)

log = structlog.get_logger()

_ROUNDS = 25  # requests of one turn: a model that calls tools for ever is stopped


@dataclass(frozen=True)
class Api:
    """One vendor's API: pure functions."""

    name: str
    write_request: Callable[[Conversation, str], WrittenRequest]
    read_response: Callable[[JsonValue, str], Message]
    usage: Callable[[Json], Json]
    stream: Callable[[Dialect, Json], StreamReader]
    """The reader of the answer to a request."""
    settings_of_request: Callable[[ModelSettings], Json]
    """The members of a request that are no messages."""
    address: Callable[[ModelSettings], str]
    headers: Callable[[str], dict[str, str]]
    """With the key, or with an empty string where none is needed."""
    files: FileApi | None = None
    accepts_audio: Callable[[str], bool] = lambda media_type: False
    """Whether its models take sounds of this type."""
    moderation: Callable[[Json], Json] = lambda response: {}
    """Of a response: `why` it was held back, and the `results` of the vendor's filters."""
    dialect: Callable[[ModelSettings], Dialect] = lambda settings: Dialect()
    """What the settings say of the server."""
    fitted: Callable[[Json, Dialect], Json] = fitted
    """A request as the server takes it."""
    message_members: frozenset[str] = frozenset()
    """Members of messages that a request can do without."""
    joins_messages: bool = False
    """Whether `fitted` can join messages of one role."""
    model_address: Callable[[ModelSettings], str] | None = None
    """Where the API tells of the model; None: it has no such place."""


@dataclass
class _Round:
    """One request: the reader of its answer, and what was held back because a format is wanted."""

    body: Json
    reader: StreamReader
    held: list[str] | None = None
    broken: int = 0
    """Lines of the stream that were no JSON."""


class ModelAgent:
    """Answers from the room alone: nothing is kept at the vendor's."""

    def __init__(self, name: str, api: Api, settings: ModelSettings, tools: AgentTools) -> None:
        self.name = name
        self._api = api
        self._settings = settings
        self._tools = tools
        dropped = frozenset(key for key, value in settings.extra_body.items() if value is None)
        dialect = api.dialect(settings)
        self._dialect = replace(dialect, without=dialect.without | dropped)

    async def check(self) -> Sequence[Finding]:
        """Whether the API is there, takes the key and, at its vendor's own address, has the
        model."""
        settings = self._settings
        at_home = settings.base_url == type(settings).model_fields["base_url"].default
        absent = f"the API knows no model {settings.model!r}" if at_home else ""
        return await probe(settings, self._probe, absent=absent)

    async def _probe(self) -> Request:
        settings, address = self._settings, self._api.model_address
        key = await api_key_of(settings.api_key, self._tools.tokens)
        url = settings.base_url if address is None else address(settings)
        return Request(url, self._api.headers(key), method="GET")

    def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        """Answer one turn; ends with TurnDone or TurnFailed."""
        return run_turn(self.name, self._settings, inputs, partial(self._told_anew, turn))

    async def _told_anew(
        self, turn: Turn, inputs: TurnInputs, http: Http
    ) -> AsyncGenerator[AgentEvent, None]:
        """The answer; where the vendor has forgotten its files, they are given once more."""
        uploads = await self._uploads()
        said = False
        while True:
            told, losses = await self._conversation(turn, http, uploads)
            try:
                async with aclosing(self._answer(told, losses, inputs, http)) as events:
                    async for event in events:
                        said = said or not isinstance(event, AnswerRecorded)
                        yield event
            except Refused:
                if said or uploads is None or not await uploads.forget():
                    raise
                log.info("uploads_forgotten", agent=self.name, api=self._api.name)
            else:
                return

    async def _uploads(self) -> Uploads | None:
        if self._api.files is None or self._settings.upload_over_mb is None:
            return None
        key = await self._key()
        return Uploads(self.name, self._api.files, self._settings, key, self._tools)

    async def _given(
        self, room: Conversation, http: Http, uploads: Uploads | None
    ) -> tuple[Conversation, Sequence[Loss]]:
        """With its files as the API takes them: written down, uploaded, inline."""
        told: tuple[Loss, ...] = ()
        if self._settings.transcriber and _has_unheard(room, self._api.accepts_audio):
            transcripts = Transcripts(
                self.name, self._settings, self._tools, self._api.accepts_audio
            )
            room, told = await transcripts.given(room, http)
        if uploads is not None:
            room = await uploads.given(room, http)
        limit = self._settings.inline_bytes
        room, losses = await inline_files(room, self._tools.files, limit)
        return room, (*told, *losses)

    async def _conversation(
        self, turn: Turn, http: Http, uploads: Uploads | None
    ) -> tuple[Conversation, Sequence[Loss]]:
        """The room as this agent's API is told it, with instructions and settings; the files that
        it is not given."""
        settings = self._settings
        room = readable_window(turn.conversation, self.name, settings.history_tokens)
        room, losses = await self._given(with_presses(room), http, uploads)
        for loss in losses:
            log.info("agent_input_omitted", agent=self.name, turn=turn.id, what=loss.what)
        messages = [*_instructions(room, self.name, settings.system), *room.messages]
        if settings.response_format is not None and _wanted(messages, self.name) is None:
            part = RequestedResponseFormatPart(schema=settings.response_format)
            messages[-1] = _wanting(messages[-1], part)
        metadata = dict(room.metadata or {})
        if settings.cards:
            metadata["tools"] = [*tools_of(room), show_card_tool()]
        agents = metadata.get("agents")
        request = self._api.settings_of_request(settings)
        own: Json = {"api": self._api.name, "request": patched(request, settings.extra_body)}
        metadata["agents"] = {**(agents if isinstance(agents, dict) else {}), self.name: own}
        told = room.model_copy(update={"messages": tuple(messages), "metadata": metadata})
        return told, losses

    async def _answer(
        self, conversation: Conversation, losses: Sequence[Loss], inputs: TurnInputs, http: Http
    ) -> AsyncGenerator[AgentEvent, None]:
        """Rounds of requests, until the model says no more."""
        wanted = _wanted(conversation.messages, self.name)
        usage: Json = {}
        asked_again = False
        paragraphs = Paragraphs()
        body, untold = self._body(conversation)
        model, losses = self._settings.model, [*losses, *untold]
        told = conversation
        record = answer_record(self._api.name, told, self.name, losses, model=model)
        yield AnswerRecorded(record=record)
        for number in range(1, _ROUNDS + 1):
            held = None if wanted is None else list[str]()
            one = _Round(body, self._api.stream(self._dialect, body), held)
            async with aclosing(paragraphs.of(self._round(one, inputs, http))) as events:
                async for event in events:
                    yield event
            if one.broken:
                losses = [_broken(one.broken), *losses]
                record = answer_record(self._api.name, told, self.name, losses, model=model)
                yield AnswerRecorded(record=record)
            usage = _added(usage, self._api.usage(one.reader.response))
            for event in _beside(one.reader, self._api, {**usage, "requests": number}):
                yield event
            own = self._api.read_response(one.reader.response, self.name)
            if one.reader.ending.outcome == "calls":
                results, cards = await self._results(conversation, own, inputs)
                for event in _given(results, cards):
                    yield event
                files = await self._files_of(results, conversation)
                more = [*_as_messages(results), *files, *inputs.new_messages()]
            elif one.reader.ending.outcome != "done":
                for text in held or ():
                    yield TextDelta(text=text)
                yield _failure(one.reader.ending, self._settings)
                return
            elif more := inputs.new_messages():
                paragraphs.next()
            elif wanted is not None:
                part, more = _judged(held or (), wanted, again=not asked_again)
                if part is not None:
                    yield PartGiven(part=orjson.loads(write(part)))
                    yield TurnDone()
                    return
                asked_again = True
            else:
                yield TurnDone()
                return
            conversation = _continued(conversation, own, more, wanted)
            body, _ = self._body(conversation)
        yield TurnFailed(reason=f"it did not come to an answer in {_ROUNDS} requests")

    def _body(self, conversation: Conversation) -> tuple[Json, Sequence[Loss]]:
        written = self._api.write_request(conversation, self.name)
        for loss in written.losses:
            log.debug("agent_loss", agent=self.name, kind=loss.kind, path=loss.path)
        return written.body, written.losses

    def _round(self, one: _Round, inputs: TurnInputs, http: Http) -> AsyncGenerator[AgentEvent]:
        """One request; it is sent again only while nothing of its answer was said."""

        async def attempt() -> AsyncGenerator[AgentEvent, None]:
            one.reader = self._api.stream(self._dialect, one.body)
            one.broken = 0
            if one.held is not None:
                one.held.clear()
            async with aclosing(self._events(one, inputs, http)) as events:
                async for event in events:
                    if one.held is not None and isinstance(event, TextDelta):
                        one.held.append(event.text)
                    elif one.held is not None and isinstance(event, TextReplaced):
                        one.held[:] = [event.text]
                        for part in event.parts:
                            yield PartGiven(part=part)
                    elif isinstance(event, ToolCalled) and event.part.name == SHOW_CARD:
                        yield PartGiven(part=orjson.loads(write(event.part)))  # no deed
                    else:
                        yield event

        return with_retries(self.name, attempt, self._settings.retries, inputs, self._tools.clock)

    async def _events(
        self, one: _Round, inputs: TurnInputs, http: Http
    ) -> AsyncGenerator[AgentEvent]:
        async with aclosing(inputs.each(self._accepted(one, inputs, http))) as events:
            async for event in events:
                one.broken += event == BROKEN_LINE
                for said in one.reader.take(event):
                    yield _sound(said, one.broken)
        if isinstance(one.reader, ReportsThinking) and one.reader.thinks_first:
            self._dialect = replace(self._dialect, thinks_first=True)
        if one.broken:
            log.warning("agent_stream_broken", agent=self.name, lines=one.broken)
        for said in one.reader.end():
            yield _sound(said, one.broken)

    async def _accepted(
        self, one: _Round, inputs: TurnInputs, http: Http
    ) -> AsyncGenerator[JsonValue]:
        """The events of a request. One that is refused for members that it can do without is sent
        again without them; what the server then takes is remembered until the bridge restarts."""
        headers = self._api.headers(await self._key())
        if self._api.files is not None and self._settings.upload_over_mb is not None:
            headers = {**headers, **self._api.files.headers}
        dialect = self._dialect
        while True:
            body = self._api.fitted(one.body, dialect)
            request = Request(self._api.address(self._settings), headers, body)
            try:
                async with aclosing(http.events(request)) as events:
                    async for event in events:
                        self._dialect = dialect
                        yield event
            except PlatformError as error:
                better = self._learned(error, dialect, one.body)
                if better is None:
                    raise
                log.warning(
                    "agent_request_changed", agent=self.name, error=str(error),
                    left_out=sorted(better.without), alternating=better.alternating,
                )  # fmt: skip
                dialect = better
            else:
                return

    def _learned(self, error: PlatformError, dialect: Dialect, body: Json) -> Dialect | None:
        settings = self._settings
        fixed = settings.needed | settings.kept | settings.extra_body.keys()
        droppable = (body.keys() | self._api.message_members) - fixed
        return dialect_after(error, dialect, droppable, joins_messages=self._api.joins_messages)

    async def _key(self) -> str:
        return await api_key_of(self._settings.api_key, self._tools.tokens)

    async def _results(
        self, conversation: Conversation, own: Message, inputs: TurnInputs
    ) -> tuple[Sequence[ToolResultPart], Sequence[StructuredDataPart]]:
        """What the tools answered that the bridge has; others are answered that there is none. The
        cards that it shows."""
        calls = [part for part in own.content if isinstance(part, ToolCallPart)]
        if not calls:
            raise AgentError("its model called a tool in a way that cannot be read")
        known = tool_names(conversation)
        cards: list[StructuredDataPart] = []
        found: dict[str, ToolResultPart] = {}
        for call in calls:
            if call.name == SHOW_CARD and self._settings.cards:
                card, found[call.id] = shown_card(call)
                cards += [card] if card is not None else []
        theirs = [call.id for call in calls if call.name in known and call.id not in found]
        found |= {result.tool_call_id: result for result in await inputs.results(theirs)}
        return [found.get(call.id) or unknown_tool_result(call) for call in calls], cards

    async def _files_of(
        self, results: Sequence[ToolResultPart], conversation: Conversation
    ) -> list[Message]:
        """Pictures and files that tools answered with, as no API takes all of them in a result."""
        parts = [part for result in results for part in media_of(result)]
        if not parts:
            return []
        said = _message("bridge", "system", (TextPart(text=_TOOL_FILES), *parts))
        held = conversation.model_copy(update={"messages": (said,)})
        limit = self._settings.inline_bytes
        return list((await inline_files(held, self._tools.files, limit))[0].messages)


_BROKEN_CALLS = "a part of its answer could not be read, so its calls of tools are not made"
_TOOL_FILES = "Files that the tools answered with, in their order:"


def _broken(lines: int) -> Loss:
    what = f"{lines} {'line' if lines == 1 else 'lines'} of its API's stream could not be read"
    return Loss(path="", kind="stream_broken", what=what)


def _sound(said: AgentEvent, broken: int) -> AgentEvent:
    """Raises AgentError for a call of a tool of which a part may be missing."""
    if broken and isinstance(said, ToolCalled):
        raise AgentError(_BROKEN_CALLS)
    return said


def _has_unheard(room: Conversation, accepts_audio: Callable[[str], bool]) -> bool:
    parts = (part for message in room.messages for part in message.content)
    return any(isinstance(part, AudioPart) and not accepts_audio(part.media_type) for part in parts)


def _has_results(room: Conversation) -> bool:
    parts = (part for message in room.messages for part in message.content)
    return any(isinstance(part, ToolResultPart) for part in parts)


def _instructions(room: Conversation, agent: str, system: str) -> list[Message]:
    texts = [system.strip(), speakers_notice(room) if has_named_speakers(room, agent) else ""]
    texts.append(TOOLS_NOTICE if tools_of(room) or _has_results(room) else "")
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


def _given(
    results: Sequence[ToolResultPart], cards: Sequence[StructuredDataPart]
) -> list[AgentEvent]:
    """What is said of calls that were answered; a card stands behind all results."""
    events: list[AgentEvent] = [ToolAnswered(part=result) for result in results]
    return [*events, *(PartGiven(part=orjson.loads(write(card))) for card in cards)]


def _asking(text: str) -> Message:
    return _message(ANONYMOUS_USER, "human", (TextPart(text=text),))


def _failure(ending: Ending, settings: ModelSettings) -> TurnFailed:
    if ending.outcome == "refused":
        return TurnFailed(reason="its model refused to answer this", retry=False)
    limit = f" of {settings.max_tokens} tokens" if settings.max_tokens else ""
    return TurnFailed(reason=f"it reached the limit{limit} of its model's answers", retry=False)


def _judged(
    held: Sequence[str], wanted: RequestedResponseFormatPart, *, again: bool
) -> tuple[ContentPart | None, list[Message]]:
    """An answer in a format, or with what words it is asked for `again`. Raises AgentError."""
    try:
        return read_structured_answer("".join(held), wanted.schema_), []
    except AgentError as error:
        if not again:
            raise
        return None, [_asking(f"{error}. Answer again, in that format alone.")]


def _beside(reader: StreamReader, api: Api, usage: Json) -> list[AgentEvent]:
    """What is told of an answer beside what it says."""
    found = _moderation(reader, api)
    judged = [ModerationReported(moderation=found)] if found else []
    return [UsageReported(usage=usage), *judged]


def _moderation(reader: StreamReader, api: Api) -> Json:
    """For `metadata.moderation`; empty where nobody judged."""
    found = api.moderation(reader.response)
    results = obj(found.get("results"))
    if reader.ending.outcome == "refused":
        return refusal(reader.ending.words or text(found.get("why")), **results)
    return {"refused": False, "results": results} if results else {}


def _added(usage: Json, more: Json) -> Json:
    """Tokens of all requests of a turn."""
    result = {**usage, **more}
    for key, count in usage.items():
        other = more.get(key)
        if isinstance(count, int) and isinstance(other, int):
            result[key] = count + other
    return result


class ModelAgentType:
    """What the entry point of a model's API names."""

    def __init__(self, api: Api, settings: type[ModelSettings]) -> None:
        self.kind = api.name
        self.settings = settings
        self._api = api

    def build(self, name: str, settings: ModelSettings, tools: AgentTools) -> ModelAgent:
        return ModelAgent(name, self._api, settings, tools)
