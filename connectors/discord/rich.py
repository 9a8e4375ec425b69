"""A message with more than text -> bodies of Discord messages and their files. Pure.

Discord's own embeds and components are posted unchanged, except for mentions that a copy may not
have. All other messages, and those with dead buttons or misleading links, are rendered from their
cards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from pydantic import JsonValue

from bridge.content.cards.bodies import Body, card_bodies, native_payloads
from bridge.content.cards.reader import Cards
from bridge.content.cards.tree import Card
from bridge.content.messages.authors import workspace_in
from bridge.content.text.tree import Document
from bridge.model import Counterparts, Loss
from bridge.model.operations import NO_COUNTERPARTS
from bridge.ports.files import Files
from bridge.uacs import Message
from connectors.discord.cards import as_copy, write_card
from connectors.discord.cards.read_source import ATTACHMENT
from connectors.discord.cards.schemas import ACTION_ROW, COMPONENTS, COMPONENTS_V2, EMBEDS, FILE
from connectors.discord.ids import PLATFORM

_MAX_EMBEDS, _MAX_TEXT = 10, 6000


def rich_bodies(
    message: Message,
    above: Document,
    cards: Cards,
    files: Files | None,
    counterparts: Counterparts = NO_COUNTERPARTS,
) -> tuple[list[Body], tuple[Loss, ...]]:
    """Return the bodies of a message, and the losses.

    `above` is the line that names the quoted message or, in DMs, the author.
    """
    bodies, losses = card_bodies(
        message, above, cards, None if files is None else files.url_of, counterparts,
        as_it_came=lambda card: _native_body(message, card, cards, counterparts),
        write_card=write_card,
    )  # fmt: skip
    return [Body(_without_pings(body.content), body.files) for body in bodies], losses


def _without_pings(content: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the content without `allowed_mentions`: `encode` decides whom a message may ping."""
    return {key: value for key, value in content.items() if key != "allowed_mentions"}


def _native_body(
    message: Message, card: Card, cards: Cards, counterparts: Counterparts
) -> Body | None:
    """Return Discord's own payloads with the mentions that the rule allows; None without any."""
    by_schema: dict[str, list[JsonValue]] = {EMBEDS: [], COMPONENTS: []}
    payloads = native_payloads(message, card, cards, by_schema.keys())
    if not payloads:
        return None
    for _, part in payloads:
        data = cast("JsonValue", part.data)
        by_schema[part.schema_id] += data if isinstance(data, list) else [data]
    rule, guild = cards.rule(message, counterparts), workspace_in(message, PLATFORM)
    embeds = as_copy({"embeds": [*by_schema[EMBEDS]]}, rule, guild)
    components = as_copy({"components": [*by_schema[COMPONENTS]]}, rule, guild)
    return _body(_items_of(embeds, "embeds"), _items_of(components, "components"))


def _items_of(message: JsonValue, key: str) -> list[JsonValue]:
    return cast("dict[str, list[JsonValue]]", message)[key]


def _body(embeds: Sequence[JsonValue], components: Sequence[JsonValue]) -> Body | None:
    """Return a body of embeds or of components; None for both, or if it may be too large."""
    if bool(embeds) == bool(components) or _names_files([*embeds, *components]):
        return None
    if embeds:
        small = len(embeds) <= _MAX_EMBEDS and len(str(embeds)) < _MAX_TEXT
        return Body({"embeds": list(embeds)}) if small else None
    if all(isinstance(body, dict) and body.get("type") == ACTION_ROW for body in components):
        return None  # rows of buttons alone show no content
    return Body({"components": list(components), "flags": COMPONENTS_V2})


def _names_files(payloads: Sequence[JsonValue]) -> bool:
    """Return whether a payload refers to uploaded files, which the bridge no longer has."""
    stack = list(payloads)
    while stack:
        value = stack.pop()
        if isinstance(value, list):
            stack += value
        elif isinstance(value, dict):
            if value.get("type") == FILE:
                return True
            stack += value.values()
        elif isinstance(value, str) and value.startswith(ATTACHMENT):
            return True
    return False
