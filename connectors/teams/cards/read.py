"""A payload of a Teams message -> a card; a whole message -> one card. Pure.

CodecError for an invalid or too deeply nested payload; every other payload gives a card.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from bridge.content.cards.json_tree import check_nesting
from bridge.content.cards.rendering import Payload
from bridge.content.cards.tree import Badge, Card, Carousel, Container, Node, Prose
from bridge.content.text.tree import Heading, Paragraph, Text
from bridge.errors import CodecError
from bridge.model import Loss
from connectors.teams.cards import schemas
from connectors.teams.cards.json_values import Json, choice_of, objects, string
from connectors.teams.cards.read_activity import parsed, payloads
from connectors.teams.cards.read_adaptive import left_out as left_out_of_card
from connectors.teams.cards.read_adaptive import read_adaptive, words_of
from connectors.teams.cards.read_bot_cards import BOT_CARDS
from connectors.teams.cards.read_files import (
    ATTACHMENTS,
    read_disclosure,
    read_media,
    read_other,
    read_suggested,
)
from connectors.teams.cards.read_mentions import (
    Mentions,
    mentions_of_entities,
    mentions_of_graph,
)
from connectors.teams.cards.read_message_text import (
    html_message,
    marked_message,
    plain_message,
)
from connectors.teams.cards.read_o365 import read_connector_card
from connectors.teams.cards.schemas import schema_of
from connectors.teams.cards.templating import expand, unexpanded_in

__all__ = ["card_in", "left_out", "payloads", "read_message", "read_payload", "unexpanded"]


def read_message(native: JsonValue, workspace: str = "") -> Card:
    """Return all payloads of a message as one card.

    Several cards become containers or a carousel. Raises CodecError.
    """
    parts = [(payload, _read(payload, workspace)) for payload in payloads(native)]
    cards = [_boxed(payload, card) for payload, card in parts if payload.schema_id in schemas.CARDS]
    nodes: list[Node] = []
    if len(cards) < 2:
        nodes += [node for _, card in parts for node in card.nodes]
    else:
        nodes += _combine(parts, cards, leafed=_is_carousel(native))
    return Card(tuple(nodes), summary=_summary(native, parts))


def read_payload(payload: Payload, workspace: str = "") -> Card:
    """Return the card of one payload; mentions refer to people and channels of `workspace`.

    Templates with data are expanded; places refer to the expanded card. Raises CodecError.
    """
    check_nesting(payload.data)
    return _read(payload, workspace)


def _read(payload: Payload, workspace: str) -> Card:
    schema_id, data, at = schema_of(payload.schema_id), payload.data, payload.at
    if schema_id == schemas.TEXT:
        return Card(tuple(_text(data, at, workspace)), at=at)
    mapping = parsed(data)
    if mapping is None:
        raise CodecError(at, f"is no {schema_id!r}: it must be an object")
    if schema_id in schemas.CARDS:
        return _card(schema_id, mapping, at, workspace)
    return Card(tuple(_read_attached(schema_id, mapping, at)), at=at)


def unexpanded(payload: Payload) -> tuple[str, ...]:
    """Return pointers to `${...}` without data in a card, which stay visible as text."""
    if schema_of(payload.schema_id) != schemas.ADAPTIVE:
        return ()
    mapping = parsed(payload.data)
    if mapping is None:
        return ()
    expanded, unresolved = _expanded(mapping)
    pointers = unexpanded_in(mapping) if expanded is mapping else unresolved
    return tuple(f"{payload.at}{pointer}" for pointer in pointers)


def left_out(payload: Payload) -> tuple[Loss, ...]:
    """Return losses of a payload: backgrounds and automatic actions."""
    mapping = parsed(payload.data) if schema_of(payload.schema_id) == schemas.ADAPTIVE else None
    return left_out_of_card(mapping, payload.at) if mapping is not None else ()


# --- messages -------------------------------------------------------------------------------


def _is_carousel(native: JsonValue) -> bool:
    return isinstance(native, dict) and choice_of(native, "attachmentLayout") == "carousel"


def _combine(
    parts: Sequence[tuple[Payload, Card]], cards: Sequence[Container], *, leafed: bool
) -> list[Node]:
    nodes: list[Node] = []
    waiting = list(reversed(cards))
    for payload, card in parts:
        if payload.schema_id not in schemas.CARDS:
            nodes += card.nodes
        elif not leafed:
            nodes.append(waiting.pop())
        elif waiting:
            nodes.append(Carousel(tuple(cards), at="/attachments"))
            waiting = []
    return nodes


def _boxed(payload: Payload, card: Card) -> Container:
    match card.nodes:
        case (Container(form="card") as only,):
            return only
        case nodes:
            return Container(nodes, form="card", at=payload.at)


def _summary(native: JsonValue, parts: Sequence[tuple[Payload, Card]]) -> str:
    """Return the summary of a message; empty if the message has text."""
    if isinstance(native, dict) and (own_summary := string(native, "summary").strip()):
        return own_summary
    if any(payload.schema_id == schemas.TEXT for payload, _ in parts):
        return ""
    return next((card.summary for _, card in parts if card.summary), "")


# --- payloads -------------------------------------------------------------------------------


def card_in(payload: Payload) -> tuple[Json, str] | None:
    """Return the expanded card of a payload and its place; None for other payloads."""
    schema_id, mapping = schema_of(payload.schema_id), parsed(payload.data)
    if schema_id not in schemas.CARDS or mapping is None:
        return None
    data, at = _content(mapping, payload.at)
    return (_expanded(data)[0] if schema_id == schemas.ADAPTIVE else data), at


def _content(data: Json, at: str) -> tuple[Json, str]:
    """Return the card and its place; the payload may be a whole attachment."""
    if "contentType" in data and "type" not in data:
        return parsed(data.get("content")) or {}, f"{at}/content"
    return data, at


def _card(schema_id: str, data: Json, at: str, workspace: str) -> Card:
    data, at = _content(data, at)
    if schema_id == schemas.ADAPTIVE:
        return read_adaptive(_expanded(data)[0], at, workspace)
    if schema_id == schemas.CONNECTOR:
        summary = string(data, "summary")
        return Card(tuple(read_connector_card(data, at)), summary=summary, at=at)
    return Card(tuple(BOT_CARDS[schema_id](data, at)), at=at)


def _expanded(card: Json) -> tuple[Json, tuple[str, ...]]:
    """Return the expanded card, and pointers to unresolved expressions."""
    if isinstance(template := card.get("template"), dict):
        return expand(template, card.get("data"), card.get("host"))
    if isinstance(card.get("$data"), dict | list):
        return expand(card, None)
    return card, ()


def _read_attached(schema_id: str, data: Json, at: str) -> list[Node]:
    if schema_id == schemas.SUGGESTED:
        return read_suggested(data, at)
    if schema_id == schemas.DISCLOSURE:
        return read_disclosure(data, at)
    is_whole = "contentType" in data
    content = parsed(data.get("content")) if is_whole else data
    if (reader := ATTACHMENTS.get(schema_id)) is not None:
        return reader(data if is_whole else {}, content or {}, at)
    if schema_id.partition("/")[0].lower() in ("image", "video", "audio"):
        return read_media(data, at)
    words = words_of(content, f"{at}/content" if is_whole else at)
    if is_whole and isinstance(text := data.get("content"), str) and content is None:
        words = tuple(plain_message(text, Mentions(), f"{at}/content"))
    return read_other(data, schema_id, at, words)


# --- text -----------------------------------------------------------------------------------


def _text(data: JsonValue, at: str, workspace: str) -> list[Node]:
    if isinstance(data, str):
        return marked_message(data, Mentions(workspace), at)
    if not isinstance(data, dict):
        raise CodecError(at, "must be text")
    if "mentions" in data:
        mentions = mentions_of_graph(objects(data, "mentions"), workspace)
    else:
        mentions = mentions_of_entities(objects(data, "entities"), workspace)
    if "html" in data:
        return html_message(string(data, "html"), mentions, at)
    if "text" not in data:
        return _head(data, at)
    text = string(data, "text")
    match choice_of(data, "textFormat"):
        case "plain":
            return plain_message(text, mentions, at)
        case "xml":
            return html_message(text, mentions, at)
        case _:
            return marked_message(text, mentions, at)


def _head(data: Json, at: str) -> list[Node]:
    """Read what precedes a message: subject, senders or importance."""
    if subject := string(data, "subject").strip():
        return [Prose((Heading(3, (Text(subject),)),), at=at)]
    names = [
        name for sender in objects(data, "onBehalfOf") if (name := string(sender, "displayName"))
    ]
    if names:
        line = f"on behalf of {', '.join(names)}"
        return [Prose((Paragraph((Text(line),)),), subtle=True, at=at)]
    if choice_of(data, "importance") in ("high", "urgent"):
        word = "Urgent!" if choice_of(data, "importance") == "urgent" else "Important!"
        return [Badge((Text(word),), style="attention", at=at)]
    return []
