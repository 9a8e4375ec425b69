"""A message with more than text -> bodies as chat.postMessage takes them. Pure and stable.

A payload of Slack's goes out as it came, with its mentions as a copy may have them; elsewhere, and
where its buttons would be dead or its links hide where they lead, what it says is written anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from pydantic import JsonValue

from bridge.content.cards.assets import upload_of
from bridge.content.cards.reader import Cards
from bridge.content.cards.tree import Card, Prose
from bridge.content.cards.walk import is_interactive
from bridge.content.messages.authors import workspace_in
from bridge.content.messages.metadata import select_parts
from bridge.content.safety.mentions import with_counterparts
from bridge.content.text.tree import Document
from bridge.model import Counterparts, Loss, Upload
from bridge.model.operations import NO_COUNTERPARTS
from bridge.ports.files import Files
from bridge.uacs import Message, StructuredDataPart
from connectors.slack.capabilities import ATTACHMENTS_PER_MESSAGE, BLOCKS_PER_MESSAGE, FIELD_TEXT
from connectors.slack.cards import as_copy, write_card
from connectors.slack.cards.schemas import ATTACHMENTS, BLOCKS
from connectors.slack.cards.write_notification import notification
from connectors.slack.ids import PLATFORM


@dataclass(frozen=True, slots=True)
class Body:
    """What one native message shows, and the files that go with it."""

    content: dict[str, JsonValue]
    files: tuple[Upload, ...] = ()


def rich_bodies(
    message: Message,
    quoted: Document,
    cards: Cards,
    files: Files | None,
    known: Counterparts = NO_COUNTERPARTS,
) -> tuple[list[Body], tuple[Loss, ...]]:
    """`quoted` is the line above that says what it answers."""
    card, unread = cards.read(message)
    if not quoted and (body := _as_it_came(message, card, cards, known)) is not None:
        return [body], unread
    card = with_counterparts(card, known)
    if quoted:
        card = replace(card, nodes=(Prose(quoted), *card.nodes))
    rendering = (
        cards.rendering(message, uploads=False)
        if files is None
        else cards.rendering(message, url_of=files.url_of, uploads=True)
    )
    written = write_card(card, rendering)
    bodies = [
        Body(dict(one.body), tuple(upload_of(asset) for asset in one.files))
        for one in written.messages
    ]
    return bodies, (*unread, *written.losses)


def _as_it_came(message: Message, card: Card, cards: Cards, known: Counterparts) -> Body | None:
    """The payloads themselves with their mentions as the rule has them, where Slack's own are all
    there is to show and each of their actions reaches its author."""
    if is_interactive(card.nodes) and cards.live_tokens(message) is None:
        return None
    shown: dict[str, list[JsonValue]] = {BLOCKS: [], ATTACHMENTS: []}
    for _, part in select_parts(message, tuple(shown)):
        if not isinstance(part, StructuredDataPart) or part.schema_id not in shown:
            return None
        data = cast("JsonValue", part.data)
        shown[part.schema_id] += data if isinstance(data, list) else [data]
    if not cards.may_go_as_it_came(message):
        return None
    body = _body(shown[BLOCKS], shown[ATTACHMENTS], card.summary)
    if body is None:
        return None
    team = workspace_in(message, PLATFORM)
    copied = cast("dict[str, JsonValue]", as_copy(body, cards.rule(message, known), team))
    # Names are longer than ids: a text that no longer fits is written anew, in pieces.
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
    """Whether each text is surely short enough for where it stands."""
    match value:
        case str():
            return len(value) <= FIELD_TEXT
        case list():
            return all(map(_fits, value))
        case dict():
            return all(map(_fits, value.values()))
        case _:
            return True
