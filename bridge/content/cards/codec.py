"""How a connector translates rich content: its `cards` module fills this."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from pydantic import JsonValue

from bridge.content.cards.interactions import Interaction
from bridge.content.cards.rendering import Payload, Rendering, Written
from bridge.content.cards.tree import Card
from bridge.content.safety.mentions import Rule
from bridge.errors import CodecError
from bridge.model import Loss


class Codec(Protocol):
    """Pure functions. They raise CodecError and nothing else, whatever JSON they are given."""

    PLATFORM: str
    """The platform's name, as it stands first in the keys of its people and channels."""

    SCHEMA_IDS: frozenset[str]
    """The payloads that `read_payload` knows."""

    def payloads(self, native: JsonValue) -> tuple[Payload, ...]:
        """The rich payloads and texts of a native message in the order in which they are shown.

        `native` is what the platform's API takes and gives, or one bare payload. Text is a payload
        with an empty schema id.
        """
        ...

    def read_payload(self, payload: Payload, workspace: str = "") -> Card:
        """What one payload says; nodes know where they stood in the message (`at`). Mentions are
        of people and channels of the `workspace`."""
        ...

    def read_message(self, native: JsonValue, workspace: str = "") -> Card:
        """A whole native message, or one bare payload, as one card."""
        ...

    def mistakes(self, payload: Payload) -> Sequence[CodecError]:
        """What the platform would refuse in a payload that is posted, in its order, each with its
        pointer and what is expected there; payloads that `read_payload` takes may have some. Never
        raises."""
        ...

    def write_card(self, card: Card, rendering: Rendering) -> Written:
        """The card as messages that the platform takes, in order; the same card and rendering give
        the same bytes. All words and actions are there, or named in a Loss."""
        ...

    def as_copy(self, native: JsonValue, rule: Rule, workspace: str = "") -> JsonValue:
        """The message or bare payload as it may stand in another channel: each mention in it, of
        people, groups, channels or everybody, is what `rule` makes of it; all else stays as it
        is. Never raises; the same object where nothing changes."""
        ...


@runtime_checkable
class WritesNativePresses(Protocol):
    """A codec that can say a press as its platform says it."""

    def native_press(self, payload: Payload, interaction: Interaction) -> JsonValue:
        """What the author of this payload would have received on this platform: the part of its
        event or request that tells which action it was, its value and all inputs. Never raises."""
        ...


@runtime_checkable
class ReportsUnreadContent(Protocol):
    """A codec of payloads that hold more than a card can say."""

    def left_out(self, payload: Payload) -> tuple[Loss, ...]:
        """What a payload has and its card does not say."""
        ...

    def unexpanded(self, payload: Payload) -> tuple[str, ...]:
        """Where a template has places that nobody gave data for: it is shown as it stands."""
        ...


@runtime_checkable
class ReportsWrongShapes(Protocol):
    """A codec that knows what kind of value stands where."""

    def wrong_shapes(self, native: JsonValue) -> tuple[Loss, ...]:
        """What stands where the platform has another kind of value: text for a list, a number for
        an object. `native` is a message or a bare payload; what is not shown anyway is not looked
        at. Never raises."""
        ...
