"""An agent's answer while it grows: agent events in, the UACS message as it stands out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

from pydantic import JsonValue
from pydantic_core import to_json

from bridge.content.cards.json import SCHEMA_ID, card_to_json
from bridge.content.cards.tree import Button, Card
from bridge.content.messages.agent_parts import HIDDEN_SCHEMAS
from bridge.content.messages.metadata import (
    KEY,
    VERSION,
    BridgeMetadata,
    read_bridge_metadata,
    with_bridge_metadata,
)
from bridge.content.messages.private_state import AGENTS
from bridge.content.messages.tool_names import HIDDEN_TOOLS
from bridge.content.text.split import cut_text
from bridge.content.text.tree import Text
from bridge.errors import AgentError
from bridge.model import MessageId
from bridge.model.turns import (
    MAX_STATE,
    AgentEvent,
    AnswerRecorded,
    ModerationReported,
    PartGiven,
    PlanStep,
    StateKept,
    TextDelta,
    TextReplaced,
    ToolAnswered,
    ToolCalled,
    UsageReported,
)
from bridge.uacs import Actor, JsonTree, Message, StructuredDataPart, TextPart

_LONGEST_REASON = 500  # characters
RETRY = "bridge.retry"  # the id of the button that asks again; its value is the question's id


class Answer:
    """Collects the text and the parts of an answer in their order."""

    def __init__(
        self, message_id: MessageId, agent: str, began: float, *, shows_tools: bool = True
    ) -> None:
        self._shows_tools = shows_tools
        self.id = message_id
        self.agent = agent
        self._timestamp = datetime.fromtimestamp(began, UTC).isoformat(timespec="milliseconds")
        self._parts: list[Any] = []
        self._text: list[str] = []
        self._details: dict[str, Any] = {}
        self._metadata: dict[str, Any] = {}
        self._retry: MessageId | None = None
        self._summary = ""
        self._notices: list[str] = []
        self._steps: dict[str, PlanStep] = {}
        self._state: dict[str, JsonValue] = {}

    @property
    def visible(self) -> bool:
        """Whether there is anything to show."""
        has_text = any(piece.strip() for piece in self._text) or bool(self._notices)
        return has_text or any(map(self._is_seen, self._parts))

    @property
    def has_content(self) -> bool:
        """Whether there is anything to keep."""
        return bool(self._parts) or self.visible

    @property
    def parts(self) -> tuple[object, ...]:
        """All parts so far, without the text that still grows."""
        return tuple(self._parts)

    def _is_seen(self, part: Any) -> bool:
        kind, name = _field(part, "type"), _field(part, "name")
        if kind in ("tool_call", "tool_result"):
            return self._shows_tools and kind == "tool_call" and name not in HIDDEN_TOOLS
        return _field(part, "schema_id") not in HIDDEN_SCHEMAS

    def take(self, event: AgentEvent) -> None:
        """Add what the event says to the answer. Raises AgentError for a state that is too
        large."""
        match event:
            case TextDelta(text=text):
                self._text.append(text)
            case TextReplaced(parts=parts, text=text):
                self._parts += parts
                self._text = [text]
            case PartGiven(part=part, name=name, size=size, path=path) if (
                name or path or size is not None
            ):
                self._close_text()
                details = {"name": name or None, "size": size, "path": path or None}
                given_details = {key: value for key, value in details.items() if value is not None}
                self._details[str(len(self._parts))] = given_details
                self._parts.append(part)
            case PartGiven(part=part) | ToolCalled(part=part) | ToolAnswered(part=part):
                self._close_text()
                self._parts.append(part)
            case PlanStep(id=own_id):
                self._steps[own_id] = event
            case UsageReported(usage=usage):
                self._metadata["usage"] = usage
            case AnswerRecorded(record=record):
                self._metadata["record"] = record
            case ModerationReported(moderation=moderation):
                self._metadata["moderation"] = moderation
            case StateKept(state=state):
                self._keep(state)
            case _:
                pass

    @property
    def steps(self) -> tuple[PlanStep, ...]:
        """The agent's plan, and how far it has come."""
        return tuple(step for step in self._steps.values() if not step.transient)

    def note(self, state: Mapping[str, JsonValue]) -> None:
        """Add what is kept with the answer for its agent alone (`metadata.agents.<name>`)."""
        self._state |= state

    def _keep(self, state: Mapping[str, JsonValue]) -> None:
        merged = {**self._state, **state}
        new_state: dict[str, JsonValue] = {
            key: value for key, value in merged.items() if value is not None and key != KEY
        }
        if len(to_json(new_state)) > MAX_STATE:
            raise AgentError(f"it wanted to keep more than {MAX_STATE} bytes for itself")
        self._state = new_state

    def time(self, first: float | None, total: float) -> None:
        """Note how many seconds it took to the first words that were shown (None: there were none),
        and in all."""
        times = {"first_ms": first, "total_ms": total}
        milliseconds = {
            key: round(seconds * 1000) for key, seconds in times.items() if seconds is not None
        }
        self._metadata["latency"] = milliseconds

    @property
    def doing(self) -> str:
        """What the agent does now, as one line behind its name."""
        now = [step for step in self._steps.values() if step.status == "in_progress"]
        return f"is working on: {' '.join(now[-1].title.split())}" if now else "is thinking…"

    def resume(self, message: Message) -> None:
        """Begin with the parts that were kept before an interruption."""
        self._parts = list(message.content)

    def fail(self, reason: str, question: MessageId | None = None) -> None:
        """Say in the answer that it is not complete, and why, with a button to ask again. That is
        what notifications say, too: what it had begun to say is for those who look. These parts
        are notices: people see them, and no model takes them for the agent's words."""
        self._summary = f"⚠️ {self.agent} could not finish this answer"
        short_reason = cut_text(" ".join(reason.split()), _LONGEST_REASON)
        self._notices.append(f"{self._summary}: {short_reason}")
        self._retry = question

    def stop(self) -> None:
        """Add the notice that somebody stopped the answer."""
        if self.visible:
            self._notices.append("⏹️ stopped")

    def message(self) -> Message:
        """Return the answer as it stands now."""
        text = "".join(self._text).strip()
        parts = [*self._parts, TextPart(text=text)] if text else [*self._parts]
        notices: list[Any] = [TextPart(text=notice) for notice in self._notices]
        if self._retry is not None:
            notices.append(_retry_button(self._retry))
        places = range(len(parts), len(parts) + len(notices))
        details = self._details | {str(place): {"notice": True} for place in places}
        parts += notices
        metadata = dict(self._metadata)
        if self._state:
            metadata[AGENTS] = {self.agent: dict(self._state)}
        about: dict[str, Any] = {"parts": details} if details else {}
        if self._summary:
            about["summary"] = self._summary
        if about:
            metadata[KEY] = {"version": VERSION, **about}
        extra = {"metadata": metadata} if metadata else {}
        return Message(
            message_id=self.id,
            timestamp=self._timestamp,
            actor=Actor(id=f"agent:{self.agent}", role="assistant", name=self.agent),
            content=tuple(parts),
            **extra,
        )

    def _close_text(self) -> None:
        if text := "".join(self._text).strip():
            self._parts.append(TextPart(text=text))
        self._text = []


def with_content(message: Message, parts: Sequence[object]) -> Message:
    """Return the message with other content, without what the bridge noted of the old content."""
    fields: dict[str, Any] = {name: getattr(message, name) for name in message.model_fields_set}
    metadata = {name: value for name, value in (message.metadata or {}).items() if name != KEY}
    return Message.model_validate({**fields, "content": parts, "metadata": metadata})


def asked_again(answer: Message) -> Message:
    """Return a failed answer without its button, and without fallbacks, which are made anew. What
    is noted of its other parts stays."""
    additions, _ = read_bridge_metadata(answer)
    shadows = {index for indices in additions.fallbacks.values() for index in indices}
    indices_kept = [
        index
        for index, part in enumerate(answer.content)
        if index not in shadows and part != _retry_button_of(part)
    ]
    again = with_content(answer, [answer.content[index] for index in indices_kept])
    details = {
        str(new): additions.parts[str(old)]
        for new, old in enumerate(indices_kept)
        if str(old) in additions.parts
    }
    return with_bridge_metadata(again, BridgeMetadata(parts=details)) if details else again


def _field(part: Any, name: str) -> object:
    """Of a part, or of one that is JSON still."""
    return part.get(name) if isinstance(part, dict) else getattr(part, name, None)


def _retry_button(question: MessageId) -> StructuredDataPart:
    card = Card((Button((Text("Try again"),), id=RETRY, value=question),))
    return StructuredDataPart(schema_id=SCHEMA_ID, data=cast("JsonTree", card_to_json(card)))


def _retry_button_of(part: object) -> StructuredDataPart | None:
    """The same part, if it is such a button."""
    match part:
        case StructuredDataPart(data={"nodes": [{"id": str(own_id), "value": str(question)}]}):
            return _retry_button(MessageId(question)) if own_id == RETRY else None
        case _:
            return None
