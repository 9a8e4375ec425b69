"""The protocol by which a connector translates rich content; its `cards` module implements it."""

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
    """The translation of one platform's rich content, as pure functions.

    The functions raise CodecError and nothing else, whatever JSON they receive.
    """

    PLATFORM: str
    """The platform's name, as it stands first in the keys of its people and channels."""

    SCHEMA_IDS: frozenset[str]
    """The payloads that `read_payload` knows."""

    def payloads(self, native: JsonValue) -> tuple[Payload, ...]:
        """Returns the rich payloads and texts of a native message in the order of reading.

        Args:
            native: A message as the platform's API sends and accepts it, or one bare payload.

        Returns:
            The payloads; text is a payload with an empty schema id.

        Raises:
            CodecError: The JSON is nested too deeply to read.
        """
        ...

    def read_payload(self, payload: Payload, workspace: str = "") -> Card:
        """Reads one payload as a card; nodes know their place in the message (`at`).

        Args:
            payload: One of those that `payloads` returned.
            workspace: The workspace of the people and channels that the payload mentions.

        Raises:
            CodecError: The payload is not valid; the error has a JSON pointer.
        """
        ...

    def read_message(self, native: JsonValue, workspace: str = "") -> Card:
        """Reads a whole native message, or one bare payload, as one card.

        Args:
            native: A message as the platform's API sends and accepts it, or one bare payload.
            workspace: The workspace of the people and channels that the message mentions.

        Raises:
            CodecError: A payload is not valid; the error has a JSON pointer.
        """
        ...

    def mistakes(self, payload: Payload) -> Sequence[CodecError]:
        """Returns what the platform would refuse in a posted payload, in the order of the payload.

        Payloads that `read_payload` accepts may have mistakes. Never raises.

        Returns:
            For each mistake its JSON pointer and what the platform expects there.
        """
        ...

    def write_card(self, card: Card, rendering: Rendering) -> Written:
        """Writes a card as messages that the platform accepts, in order.

        The same card and rendering give the same bytes. The messages contain all text and actions
        of the card; a Loss names everything else.
        """
        ...

    def as_copy(self, native: JsonValue, rule: Rule, workspace: str = "") -> JsonValue:
        """Returns a message or bare payload as it may appear in another channel.

        Each mention of people, groups, channels or everybody becomes what `rule` returns for it;
        everything else stays. Never raises; returns the same object if nothing changes.
        """
        ...


@runtime_checkable
class WritesNativePresses(Protocol):
    """A codec that can express a press in its platform's own format."""

    def native_press(self, payload: Payload, interaction: Interaction) -> JsonValue:
        """Returns what the payload's author would have received on this platform.

        It is the part of the platform's event or request that identifies the action, its value and
        all inputs. Never raises.
        """
        ...


@runtime_checkable
class ReportsUnreadContent(Protocol):
    """A codec of payloads that may contain more than a card can represent."""

    def left_out(self, payload: Payload) -> tuple[Loss, ...]:
        """Returns a Loss for each element of a payload that its card does not contain."""
        ...

    def unexpanded(self, payload: Payload) -> tuple[str, ...]:
        """Returns the JSON pointers of template placeholders without data; they are shown
        literally."""
        ...


@runtime_checkable
class ReportsWrongShapes(Protocol):
    """A codec that knows the kind of each value in its payloads."""

    def wrong_shapes(self, native: JsonValue) -> tuple[Loss, ...]:
        """Returns a Loss for each value of another kind than the platform has there, such as text
        in place of a list.

        Values that are never shown are not checked. Never raises.

        Args:
            native: A message or a bare payload.
        """
        ...
