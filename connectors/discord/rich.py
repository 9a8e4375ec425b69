"""A message with more than text -> bodies of Discord messages, and the files with them. Pure.

Embeds and components of Discord's go out as they came, with their mentions as a copy may have them;
elsewhere, and where buttons would be dead or links hide where they lead, what the message says is
written anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from bridge.uacs import Message, StructuredDataPart, TextPart
from connectors.discord.cards import as_copy, write_card
from connectors.discord.cards.read_source import ATTACHMENT
from connectors.discord.cards.schemas import ACTION_ROW, COMPONENTS, COMPONENTS_V2, EMBEDS, FILE
from connectors.discord.ids import PLATFORM

_MOST_EMBEDS, _MOST_TEXT = 10, 6000


@dataclass(frozen=True, slots=True)
class Body:
    """What one native message shows, and the files that go with it."""

    content: dict[str, JsonValue]
    files: tuple[Upload, ...] = ()


def rich_bodies(
    message: Message,
    above: Document,
    cards: Cards,
    files: Files | None,
    known: Counterparts = NO_COUNTERPARTS,
) -> tuple[list[Body], tuple[Loss, ...]]:
    """`above` is the line that says what it answers, or who says it."""
    card, unread = cards.read(message)
    if not above and (body := _as_it_came(message, card, cards, known)) is not None:
        return [body], unread
    card = with_counterparts(card, known)
    if above:
        card = replace(card, nodes=(Prose(above), *card.nodes))
    url_of = {} if files is None else {"url_of": files.url_of}
    written = write_card(card, cards.rendering(message, uploads=files is not None, **url_of))
    bodies = [
        Body(_shown(one.body), tuple(upload_of(asset) for asset in one.files))
        for one in written.messages
    ]
    return bodies, (*unread, *written.losses)


def _shown(body: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """What is seen of a message: whom it may ping, its sender says."""
    return {key: value for key, value in body.items() if key != "allowed_mentions"}


def _as_it_came(message: Message, card: Card, cards: Cards, known: Counterparts) -> Body | None:
    """The payloads themselves with their mentions as the rule has them, where Discord's own are
    all there is to show and each of their actions reaches its author."""
    if is_interactive(card.nodes) and cards.live_tokens(message) is None:
        return None
    shown: dict[str, list[JsonValue]] = {EMBEDS: [], COMPONENTS: []}
    for _, part in select_parts(message, tuple(shown)):
        if isinstance(part, TextPart) or not isinstance(part, StructuredDataPart):
            return None
        if part.schema_id not in shown:
            return None
        data = cast("JsonValue", part.data)
        shown[part.schema_id] += data if isinstance(data, list) else [data]
    if not cards.may_go_as_it_came(message):
        return None
    rule, guild = cards.rule(message, known), workspace_in(message, PLATFORM)
    embeds = as_copy({"embeds": [*shown[EMBEDS]]}, rule, guild)
    components = as_copy({"components": [*shown[COMPONENTS]]}, rule, guild)
    return _body(_listed(embeds, "embeds"), _listed(components, "components"))


def _listed(held: JsonValue, key: str) -> list[JsonValue]:
    return cast("dict[str, list[JsonValue]]", held)[key]


def _body(embeds: Sequence[JsonValue], components: Sequence[JsonValue]) -> Body | None:
    """Of one kind, and surely small enough; all else is written anew."""
    if bool(embeds) == bool(components) or _names_files([*embeds, *components]):
        return None
    if embeds:
        small = len(embeds) <= _MOST_EMBEDS and len(str(embeds)) < _MOST_TEXT
        return Body({"embeds": list(embeds)}) if small else None
    if all(isinstance(one, dict) and one.get("type") == ACTION_ROW for one in components):
        return None  # rows of buttons alone are no message
    return Body({"components": list(components), "flags": COMPONENTS_V2})


def _names_files(payloads: Sequence[JsonValue]) -> bool:
    """Whether they show files that would have to be sent along, and are not here any more."""
    stack = list(payloads)
    while stack:
        one = stack.pop()
        if isinstance(one, list):
            stack += one
        elif isinstance(one, dict):
            if one.get("type") == FILE:
                return True
            stack += one.values()
        elif isinstance(one, str) and one.startswith(ATTACHMENT):
            return True
    return False
