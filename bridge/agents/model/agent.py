"""The agent that all model APIs share: a turn in, requests and streams, agent events out.

An `Api` holds what differs between APIs: pure functions and a stream reader."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
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
from bridge.agents.model.show_card import card_of_call, show_card_tool, with_presses
from bridge.agents.model.transcripts import Transcripts
from bridge.agents.model.uploads import UPLOADED, FileApi, Uploads
from bridge.agents.settings import ModelSettings
from bridge.agents.transport.http import Deadlines, Http, Request, open_http
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
from bridge.model.blob_ids import DERIVED, sha256_of_key
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

_ROUNDS = 25  # requests of one turn: ends endless tool calls


@dataclass(frozen=True)
class Api:
    """One vendor's API: pure functions."""

    name: str
    write_request: Callable[[Conversation, str], WrittenRequest]
    read_response: Callable[[JsonValue, str], Message]
    usage: Callable[[Json], Json]
    stream: Callable[[Dialect, Json], StreamReader]
    """Returns the reader of the answer to a request."""
    settings_of_request: Callable[[ModelSettings], Json]
    """Returns the members of a request beside its messages."""
    address: Callable[[ModelSettings], str]
    headers: Callable[[str], dict[str, str]]
    """Returns the headers for a key, which is empty if none is needed."""
    files: FileApi | None = None
    accepts_audio: Callable[[str], bool] = lambda media_type: False
    """Whether its models accept sounds of a media type."""
    moderation: Callable[[Json], Json] = lambda response: {}
    """Returns `why` a response was withheld, and the `results` of the vendor's filters."""
    dialect: Callable[[ModelSettings], Dialect] = lambda settings: Dialect()
    """Returns what the settings say about the server."""
    fitted: Callable[[Json, Dialect], Json] = fitted
    """Returns a request in the form that the server accepts."""
    message_members: frozenset[str] = frozenset()
    """Members of messages that a request can omit."""
    joins_messages: bool = False
    """Whether `fitted` can join messages of one role."""
    model_address: Callable[[ModelSettings], str] | None = None
    """Returns the address at which the API describes the model; None if it has none."""


@dataclass
class _Round:
    """One request: the reader of its answer, and the text that is withheld until a required format
    is validated."""

    body: Json
    reader: StreamReader
    withheld: list[str] | None = None
    broken: int = 0
    """Lines of the stream that were not JSON."""


class ModelAgent:
    """Answers from the room alone: the vendor stores nothing."""

    def __init__(self, name: str, api: Api, settings: ModelSettings, tools: AgentTools) -> None:
        self.name = name
        self._api = api
        self._settings = settings
        self._tools = tools
        dropped = frozenset(key for key, value in settings.extra_body.items() if value is None)
        dialect = api.dialect(settings)
        self._dialect = replace(dialect, without=dialect.without | dropped)

    async def check(self) -> Sequence[Finding]:
        """Return whether the API is reachable, accepts the key and, at its vendor's address, has
        the model."""
        settings = self._settings
        at_home = settings.base_url == type(settings).model_fields["base_url"].default
        absent = f"the API does not know the model {settings.model!r}" if at_home else ""
        return await probe(settings, self._probe, absent=absent)

    async def _probe(self) -> Request:
        settings, address = self._settings, self._api.model_address
        key = await api_key_of(settings.api_key, self._tools.secrets)
        url = settings.base_url if address is None else address(settings)
        return Request(url, self._api.headers(key), method="GET")

    def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        """Answer one turn; ends with TurnDone or TurnFailed."""
        return run_turn(self.name, self._settings, inputs, partial(self._with_uploads, turn))

    async def _with_uploads(
        self, turn: Turn, inputs: TurnInputs, http: Http
    ) -> AsyncGenerator[AgentEvent, None]:
        """Yield the answer. If the vendor no longer knows uploaded files, upload them again
        once."""
        uploads = await self._uploads()
        has_said = False
        while True:
            conversation, losses = await self._conversation(turn, http, uploads)
            try:
                async with aclosing(self._answer(conversation, losses, inputs, http)) as events:
                    async for event in events:
                        has_said = has_said or not isinstance(event, AnswerRecorded)
                        yield event
            except Refused:
                if has_said or uploads is None or not await uploads.forget():
                    raise
                log.info("uploads_expired", agent=self.name, api=self._api.name)
            else:
                return

    async def forget_files(self, is_stored: Callable[[str], Awaitable[bool]]) -> int:
        """Delete transcripts of files that the bridge no longer stores, and their uploads at the
        vendor. Returns how many.

        Raises:
            BridgeError: the vendor refuses or cannot be asked.
        """
        key_values, forgotten = self._tools.key_values(self.name), 0
        for key in await key_values.keys(DERIVED):
            if not await is_stored(sha256_of_key(key)):
                await key_values.remove(key)
                forgotten += 1
        if self._api.files is None or not await key_values.keys(UPLOADED):
            return forgotten
        uploads = Uploads(
            self.name, self._api.files, self._settings, await self._key(), self._tools
        )
        deadlines = Deadlines(self._settings.connect_seconds, self._settings.idle_seconds)
        async with open_http(deadlines) as http:
            return forgotten + await uploads.delete_lost(is_stored, http)

    async def _uploads(self) -> Uploads | None:
        if self._api.files is None or self._settings.upload_over_mb is None:
            return None
        key = await self._key()
        return Uploads(self.name, self._api.files, self._settings, key, self._tools)

    async def _with_files(
        self, room: Conversation, http: Http, uploads: Uploads | None
    ) -> tuple[Conversation, Sequence[Loss]]:
        """Return the room with its files as the API accepts them: transcribed, uploaded, inline."""
        transcribed: tuple[Loss, ...] = ()
        if self._settings.transcriber and _has_untranscribed(room, self._api.accepts_audio):
            transcripts = Transcripts(
                self.name, self._settings, self._tools, self._api.accepts_audio
            )
            room, transcribed = await transcripts.with_transcripts(room, http)
        if uploads is not None:
            room = await uploads.with_uploaded_files(room, http)
        limit = self._settings.inline_bytes
        room, losses = await inline_files(room, self._tools.files, limit)
        return room, (*transcribed, *losses)

    async def _conversation(
        self, turn: Turn, http: Http, uploads: Uploads | None
    ) -> tuple[Conversation, Sequence[Loss]]:
        """Return the room with the agent's instructions and request settings, and the files that it
        does not receive."""
        settings = self._settings
        room = readable_window(turn.conversation, self.name, settings.history_tokens)
        room, losses = await self._with_files(with_presses(room), http, uploads)
        for loss in losses:
            log.info("agent_input_omitted", agent=self.name, turn=turn.id, what=loss.what)
        messages = [*_instructions(room, self.name, settings.system), *room.messages]
        if settings.response_format is not None and _requested_format(messages, self.name) is None:
            part = RequestedResponseFormatPart(schema=settings.response_format)
            messages[-1] = _with_format(messages[-1], part)
        metadata = dict(room.metadata or {})
        if settings.cards:
            metadata["tools"] = [*tools_of(room), show_card_tool()]
        agents = metadata.get("agents")
        request = self._api.settings_of_request(settings)
        own_settings: Json = {
            "api": self._api.name,
            "request": patched(request, settings.extra_body),
        }
        metadata["agents"] = {
            **(agents if isinstance(agents, dict) else {}),
            self.name: own_settings,
        }
        conversation = room.model_copy(update={"messages": tuple(messages), "metadata": metadata})
        return conversation, losses

    async def _answer(
        self, conversation: Conversation, losses: Sequence[Loss], inputs: TurnInputs, http: Http
    ) -> AsyncGenerator[AgentEvent, None]:
        """Send requests until the model has no more calls."""
        answer_format = _requested_format(conversation.messages, self.name)
        usage: Json = {}
        has_retried_format = False
        paragraphs = Paragraphs()
        body, not_sent = self._body(conversation)
        model, losses = self._settings.model, [*losses, *not_sent]
        first_conversation = conversation
        record = answer_record(self._api.name, first_conversation, self.name, losses, model=model)
        yield AnswerRecorded(record=record)
        for number in range(1, _ROUNDS + 1):
            withheld = None if answer_format is None else list[str]()
            round_ = _Round(body, self._api.stream(self._dialect, body), withheld)
            async with aclosing(paragraphs.of(self._round(round_, inputs, http))) as events:
                async for event in events:
                    yield event
            if round_.broken:
                losses = [_broken(round_.broken), *losses]
                record = answer_record(
                    self._api.name, first_conversation, self.name, losses, model=model
                )
                yield AnswerRecorded(record=record)
            usage = _added(usage, self._api.usage(round_.reader.response))
            for event in _beside(round_.reader, self._api, {**usage, "requests": number}):
                yield event
            response = self._api.read_response(round_.reader.response, self.name)
            if round_.reader.ending.outcome == "calls":
                results, cards = await self._results(conversation, response, inputs)
                for event in _result_events(results, cards):
                    yield event
                files = await self._files_of(results, conversation)
                new_messages = [*_as_messages(results), *files, *inputs.take_messages()]
            elif round_.reader.ending.outcome != "done":
                for text in withheld or ():
                    yield TextDelta(text=text)
                yield _failure(round_.reader.ending, self._settings)
                return
            elif new_messages := inputs.take_messages():
                paragraphs.next()
            elif answer_format is not None:
                part, new_messages = _judged(
                    withheld or (), answer_format, again=not has_retried_format
                )
                if part is not None:
                    yield PartGiven(part=orjson.loads(write(part)))
                    yield TurnDone()
                    return
                has_retried_format = True
            else:
                yield TurnDone()
                return
            conversation = _continued(conversation, response, new_messages, answer_format)
            body, _ = self._body(conversation)
        yield TurnFailed(reason=f"it gave no answer within {_ROUNDS} requests")

    def _body(self, conversation: Conversation) -> tuple[Json, Sequence[Loss]]:
        written = self._api.write_request(conversation, self.name)
        for loss in written.losses:
            log.debug("agent_loss", agent=self.name, kind=loss.kind, path=loss.path)
        return written.body, written.losses

    def _round(self, round_: _Round, inputs: TurnInputs, http: Http) -> AsyncGenerator[AgentEvent]:
        """Yield the events of one request; it is repeated only while none of its answer has
        arrived."""

        async def attempt() -> AsyncGenerator[AgentEvent, None]:
            round_.reader = self._api.stream(self._dialect, round_.body)
            round_.broken = 0
            if round_.withheld is not None:
                round_.withheld.clear()
            async with aclosing(self._events(round_, inputs, http)) as events:
                async for event in events:
                    if round_.withheld is not None and isinstance(event, TextDelta):
                        round_.withheld.append(event.text)
                    elif round_.withheld is not None and isinstance(event, TextReplaced):
                        round_.withheld[:] = [event.text]
                        for part in event.parts:
                            yield PartGiven(part=part)
                    elif isinstance(event, ToolCalled) and event.part.name == SHOW_CARD:
                        yield PartGiven(
                            part=orjson.loads(write(event.part))
                        )  # it has no side effect
                    else:
                        yield event

        return with_retries(self.name, attempt, self._settings.retries, inputs, self._tools.clock)

    async def _events(
        self, round_: _Round, inputs: TurnInputs, http: Http
    ) -> AsyncGenerator[AgentEvent]:
        async with aclosing(inputs.each(self._accepted(round_, inputs, http))) as events:
            async for event in events:
                round_.broken += event == BROKEN_LINE
                for agent_event in round_.reader.take(event):
                    yield _checked(agent_event, round_.broken)
        if isinstance(round_.reader, ReportsThinking) and round_.reader.thinks_first:
            self._dialect = replace(self._dialect, thinks_first=True)
        if round_.broken:
            log.warning("agent_stream_broken", agent=self.name, lines=round_.broken)
        for agent_event in round_.reader.end():
            yield _checked(agent_event, round_.broken)

    async def _accepted(
        self, round_: _Round, inputs: TurnInputs, http: Http
    ) -> AsyncGenerator[JsonValue]:
        """Yield the events of a request. If the server refuses members that the request can omit,
        it is sent again without them, and the agent omits them until the bridge restarts."""
        headers = self._api.headers(await self._key())
        if self._api.files is not None and self._settings.upload_over_mb is not None:
            headers = {**headers, **self._api.files.headers}
        dialect = self._dialect
        while True:
            body = self._api.fitted(round_.body, dialect)
            request = Request(self._api.address(self._settings), headers, body)
            try:
                async with aclosing(http.events(request)) as events:
                    async for event in events:
                        self._dialect = dialect
                        yield event
            except PlatformError as error:
                next_dialect = self._next_dialect(error, dialect, round_.body)
                if next_dialect is None:
                    raise
                log.warning(
                    "agent_request_changed", agent=self.name, error=str(error),
                    left_out=sorted(next_dialect.without), alternating=next_dialect.alternating,
                )  # fmt: skip
                dialect = next_dialect
            else:
                return

    def _next_dialect(self, error: PlatformError, dialect: Dialect, body: Json) -> Dialect | None:
        settings = self._settings
        kept_members = settings.required | settings.essential | settings.extra_body.keys()
        droppable = (body.keys() | self._api.message_members) - kept_members
        return dialect_after(error, dialect, droppable, joins_messages=self._api.joins_messages)

    async def _key(self) -> str:
        return await api_key_of(self._settings.api_key, self._tools.secrets)

    async def _results(
        self, conversation: Conversation, response: Message, inputs: TurnInputs
    ) -> tuple[Sequence[ToolResultPart], Sequence[StructuredDataPart]]:
        """Return the results of the bridge's tools, an error for unknown tools, and the cards to
        show. Raises AgentError if no call can be read."""
        calls = [part for part in response.content if isinstance(part, ToolCallPart)]
        if not calls:
            raise AgentError("its model sent a tool call that cannot be read")
        offered = tool_names(conversation)
        cards: list[StructuredDataPart] = []
        results: dict[str, ToolResultPart] = {}
        for call in calls:
            if call.name == SHOW_CARD and self._settings.cards:
                card, results[call.id] = card_of_call(call)
                cards += [card] if card is not None else []
        bridge_calls = [
            call.id for call in calls if call.name in offered and call.id not in results
        ]
        results |= {result.tool_call_id: result for result in await inputs.results(bridge_calls)}
        return [results.get(call.id) or unknown_tool_result(call) for call in calls], cards

    async def _files_of(
        self, results: Sequence[ToolResultPart], conversation: Conversation
    ) -> list[Message]:
        """Return the files of tool results as messages, because no API accepts all of them in a
        result."""
        parts = [part for result in results for part in media_of(result)]
        if not parts:
            return []
        message = _message("bridge", "system", (TextPart(text=_TOOL_FILES), *parts))
        conversation_of_files = conversation.model_copy(update={"messages": (message,)})
        limit = self._settings.inline_bytes
        return list(
            (await inline_files(conversation_of_files, self._tools.files, limit))[0].messages
        )


_BROKEN_CALLS = "a part of its answer could not be read, so its tool calls are not made"
_TOOL_FILES = "Files that the tools answered with, in their order:"


def _broken(lines: int) -> Loss:
    problem = f"{lines} {'line' if lines == 1 else 'lines'} of its API's stream could not be read"
    return Loss(path="", kind="stream_broken", what=problem)


def _checked(event: AgentEvent, broken: int) -> AgentEvent:
    """Return the event. Raises AgentError for a tool call of which a part may be missing."""
    if broken and isinstance(event, ToolCalled):
        raise AgentError(_BROKEN_CALLS)
    return event


def _has_untranscribed(room: Conversation, accepts_audio: Callable[[str], bool]) -> bool:
    parts = (part for message in room.messages for part in message.content)
    return any(isinstance(part, AudioPart) and not accepts_audio(part.media_type) for part in parts)


def _has_results(room: Conversation) -> bool:
    parts = (part for message in room.messages for part in message.content)
    return any(isinstance(part, ToolResultPart) for part in parts)


def _instructions(room: Conversation, agent: str, system: str) -> list[Message]:
    texts = [system.strip(), speakers_notice(room) if has_named_speakers(room, agent) else ""]
    texts.append(TOOLS_NOTICE if tools_of(room) or _has_results(room) else "")
    instructions = "\n\n".join(filter(None, texts))
    return (
        [_message(instructions_id(agent), "system", (TextPart(text=instructions),))]
        if instructions
        else []
    )


def _message(actor: str, role: Role, content: Sequence[ContentPart]) -> Message:
    """Return a message for the model alone, which is not stored."""
    return Message(
        message_id=actor,
        timestamp=to_timestamp(datetime_of(0)),
        actor=Actor(id=actor, role=role),
        content=tuple(content),
    )


def _requested_format(
    messages: Sequence[Message], agent: str
) -> RequestedResponseFormatPart | None:
    """Return the answer format that was requested since the agent's last answer."""
    for message in reversed(messages):
        if message.actor.id == agent_id(agent):
            return None
        for part in reversed(message.content):
            if isinstance(part, RequestedResponseFormatPart):
                return part
    return None


def _with_format(message: Message, answer_format: RequestedResponseFormatPart) -> Message:
    return message.model_copy(update={"content": (*message.content, answer_format)})


def _continued(
    conversation: Conversation,
    response: Message,
    new_messages: Sequence[Message],
    answer_format: RequestedResponseFormatPart | None,
) -> Conversation:
    """Return the conversation after an answer that is not the last; the next answer needs the
    format again."""
    messages = [*conversation.messages, response, *new_messages]
    if answer_format is not None:
        messages[-1] = _with_format(messages[-1], answer_format)
    return conversation.model_copy(update={"messages": tuple(messages)})


def _as_messages(results: Sequence[ToolResultPart]) -> list[Message]:
    return [_message("tool", "tool", results)] if results else []


def _result_events(
    results: Sequence[ToolResultPart], cards: Sequence[StructuredDataPart]
) -> list[AgentEvent]:
    """Return the events for answered calls; cards follow after all results."""
    events: list[AgentEvent] = [ToolAnswered(part=result) for result in results]
    return [*events, *(PartGiven(part=orjson.loads(write(card))) for card in cards)]


def _failure(ending: Ending, settings: ModelSettings) -> TurnFailed:
    if ending.outcome == "refused":
        return TurnFailed(reason="its model refused to answer this", retry=False)
    limit = f" of {settings.max_tokens} tokens" if settings.max_tokens else ""
    return TurnFailed(reason=f"it reached the limit{limit} of its model's answers", retry=False)


def _judged(
    withheld: Sequence[str], answer_format: RequestedResponseFormatPart, *, again: bool
) -> tuple[ContentPart | None, list[Message]]:
    """Return a valid structured answer, or the message that asks for it again. Raises AgentError
    without `again`."""
    try:
        return read_structured_answer("".join(withheld), answer_format.schema_), []
    except AgentError as error:
        if not again:
            raise
        request = TextPart(text=f"{error}. Answer again, in that format alone.")
        return None, [_message(ANONYMOUS_USER, "human", (request,))]


def _beside(reader: StreamReader, api: Api, usage: Json) -> list[AgentEvent]:
    """Return the events for usage and moderation of an answer."""
    moderation = _moderation(reader, api)
    moderation_events = [ModerationReported(moderation=moderation)] if moderation else []
    return [UsageReported(usage=usage), *moderation_events]


def _moderation(reader: StreamReader, api: Api) -> Json:
    """Return `metadata.moderation`; empty if the vendor reported nothing."""
    reported = api.moderation(reader.response)
    results = obj(reported.get("results"))
    if reader.ending.outcome == "refused":
        return refusal(reader.ending.words or text(reported.get("why")), **results)
    return {"refused": False, "results": results} if results else {}


def _added(usage: Json, added: Json) -> Json:
    """Add the token counts of two requests."""
    result = {**usage, **added}
    for key, count in usage.items():
        addend = added.get(key)
        if isinstance(count, int) and isinstance(addend, int):
            result[key] = count + addend
    return result


class ModelAgentType:
    """The object that the entry point of a model API names."""

    def __init__(self, api: Api, settings: type[ModelSettings]) -> None:
        self.kind = api.name
        self.settings = settings
        self._api = api

    def build(self, name: str, settings: ModelSettings, tools: AgentTools) -> ModelAgent:
        """Return the agent of this name."""
        return ModelAgent(name, self._api, settings, tools)
