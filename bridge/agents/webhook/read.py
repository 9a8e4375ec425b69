"""A webhook's answer -> agent events: UACS JSON as a whole, or UACS deltas and agent events one by
one. Pure.

Raises AgentError and InvalidUacs for anything else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast, get_args

import orjson
from pydantic import JsonValue, TypeAdapter, ValidationError

from bridge.agents.codec.json_values import Json, obj, text
from bridge.agents.codec.stream_reader import DONE, ENDED_EARLY
from bridge.agents.transport.api_errors import without_keys
from bridge.agents.turn.sub_actors import said_by
from bridge.errors import AgentError
from bridge.model.turns import (
    AgentEvent,
    MessageSaid,
    PartGiven,
    TextDelta,
    ToolAnswered,
    ToolCalled,
    TurnDone,
    TurnFailed,
    Whispered,
)
from bridge.uacs import (
    ContentPart,
    MessageFinished,
    MessageStarted,
    MetadataMerged,
    PartStarted,
    TextAppended,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    read_delta,
    write,
)

_PART: TypeAdapter[ContentPart] = TypeAdapter(ContentPart)
_EVENT: TypeAdapter[AgentEvent] = TypeAdapter(AgentEvent)
_EVENTS = frozenset(
    get_arg.model_fields["type"].default for get_arg in get_args(get_args(AgentEvent)[0])
)  # fmt: skip
_DELTAS = frozenset((
    "message_started", "envelope_replaced", "part_started", "text_appended", "part_replaced",
    "part_removed", "metadata_merged", "message_finished",
))  # fmt: skip


def read_answer(body: JsonValue, agent: str) -> list[AgentEvent]:
    """Return the events of a whole answer: a Message (`content` suffices), a list of parts,
    messages and agent events, a Conversation's `messages`, or `{"text": ...}`. Null has no events.
    Messages of actors below the agent are said under their names."""
    match body:
        case None:
            return []
        case list(items):
            return [event for item in items for event in _item(item, agent)]
        case {"type": str()}:
            return _item(body, agent)
        case {"text": str(text_)}:
            return [TextDelta(text=text_)] if text_ else []
        case {"messages": list(messages)}:
            return [event for message in messages for event in read_answer(message, agent)]
        case {"content": list(parts), **rest}:
            content = [_part(part) for part in parts]
            beside = _beside(obj(rest.get("metadata")), agent)
            own_id = text(rest.get("message_id"))
            if (said := said_by(rest.get("actor"), content, agent, own_id)) is not None:
                return [said, *beside]
            return [*(event for part in content for event in part_events(part)), *beside]
        case _:
            raise AgentError(
                "its answer is not UACS: send a message, a list of parts, or an object with `text`"
            )


def _item(value: JsonValue, agent: str) -> list[AgentEvent]:
    kind = text(obj(value).get("type"))
    if not kind and "content" in obj(value):
        return read_answer(value, agent)
    return [_event(value)] if kind in _EVENTS else part_events(_part(value))


def part_events(part: ContentPart) -> list[AgentEvent]:
    """Return the event for a whole part. Texts stay apart; as deltas they would run together."""
    match part:
        case TextPart(text=""):
            return []
        case ToolCallPart():
            return [ToolCalled(part=part)]
        case ToolResultPart():
            return [ToolAnswered(part=part)]
        case _:
            return [PartGiven(part=orjson.loads(write(part)))]


def _part(value: JsonValue) -> ContentPart:
    try:
        return _PART.validate_python(value)
    except ValidationError as error:
        raise AgentError(f"it sent a part that is not valid UACS: {_first(error)}") from None


def _event(value: JsonValue) -> AgentEvent:
    try:
        event = _EVENT.validate_python(value)
    except ValidationError as error:
        raise AgentError(f"it sent an event that is not valid: {_first(error)}") from None
    if isinstance(event, TurnFailed):
        return event.model_copy(update={"reason": without_keys(event.reason)})
    if isinstance(event, PartGiven):
        _part(event.part)
    if isinstance(event, MessageSaid | Whispered):
        for part in event.parts:
            _part(part)
    return event


def _first(error: ValidationError) -> str:
    """Return location and rule of the first error, without the value, which may be anything."""
    first_error = error.errors(include_input=False, include_url=False)[0]
    location = ".".join(map(str, first_error["loc"][-3:]))
    return f"{location}: {first_error['msg']}"[:200]


def _beside(metadata: Mapping[str, JsonValue], agent: str) -> Sequence[AgentEvent]:
    """Return the events for a message's metadata."""
    own = obj(metadata.get("agents")).get(agent)
    reports = (
        ("usage_reported", "usage", metadata.get("usage")),
        ("answer_recorded", "record", metadata.get("record")),
        ("moderation_reported", "moderation", metadata.get("moderation")),
        ("state_kept", "state", own),
    )
    return [
        _event({"type": kind, key: value})
        for kind, key, value in reports
        if isinstance(value, dict)
    ]


class Stream:
    """Reads the events of one streamed answer, in order: UACS deltas, agent events, or `{"text":
    ...}`. message_finished, turn_done, turn_failed or `[DONE]` ends it."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._texts: dict[int, str] = {}  # of parts that are not streamed
        self._next = 0  # index of the next part
        self._open: int | None = None  # index of the text that is streamed
        self._after_text = False
        self.ended = False

    def take(self, event: JsonValue) -> list[AgentEvent]:
        """Return the agent events of one event. Raises AgentError and InvalidUacs."""
        kind = text(obj(event).get("type"))
        if event == DONE:
            return [*self._close(), *self._end(TurnDone())]
        if kind in _DELTAS:
            return self._delta(event)
        if kind in _EVENTS:
            agent_event = _event(event)
            return (
                self._end(agent_event)
                if isinstance(agent_event, TurnDone | TurnFailed)
                else [agent_event]
            )
        return read_answer(event, self._agent)

    def end(self) -> None:
        """Raise AgentError if the stream ended within the answer."""
        if not self.ended:
            raise AgentError(ENDED_EARLY)

    def _end(self, event: AgentEvent) -> list[AgentEvent]:
        self.ended = True
        return [event]

    def _delta(self, event: JsonValue) -> list[AgentEvent]:
        match read_delta(orjson.dumps(event)):
            case PartStarted(index=index, part=part):
                return self._start(index, part)
            case TextAppended(index=index, text=more) if index == self._open:
                return [TextDelta(text=more)] if more else []
            case TextAppended(index=index, text=more) if index in self._texts:
                self._texts[index] += more
                return []
            case MetadataMerged(metadata=metadata):
                return list(_beside(cast("Json", metadata), self._agent))
            case MessageFinished():
                return [*self._close(), *self._end(TurnDone())]
            case MessageStarted():
                return []
            case other:
                raise AgentError(f"its stream changes an earlier part ({other.type})")

    def _start(self, index: int, part: ContentPart) -> list[AgentEvent]:
        """Begin a part. A text after another text is emitted whole: as deltas, both would run
        together."""
        if index != self._next:
            raise AgentError(f"its stream starts part {index} where part {self._next} is next")
        events = self._close()
        self._next += 1
        if not isinstance(part, TextPart):
            self._after_text = False
            return [*events, *part_events(part)]
        if self._after_text or not part.is_markdown:
            self._texts[index] = part.text
            self._plain = not part.is_markdown
        else:
            self._open = index
            events += [TextDelta(text=part.text)] if part.text else []
        self._after_text = True
        return events

    def _close(self) -> list[AgentEvent]:
        """Say the texts that were not streamed."""
        self._open = None
        texts = [*self._texts.values()]
        self._texts.clear()
        form: Json = {"format": "plain"} if texts and self._plain else {}
        return [PartGiven(part={"type": "text", "text": text, **form}) for text in texts if text]

    _plain = False
