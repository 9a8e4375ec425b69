"""A card of an agent that cannot be shown: the agent gets the fault once, to repair it.

People are never shown the JSON of such a card. What the agent does not mend is named in its answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

import structlog
from pydantic import JsonValue, TypeAdapter, ValidationError

from bridge.content.cards.reader import Cards
from bridge.errors import CodecError, InvalidUacs
from bridge.model.refs import BRIDGE
from bridge.model.turns import AgentEvent, MessageChanged, MessageGiven, PartGiven, TextDelta
from bridge.router.turns.inputs import Inputs
from bridge.uacs import Actor, ContentPart, Message, StructuredDataPart, TextPart, to_timestamp

log = structlog.get_logger()

_PART: TypeAdapter[ContentPart] = TypeAdapter(ContentPart)
_LONGEST = 300  # characters of a fault that people and the agent are shown


class CardRepair:
    """Checks the cards of one turn, and asks the agent once to repair a card that cannot be
    shown."""

    def __init__(self, cards: Cards, inputs: Inputs, agent: str) -> None:
        self._cards = cards
        self._inputs = inputs
        self._agent = agent
        self._has_asked = False
        self._unrepaired: CodecError | None = None

    def take(self, event: AgentEvent, now: float) -> AgentEvent | None:
        """Return the event as the answer takes it; None for a card that the agent is asked to
        repair. A second mistake becomes a notice in words in the card's place."""
        parts = _cards_of(event)
        if not parts:
            return event
        fault = next(self._cards.faults(parts), None)
        if fault is None:
            self._unrepaired = None
            return event
        log.warning("agent_card_invalid", agent=self._agent, error=str(fault)[:_LONGEST])
        if not self._has_asked:
            self._has_asked, self._unrepaired = True, fault
            self._inputs.give(MessageGiven(message=_repair_request(fault, now)))
            return None
        return _notice_of(fault) if isinstance(event, PartGiven) else None

    def over(self) -> TextDelta | None:
        """Return the notice of a card that the agent did not repair; None where there is none."""
        fault, self._unrepaired = self._unrepaired, None
        return None if fault is None else _notice_of(fault)


def _cards_of(event: AgentEvent) -> list[ContentPart]:
    match event:
        case PartGiven(part=part):
            values: Iterable[JsonValue] = (part,)
        case MessageChanged(parts=parts):
            values = parts
        case _:
            return []
    read = [_read(part) for part in values]
    return [part for part in read if isinstance(part, StructuredDataPart)]


def _read(value: JsonValue) -> ContentPart | None:
    """None for what is no part; that is told elsewhere."""
    try:
        return _PART.validate_python(value)
    except (ValidationError, InvalidUacs):
        return None


def _repair_request(fault: CodecError, now: float) -> Message:
    text = (
        f"Your card was not shown. {_place(fault)}: {fault.reason[:_LONGEST]}. "
        "Give the whole card again without this mistake; you are told so once."
    )
    return Message(
        message_id=f"{BRIDGE}:card",
        timestamp=to_timestamp(datetime.fromtimestamp(now, UTC)),
        actor=Actor(id=BRIDGE, role="system"),
        content=(TextPart(text=text, format="plain"),),
    )


def _notice_of(fault: CodecError) -> TextDelta:
    fault_text = " ".join(f"{_place(fault)}: {fault.reason}".split())[:_LONGEST]
    return TextDelta(text=f"\n\n⚠️ A card cannot be shown here ({fault_text}).\n\n")


def _place(fault: CodecError) -> str:
    """Within the card's data, as its author wrote it."""
    data = fault.pointer.partition("/data")[2]
    return f"At {data or '/'}"
