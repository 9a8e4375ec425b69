"""Rich content <-> IRC, as `bridge.content.cards.codec` asks; IRC has no payloads. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pydantic import JsonValue

from bridge.content.cards.assets import assets_in, with_assets
from bridge.content.cards.rendering import NativeMessage, Payload, Rendering, Written
from bridge.content.cards.tree import Asset, Button, Card, Confirm, FileInput, Prose
from bridge.content.cards.walk import actions_of, is_interactive
from bridge.content.cards.words import card_words
from bridge.content.markdown import markdown_to_text
from bridge.content.safety.mentions import Rule
from bridge.content.text.inlines import plain_inlines
from bridge.content.text.tree import Document, Link, Paragraph, Text
from bridge.content.text.urls import safe_url
from bridge.errors import CodecError
from bridge.model import Loss
from connectors.irc import ids
from connectors.irc.actions import action_line
from connectors.irc.text import irc_to_text, text_to_irc

PLATFORM: str = ids.PLATFORM
SCHEMA_IDS: frozenset[str] = frozenset()
NO_TEXT = "(no text)"


def payloads(native: JsonValue) -> tuple[Payload, ...]:
    """The text of a message `{"text": ...}`, with an empty schema id."""
    return (Payload("", _text(native), "/text"),)


def read_payload(payload: Payload, workspace: str = "") -> Card:
    if payload.schema_id or not isinstance(payload.data, str):
        raise CodecError(payload.at, f"IRC has no payload {payload.schema_id!r}; it has text alone")
    return Card((Prose(irc_to_text(payload.data), at=payload.at),))


def mistakes(payload: Payload) -> Sequence[CodecError]:
    """A text has none, and anything else is no payload of IRC's."""
    try:
        read_payload(payload)
    except CodecError as error:
        return (error,)
    return ()


def read_message(native: JsonValue, workspace: str = "") -> Card:
    return read_payload(payloads(native)[0], workspace)


def write_card(card: Card, rendering: Rendering) -> Written:
    """One message `{"text": ...}` of lines with formatting codes."""
    document, losses = card_document(card, rendering)
    text = "\n".join(text_to_irc(document)) or NO_TEXT
    return Written((NativeMessage({"text": text}),), losses)


def as_copy(native: JsonValue, rule: Rule, workspace: str = "") -> JsonValue:
    """Mentions on IRC are words: there is nothing to change."""
    return native


def card_document(
    card: Card, rendering: Rendering, code: str = ""
) -> tuple[Document, tuple[Loss, ...]]:
    """The whole card as text; actions that work have numbers, and `code` names the card among
    others."""
    losses = [*_lost_assets(card, rendering), *_lost_around_actions(card)]
    with_addresses = with_assets(card, lambda asset: _with_address(asset, rendering))
    document = markdown_to_text(card_words(with_addresses))
    if not is_interactive(card.nodes):
        return document, tuple(losses)
    if rendering.token is not None:
        line = action_line(card, code)
        return ((*document, Paragraph((Text(line),))) if line else document), tuple(losses)
    losses.append(
        Loss(
            path="", kind="actions_as_text", what="buttons and inputs",
            shown_as=rendering.origin or "their labels",
        )
    )  # fmt: skip
    if origin := safe_url(rendering.origin):
        document = (*document, Paragraph((Link(origin, (Text(origin),)),)))
    return document, tuple(losses)


def _with_address(asset: Asset, rendering: Rendering) -> Asset:
    url = rendering.url_of(asset)
    return replace(asset, url=url, file_id="", private=False) if url else asset


def _lost_assets(card: Card, rendering: Rendering) -> list[Loss]:
    return [
        Loss(
            path="", kind="media_as_text", what=_asset_words(asset),
            shown_as="a link" if rendering.url_of(asset) else "its name",
        )
        for asset in assets_in(card)
    ]  # fmt: skip


def _asset_words(asset: Asset) -> str:
    words = dict.fromkeys(word for word in (asset.name, asset.alt) if word)
    return ", ".join(words) or "a file"


def _lost_around_actions(card: Card) -> Iterator[Loss]:
    """What other clients show when somebody points at an action, presses it, or errs, and files
    that it asks for: IRC has no place for them."""
    for action in actions_of(card):
        if action.confirm is not None:
            yield Loss(path=action.at, kind="confirm_dialog", what=_confirm_words(action.confirm))
        if isinstance(action, Button):
            if action.hint and action.label:
                yield Loss(path=action.at, kind="button_hint", what=action.hint)
            continue
        if action.error:
            yield Loss(path=action.at, kind="input_error", what=action.error)
        if isinstance(action, FileInput):
            label = plain_inlines(action.label) or action.id or "a file"
            yield Loss(path=action.at, kind="file_input", what=label)


def _confirm_words(confirm: Confirm) -> str:
    words = (confirm.title, plain_inlines(confirm.text), confirm.ok, confirm.cancel)
    return " ".join(word for word in words if word) or "?"


def _text(native: JsonValue) -> str:
    if isinstance(native, str):
        return native
    text = native.get("text") if isinstance(native, dict) else None
    if not isinstance(text, str):
        raise CodecError("/text", "a message of IRC is an object with its `text`")
    return text
