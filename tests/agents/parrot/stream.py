"""A stream of Parrot events -> agent events, and the whole response. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from bridge.agents.codec.json_values import Json, obj, text
from bridge.agents.codec.stream_reader import ENDED_EARLY, Ending
from bridge.errors import AgentError
from bridge.model.turns import AgentEvent, TextDelta


class Stream:
    """Reads events in order."""

    def __init__(self) -> None:
        self._text = ""
        self._has_ended = False

    def take(self, event: JsonValue) -> Sequence[AgentEvent]:
        self._has_ended |= obj(event).get("end") is True
        words = text(obj(event).get("text"))
        self._text += words
        return [TextDelta(text=words)] if words else []

    def end(self) -> Sequence[AgentEvent]:
        if not self._has_ended:
            raise AgentError(ENDED_EARLY)
        return ()

    @property
    def ending(self) -> Ending:
        return Ending("done")

    @property
    def response(self) -> Json:
        return {"text": self._text}
