"""A message with rich payloads -> bodies for chat.postMessage. Pure; equal input gives equal
output.

A Slack payload is sent unchanged except for its mentions. Payloads of other platforms are written
anew, and so are Slack payloads with buttons that would not work here or with links that hide their
target.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from pydantic import JsonValue

from bridge.content.cards.bodies import Body, UrlOf, card_bodies, native_payloads
from bridge.content.cards.reader import Cards
from bridge.content.cards.tree import Card
from bridge.content.messages.authors import workspace_in
from bridge.content.text.tree import Document
from bridge.model import Counterparts, Loss
from bridge.model.operations import NO_COUNTERPARTS
from bridge.uacs import Message
from connectors.slack.capabilities import ATTACHMENTS_PER_MESSAGE, BLOCKS_PER_MESSAGE, FIELD_TEXT
from connectors.slack.cards import as_copy, write_card
from connectors.slack.cards.schemas import ATTACHMENTS, BLOCKS
from connectors.slack.cards.write_notification import notification
from connectors.slack.ids import PLATFORM


def rich_bodies(
    message: Message,
    quoted: Document,
    cards: Cards,
    url_of: UrlOf | None,
    counterparts: Counterparts = NO_COUNTERPARTS,
) -> tuple[list[Body], tuple[Loss, ...]]:
    """The bodies of a message, and what they lose; `quoted` is the line above that quotes the
    answered message, `url_of` gives the addresses of stored files, None if no file travels."""
    return card_bodies(
        message, quoted, cards, url_of, counterparts,
        as_it_came=lambda card: _as_it_came(message, card, cards, counterparts),
        write_card=write_card,
    )  # fmt: skip


def _as_it_came(
    message: Message, card: Card, cards: Cards, counterparts: Counterparts
) -> Body | None:
    """Slack's own payloads with rewritten mentions, when they may be shown here; else None."""
    parts: dict[str, list[JsonValue]] = {BLOCKS: [], ATTACHMENTS: []}
    for _, part in native_payloads(message, card, cards, parts.keys()):
        data = cast("JsonValue", part.data)
        parts[part.schema_id] += data if isinstance(data, list) else [data]
    body = _body(parts[BLOCKS], parts[ATTACHMENTS], card.summary)
    if body is None:
        return None
    team = workspace_in(message, PLATFORM)
    copied = cast("dict[str, JsonValue]", as_copy(body, cards.rule(message, counterparts), team))
    # Names are longer than ids: a text that no longer fits is written again, in parts.
    return Body(copied) if copied is body or _fits(copied) else None


def _body(
    blocks: Sequence[JsonValue], attachments: Sequence[JsonValue], summary: str
) -> dict[str, JsonValue] | None:
    too_many = len(blocks) > BLOCKS_PER_MESSAGE or len(attachments) > ATTACHMENTS_PER_MESSAGE
    if too_many or not (blocks or attachments):
        return None
    content: dict[str, JsonValue] = {"text": notification(summary, ()) if summary else ""}
    if blocks:
        content["blocks"] = list(blocks)
    if attachments:
        content["attachments"] = list(attachments)
    return content


def _fits(value: JsonValue) -> bool:
    """Whether each text is surely short enough for its field."""
    match value:
        case str():
            return len(value) <= FIELD_TEXT
        case list():
            return all(map(_fits, value))
        case dict():
            return all(map(_fits, value.values()))
        case _:
            return True
