"""A message with more than text -> the bodies of native messages, and the files that travel with
them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from pydantic import JsonValue

from bridge.content.cards.assets import upload_of
from bridge.content.cards.reader import Cards
from bridge.content.cards.rendering import Rendering, Written
from bridge.content.cards.tree import Asset, Card, Prose
from bridge.content.cards.walk import is_interactive
from bridge.content.messages.metadata import select_parts
from bridge.content.safety.mentions import with_counterparts
from bridge.content.text.tree import Document
from bridge.model import Counterparts, Loss, Upload
from bridge.uacs import Message, StructuredDataPart

UrlOf = Callable[[Asset], str]
"""An asset that we hold -> where anybody may fetch it; empty when there is no such place."""


@dataclass(frozen=True, slots=True)
class Body:
    """The content of one native message, and the files that travel with it."""

    content: dict[str, JsonValue]
    files: tuple[Upload, ...] = ()


def rendering_of(
    message: Message, cards: Cards, url_of: UrlOf | None, *, uploads: bool = True
) -> Rendering:
    """Returns how to show the message on another platform.

    Args:
        message: The message.
        cards: The reader of cards.
        url_of: Returns the public address of a stored asset; None if the bridge stores no files, so
            that none is linked or sent.
        uploads: Whether stored assets may travel with the message as files.
    """
    if url_of is None:
        return cards.rendering(message, uploads=False)
    return cards.rendering(message, url_of=url_of, uploads=uploads)


def native_payloads(
    message: Message, card: Card, cards: Cards, schema_ids: Collection[str]
) -> list[tuple[int, StructuredDataPart]]:
    """Returns the payloads that may be shown unchanged, with their places in the content.

    It returns none unless the message contains only payloads of these schemas, somebody receives
    each of their presses, and each of their links shows its address.

    Args:
        message: The message.
        card: The message as a card.
        cards: The reader of cards.
        schema_ids: The schemas of the platform's own payloads.
    """
    if is_interactive(card.nodes) and cards.live_tokens(message) is None:
        return []
    payloads: list[tuple[int, StructuredDataPart]] = []
    for index, part in select_parts(message, schema_ids):
        if not isinstance(part, StructuredDataPart) or part.schema_id not in schema_ids:
            return []
        payloads.append((index, part))
    return payloads if payloads and cards.can_pass_unchanged(message) else []


def card_bodies(
    message: Message, above: Document, cards: Cards, url_of: UrlOf | None,
    counterparts: Counterparts, *, as_it_came: Callable[[Card], Body | None],
    write_card: Callable[[Card, Rendering], Written],
) -> tuple[list[Body], tuple[Loss, ...]]:  # fmt: skip
    """Returns the bodies that show the whole message, and a Loss for everything that they cannot
    show.

    Args:
        message: The message.
        above: The text above the message: whom it answers, or who wrote it.
        cards: The reader of cards.
        url_of: Returns the public address of a stored asset; None if the bridge stores no files.
        counterparts: What the message's references become.
        as_it_came: Returns the message's own payloads as a body, None if the card must be written;
            it is not called if there is text above.
        write_card: Writes a card as messages of the platform.
    """
    card, unread = cards.read(message)
    if not above and (body := as_it_came(card)) is not None:
        return [body], unread
    card = with_counterparts(card, counterparts)
    if above:
        card = replace(card, nodes=(Prose(above), *card.nodes))
    written = write_card(card, rendering_of(message, cards, url_of))
    bodies = [
        Body(dict(native.body), tuple(upload_of(asset) for asset in native.files))
        for native in written.messages
    ]
    return bodies, (*unread, *written.losses)
