"""Events of an ACP run -> agent events, and the whole run. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import orjson
from pydantic import JsonValue

from bridge.agents.acp.read import file_name, part_parts
from bridge.agents.codec.json_values import Json, arr, obj, text, without
from bridge.agents.codec.stream_reader import ENDED_EARLY, Ending
from bridge.agents.transport.api_errors import api_error
from bridge.content.messages.negotiation import is_name
from bridge.errors import AgentError
from bridge.model.turns import AgentEvent, PartGiven, TextDelta, ToolAnswered, ToolCalled
from bridge.uacs import ContentPart, TextPart, ToolCallPart, ToolResultPart, write


class Stream:
    """Reads events in order; a whole run is one event. Unknown event types are ignored."""

    def __init__(self) -> None:
        self._run: Json = {}
        self._messages: list[Json] = []
        self._in_message = False
        self._has_output = False
        self._gap = False  # whether the next text begins another message

    def take(self, event: JsonValue) -> Sequence[AgentEvent]:
        body = obj(event)
        match body.get("type"):
            case "message.created":
                self._begin(obj(body.get("message")))
            case "message.part":
                return self._part(body.get("part"))
            case "message.completed":
                return self._complete(obj(body.get("message")))
            case "error":
                raise api_error(body.get("error"))
            case str(kind) if kind.startswith("run."):
                return self._take_run(obj(body.get("run")))
            case None if "run_id" in body or "output" in body:
                return self._take_run(body)
            case _:
                pass
        return ()

    def end(self) -> Sequence[AgentEvent]:
        if not self.is_over:
            raise AgentError(ENDED_EARLY)
        return ()

    @property
    def is_over(self) -> bool:
        """Whether the run has ended or awaits an answer."""
        return self._status in ("completed", "awaiting")

    @property
    def is_at_work(self) -> bool:
        """Whether the run has begun and more events follow."""
        return self._status in ("created", "in-progress")

    @property
    def run_id(self) -> str:
        """The server's id of the run; empty before the first event."""
        return text(self._run.get("run_id"))

    @property
    def session_id(self) -> str:
        """The server's id of the session; empty before the first event."""
        return text(self._run.get("session_id"))

    @property
    def awaited(self) -> Json | None:
        """The message that the run awaits an answer to; None if it awaits none."""
        if self._status != "awaiting":
            return None
        return obj(obj(self._run.get("await_request")).get("message"))

    @property
    def ending(self) -> Ending:
        return Ending("done", self._status)

    @property
    def response(self) -> Json:
        messages: list[JsonValue] = [dict(message) for message in self._messages]
        return {**self._run, "output": messages}

    @property
    def _status(self) -> str:
        return text(self._run.get("status"))

    def question(self) -> Sequence[AgentEvent]:
        """Return the question of a waiting run as agent events."""
        parts = arr((self.awaited or {}).get("parts"))
        self._gap = self._has_output
        return [
            event for number, part in enumerate(parts) for event in self._say(part, f"q_{number}")
        ]

    def _begin(self, message: Json) -> None:
        self._messages.append({**without(message, "parts"), "parts": []})
        self._in_message = True
        self._gap = self._has_output

    def _part(self, part: JsonValue) -> Sequence[AgentEvent]:
        if not self._in_message:
            self._begin({"role": "agent"})
        parts = arr(self._messages[-1]["parts"])
        self._messages[-1]["parts"] = [*parts, part]
        return self._say(part, f"{len(self._messages)}_{len(parts)}")

    def _complete(self, message: Json) -> Sequence[AgentEvent]:
        """End a message. Some servers send its parts only here."""
        events: list[AgentEvent] = []
        if not self._in_message:
            self._begin(message)
        if not self._messages[-1]["parts"]:
            for part in arr(message.get("parts")):
                events += self._part(part)
        self._messages[-1].update(without(message, "parts"))
        self._in_message = False
        return events

    def _take_run(self, run: Json) -> Sequence[AgentEvent]:
        self._run = without(run, "output")
        events: list[AgentEvent] = []
        if self._status == "failed":
            raise api_error(run.get("error"))
        if self._status in ("cancelled", "cancelling"):
            raise AgentError("its run was cancelled on its server")
        if self.is_over and not self._messages:
            for message in arr(run.get("output")):
                events += self._complete(obj(message))
        return events

    def _say(self, native: JsonValue, number: str) -> list[AgentEvent]:
        events = [_event(part, native) for part in part_parts(native, number)]
        sayable = [event for event in events if event != TextDelta(text="")]
        if sayable and self._gap and isinstance(sayable[0], TextDelta):
            sayable.insert(0, TextDelta(text="\n\n"))
        if sayable:
            self._has_output, self._gap = True, False
        return sayable


def _event(part: ContentPart, native: JsonValue) -> AgentEvent:
    match part:
        case TextPart(text=words):
            return TextDelta(text=words)
        case ToolCallPart():
            return ToolCalled(part=part)
        case ToolResultPart():
            return ToolAnswered(part=part)
        case _:
            is_file = part.type in ("image", "audio", "video", "file")
            if not is_file:
                return PartGiven(part=orjson.loads(write(part)))
            path = text(obj(native).get("name"))
            return PartGiven(
                part=orjson.loads(write(part)),
                name=file_name(native),
                path=path if is_name(path) else "",
            )
