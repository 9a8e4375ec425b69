"""A message with more than text -> the bodies of native messages, and the files with them. Pure."""

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
    """What one native message shows, and the files that go with it."""

    content: dict[str, JsonValue]
    files: tuple[Upload, ...] = ()


def rendering_of(
    message: Message, cards: Cards, url_of: UrlOf | None, *, uploads: bool = True
) -> Rendering:
    """How the message is shown on another platform. Without `url_of` no file is held: none is
    linked or sent along."""
    if url_of is None:
        return cards.rendering(message, uploads=False)
    return cards.rendering(message, url_of=url_of, uploads=uploads)


def native_payloads(
    message: Message, card: Card, cards: Cards, schema_ids: Collection[str]
) -> list[tuple[int, StructuredDataPart]]:
    """The payloads of the message that may be shown as they came, with their places in its content.

    Empty unless payloads of these schemas are all there is to show, somebody receives each of
    their presses, and each of their links says where it leads.
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
    """The bodies that show the whole message, and all that they could not show.

    `above` stands over the message: whom it answers, or who says it. `as_it_came` returns the
    message's own payloads as a body, or None where the card has to be written anew; a message with
    something above it always is.
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
