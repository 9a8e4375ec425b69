"""What a webhook answers -> agent events: UACS JSON as a whole, or UACS deltas and agent events one
by one. Pure.

Raises AgentError and InvalidUacs for what is neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast, get_args

import orjson
from pydantic import JsonValue, TypeAdapter, ValidationError

from bridge.agents.codec.json_values import Json, obj, text
from bridge.agents.codec.stream_reader import DONE, ENDED_EARLY
from bridge.agents.transport.api_errors import without_keys
from bridge.errors import AgentError
from bridge.model.turns import (
    AgentEvent,
    PartGiven,
    TextDelta,
    ToolAnswered,
    ToolCalled,
    TurnDone,
    TurnFailed,
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
    """A whole answer of this agent: a Message (`content` is enough), a list of parts and agent
    events, or `{"text": ...}`. Nothing is said by null."""
    match body:
        case None:
            return []
        case list(items):
            return [event for item in items for event in _item(item)]
        case {"type": str()}:
            return _item(body)
        case {"text": str(said)}:
            return [TextDelta(text=said)] if said else []
        case {"content": list(parts), **rest}:
            events = [event for part in parts for event in part_events(_part(part))]
            return [*events, *_beside(obj(rest.get("metadata")), agent)]
        case _:
            raise AgentError(
                "its answer is no UACS: a message, a list of parts, or an object with `text`"
            )


def _item(value: JsonValue) -> list[AgentEvent]:
    kind = text(obj(value).get("type"))
    return [_event(value)] if kind in _EVENTS else part_events(_part(value))


def part_events(part: ContentPart) -> list[AgentEvent]:
    """A part as a whole: texts stay apart, which deltas would not."""
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
        raise AgentError(f"it says a part that is no UACS: {_first(error)}") from None


def _event(value: JsonValue) -> AgentEvent:
    try:
        event = _EVENT.validate_python(value)
    except ValidationError as error:
        raise AgentError(f"it says something that cannot be read: {_first(error)}") from None
    if isinstance(event, TurnFailed):
        return event.model_copy(update={"reason": without_keys(event.reason)})
    if isinstance(event, PartGiven):
        _part(event.part)
    return event


def _first(error: ValidationError) -> str:
    """Place and rule of the first fault; not the value, which may be anything."""
    found = error.errors(include_input=False, include_url=False)[0]
    where = ".".join(map(str, found["loc"][-3:]))
    return f"{where}: {found['msg']}"[:200]


def _beside(metadata: Mapping[str, JsonValue], agent: str) -> Sequence[AgentEvent]:
    """What a message says beside its content."""
    own = obj(metadata.get("agents")).get(agent)
    told = (
        ("usage_reported", "usage", metadata.get("usage")),
        ("answer_recorded", "record", metadata.get("record")),
        ("moderation_reported", "moderation", metadata.get("moderation")),
        ("state_kept", "state", own),
    )
    return [
        _event({"type": kind, key: value}) for kind, key, value in told if isinstance(value, dict)
    ]


class Stream:
    """Events of one streamed answer, in order: UACS deltas, agent events, or `{"text": ...}`. It is
    ended by message_finished, turn_done, turn_failed or `[DONE]`."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._texts: dict[int, str] = {}  # of parts that are said when they are whole
        self._next = 0  # the index of the next part
        self._open: int | None = None  # the text that is streamed
        self._after_text = False
        self.ended = False

    def take(self, event: JsonValue) -> list[AgentEvent]:
        kind = text(obj(event).get("type"))
        if event == DONE:
            return [*self._close(), *self._end(TurnDone())]
        if kind in _DELTAS:
            return self._delta(event)
        if kind in _EVENTS:
            one = _event(event)
            return self._end(one) if isinstance(one, TurnDone | TurnFailed) else [one]
        return read_answer(event, self._agent)

    def end(self) -> None:
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
                raise AgentError(f"its stream takes back what was said ({other.type})")

    def _start(self, index: int, part: ContentPart) -> list[AgentEvent]:
        """A text after another begins when it is whole: they would run together otherwise."""
        if index != self._next:
            raise AgentError(f"its stream begins part {index} where part {self._next} is next")
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
        """What the last part said as a whole."""
        self._open = None
        said = [*self._texts.values()]
        self._texts.clear()
        form: Json = {"format": "plain"} if said and self._plain else {}
        return [PartGiven(part={"type": "text", "text": one, **form}) for one in said if one]

    _plain = False
