"""Streams in personal chats: state and validation.

msteams-docs, "Stream bot messages" (2026-08): informative and streaming updates are `typing`
activities, the last one is a `message`; 2 minutes in all, one request a second, one stream a chat.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from bridge.sandbox.limits import Window
from connectors.teams.sandbox import refusals
from connectors.teams.sandbox.refusals import Refusal
from connectors.teams.sandbox.state import Conversation, Json, Message

LIFE = 120.0  # seconds
PER_CHAT = (Window(1, 1),)
LONGEST_INFORMATIVE = 1000  # characters


@dataclass
class Growing:
    """One stream; `message` exists from the first text on, `informed` has the earlier informative
    texts."""

    id: str
    conversation: Conversation
    begun: float
    sequence: int
    text: str = ""
    state: Literal["open", "completed", "expired", "cancelled"] = "open"
    message: Message | None = None
    informed: list[str] = field(default_factory=list[str])

    def look(self, now: float) -> None:
        """Expire the stream after its maximum life."""
        if self.state == "open" and now - self.begun > LIFE:
            self.state = "expired"


@dataclass(frozen=True)
class Step:
    """The stream fields of a request."""

    kind: str
    stream: str
    sequence: int | None


def step_of(activity: Json) -> Step | None:
    """Return the step of a stream, or None. Raises the Refusal of an invalid step."""
    entities = activity.get("entities")
    for entity in entities if isinstance(entities, list) else ():
        if isinstance(entity, dict) and str(entity.get("type", "")).lower() == "streaminfo":
            return _step(activity, entity)
    return None


def _step(activity: Json, entity: Json) -> Step:
    kind = entity.get("streamType") or "streaming"
    stream, sequence = entity.get("streamId") or "", entity.get("streamSequence")
    final = activity["type"] == "message"
    if final and kind != "final":
        raise bad_request("Only end streaming type is allowed as a message activity")
    if not final and kind not in ("informative", "streaming"):
        raise bad_request(
            "Only start streaming and continue streaming types are allowed as a typing activity"
        )
    if final and (not stream or sequence is not None):
        raise bad_request("End streaming activities should include streamId and no streamSequence")
    if not final and not _is_number(sequence):
        raise bad_request("Streaming activities should include streamSequence")
    if not stream and sequence != 1:
        raise bad_request("Start streaming activities should have streamSequence 1")
    text = activity.get("text") or ""
    if not final and not text.strip():
        raise bad_request("Start streaming activities should include text")
    if kind == "informative" and len(text) > LONGEST_INFORMATIVE:
        raise bad_request("Informative messages must not be longer than 1000 characters")
    return Step(kind, str(stream), sequence if _is_number(sequence) else None)


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def check_open(growing: Growing, now: float) -> None:
    """Raise the Refusal of a stream that is not open."""
    growing.look(now)
    match growing.state:
        case "completed":
            raise not_allowed(
                "Content stream is not allowed on an already completed streamed message"
            )
        case "expired":
            raise not_allowed("Content stream finished due to exceeded streaming time.")
        case "cancelled":
            raise not_allowed("Content stream was canceled by user.")
        case "open":
            pass


def check_text(growing: Growing, step: Step, text: str) -> None:
    """Raise the Refusal of a text that does not continue the stream, or of a late informative
    step."""
    if step.kind == "informative" and growing.message is not None:
        raise bad_request("Informative messages are allowed only before streaming messages")
    if step.kind == "streaming" and not text.startswith(growing.text):
        raise not_allowed("Request streamed content should contain the previously streamed content")


def not_allowed(text: str = "Content stream is not allowed") -> Refusal:
    return refusals.coded(403, "ContentStreamNotAllowed", text)


def bad_request(text: str) -> Refusal:
    return refusals.coded(400, "BadRequest", text)


def out_of_order() -> Json:
    text = "PreCondition failed exception when processing streaming activity."
    return {"error": {"code": "ContentStreamSequenceOrderPreConditionFailed", "message": text}}
