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
    """Events, in order; a whole run is one event. Those of unknown types say nothing."""

    def __init__(self) -> None:
        self._run: Json = {}
        self._messages: list[Json] = []
        self._in_message = False
        self._said = False
        self._gap = False  # whether the next word begins another message

    def take(self, event: JsonValue) -> Sequence[AgentEvent]:
        one = obj(event)
        match one.get("type"):
            case "message.created":
                self._begin(obj(one.get("message")))
            case "message.part":
                return self._part(one.get("part"))
            case "message.completed":
                return self._complete(obj(one.get("message")))
            case "error":
                raise api_error(one.get("error"))
            case str(kind) if kind.startswith("run."):
                return self._take_run(obj(one.get("run")))
            case None if "run_id" in one or "output" in one:
                return self._take_run(one)
            case _:
                pass
        return ()

    def end(self) -> Sequence[AgentEvent]:
        if not self.is_over:
            raise AgentError(ENDED_EARLY)
        return ()

    @property
    def is_over(self) -> bool:
        """Whether the run has come to its end, or waits for an answer."""
        return self._status in ("completed", "awaiting")

    @property
    def is_at_work(self) -> bool:
        """Whether the run has begun, and more is to come of it."""
        return self._status in ("created", "in-progress")

    @property
    def run_id(self) -> str:
        return text(self._run.get("run_id"))

    @property
    def session_id(self) -> str:
        return text(self._run.get("session_id"))

    @property
    def awaited(self) -> Json | None:
        """The message that the run wants an answer to; None where it wants none."""
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
        """What the run asks the room."""
        parts = arr((self.awaited or {}).get("parts"))
        self._gap = self._said
        return [
            event for number, one in enumerate(parts) for event in self._say(one, f"q_{number}")
        ]

    def _begin(self, message: Json) -> None:
        self._messages.append({**without(message, "parts"), "parts": []})
        self._in_message = True
        self._gap = self._said

    def _part(self, part: JsonValue) -> Sequence[AgentEvent]:
        if not self._in_message:
            self._begin({"role": "agent"})
        parts = arr(self._messages[-1]["parts"])
        self._messages[-1]["parts"] = [*parts, part]
        return self._say(part, f"{len(self._messages)}_{len(parts)}")

    def _complete(self, message: Json) -> Sequence[AgentEvent]:
        """Some servers say a message only when it is complete."""
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
        said = [event for event in events if event != TextDelta(text="")]
        if said and self._gap and isinstance(said[0], TextDelta):
            said.insert(0, TextDelta(text="\n\n"))
        if said:
            self._said, self._gap = True, False
        return said


def _event(part: ContentPart, native: JsonValue) -> AgentEvent:
    match part:
        case TextPart(text=said):
            return TextDelta(text=said)
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
