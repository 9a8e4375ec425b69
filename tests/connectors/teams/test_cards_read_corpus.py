"""Corpus cards and messages: each is read, and each of its words is in the card.

The tests collect the visible texts of a payload by key names, not by the reader's own rules.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from html import unescape
from pathlib import Path
from typing import Any, cast

import pytest

from bridge.content.cards.json import card_from_json, card_to_json
from bridge.content.cards.native_home import at_place, with_payloads, without_payloads
from bridge.content.cards.tree import Card, Native
from bridge.content.cards.walk import actions_of, walk
from bridge.content.text.tree import Emoji, Mention
from connectors.teams.cards import left_out, payloads, read_message, read_payload, unexpanded

CORPUS = os.environ.get("UACS_CORPUS")
pytestmark = pytest.mark.skipif(not CORPUS, reason="UACS_CORPUS names no folder of payloads")

Json = dict[str, Any]

# Key names of visible texts, and of members that contain more of them.
VISIBLE_KEYS = (
    "text", "title", "label", "altText", "placeholder", "value", "codeSnippet", "description",
    "headerTitle", "badge", "errorMessage", "legend", "xAxisTitle", "yAxisTitle",
    "subtitle", "activityTitle", "activitySubtitle", "activityText", "name", "display",
    "subLabel", "tooltip",
)  # fmt: skip
WITHIN = ("body", "items", "columns", "rows", "cells", "facts", "choices", "inlines", "images",
          "actions", "pages", "card", "content", "selectAction", "inlineAction", "menuActions",
          "captionSources", "sections", "potentialAction", "inputs", "buttons", "data", "values",
          "segments", "attachments", "references", "properties", "users")  # fmt: skip
# A key of SEEN that says something else in some objects.
HIDDEN_KINDS = {
    "value": ("Input.", "Rating", "ProgressBar", "imBack", "messageBack", "openUrl", "signin"),
    "name": ("Icon", "IconRun", "Component", "mention"),
    "title": ("Input.", "AdaptiveCard"),
}
DROPPED = {  # cards that require features that no host has
    "ac__v1.2_Tests_DeepFallback.json",
    "ac__v1.2_Tests_ContainerDoubleFallback.json",
    "ac__v1.2_Tests_EmptyFallbackCard.json",
    "ac__v1.2_Tests_FallbackParsing.json",
    "ac__v1.2_Tests_SimpleFallback.json",
    "acsrc__android_v1.2_ActionFallback.json",
    "acsrc__shared_AdaptiveCardsSharedModelUnitTest_EverythingBagel.json",
    "teamsmobile__v1.5_Elements_StringResources.json",
    "teamsmobile__v1.5_Scenarios_Fallback.json",
    "teamsmobile__v1.5_Scenarios_FallbackAction.json",
    "teamsmobile__v1.5_Scenarios_NestedFallbackRoot.json",
}
WORD = re.compile(r"[^\W_]+")
MOMENT = re.compile(
    r"(?m)^\s*\d+[.)]\s|\{\{(?:DATE|TIME)\([^)]*\)\}\}|\$\{rs:\w+\}|<at[^>]*>|</at>"
)
TARGET = re.compile(r"\]\([^)\s]*\)")


def files(*folders: str) -> list[Path]:
    root = Path(CORPUS or ".")
    return sorted(path for folder in folders for path in (root / folder).glob("*.json"))


def parsed(path: Path) -> Any:
    return json.loads(path.read_bytes())


def messages(value: Any) -> Iterator[Any]:
    """Yield the outermost values in a file that may be messages."""
    if isinstance(value, dict):
        mapping = cast("Json", value)
        keys = ("attachments", "text", "body", "contentType", "@type", "suggestedActions")
        if any(key in mapping for key in keys) or mapping.get("type") == "AdaptiveCard":
            yield mapping
        else:
            for item in mapping.values():
                yield from messages(item)
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            yield from messages(item)


FOLDERS = ("activities", "cards", "connector", "entities", "graph", "invoke_responses")
ADAPTIVE = files("adaptive") if CORPUS else []
TEAMS = files(*(f"teams/{folder}" for folder in FOLDERS)) if CORPUS else []


# --- visible texts --------------------------------------------------------------------------


def visible_strings(value: Any) -> Iterator[str]:
    """Yield every visible string in order, without fallbacks."""
    if isinstance(value, list):
        for item in cast("list[Any]", value):
            if isinstance(item, str):
                yield item
            else:
                yield from visible_strings(item)
    elif isinstance(value, dict):
        mapping = cast("Json", value)
        kind = str(mapping.get("type") or mapping.get("contentType") or "")
        for key, item in mapping.items():
            if key in VISIBLE_KEYS and isinstance(item, str) and not _is_hidden(key, kind):
                yield item
            elif key in WITHIN and isinstance(item, dict | list) and not _is_data(key, kind):
                yield from visible_strings(item)


def _is_hidden(key: str, kind: str) -> bool:
    return (
        any(kind.startswith(prefix) for prefix in HIDDEN_KINDS.get(key, ()))
        and kind != "Input.Toggle"
    )


def _is_data(key: str, kind: str) -> bool:
    return key == "data" and not kind.startswith("Chart.") and kind != ""


def card_text(card: Card) -> str:
    """Return all words of the tree, with a space around each."""
    return f" {' '.join(WORD.findall(' '.join(_strings(card.nodes))))} "


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for item in cast("tuple[object, ...]", value):
            yield from _strings(item)
    elif isinstance(value, Emoji | Mention):
        yield value.name
    elif is_dataclass(value):
        for field in fields(value):
            hidden = ("at", "type", "payload") if isinstance(value, Native) else ("at", "type")
            if field.name not in hidden:
                yield from _strings(getattr(value, field.name))


def pieces(text: str) -> Iterator[str]:
    """Yield the words of a string in pieces, separated where markup and timestamps may separate
    them."""
    for piece in MOMENT.split(TARGET.sub("] ", unescape(text.replace(chr(13), chr(10))))):
        yield from (word for word in WORD.findall(piece))


# --- the tests ------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ADAPTIVE, ids=lambda path: path.name)
def test_the_card_of_a_corpus_payload_has_every_visible_word(path: Path) -> None:
    native = parsed(path)

    card = read_message(native, "T")

    words = card_text(card)
    assert (
        path.name in DROPPED
        or [
            (text, word)
            for text in visible_strings(native)
            for word in pieces(text)
            if f" {word} " not in words
        ]
        == []
    )
    assert card_from_json(card_to_json(card)) == card


@pytest.mark.parametrize("path", TEAMS, ids=lambda path: path.name)
def test_every_message_is_read(path: Path) -> None:
    for native in messages(parsed(path)):
        card = read_message(native, "T")

        assert card_from_json(card_to_json(card)) == card
        text = native.get("text") if native.get("type") == "message" else None
        if isinstance(text, str):
            words = card_text(card)
            assert [piece for piece in pieces(text) if f" {piece} " not in words] == []


@pytest.mark.parametrize("path", [*ADAPTIVE, *TEAMS], ids=lambda path: path.name)
def test_every_corpus_payload_is_the_unchanged_value_at_its_json_pointer(path: Path) -> None:
    for native in messages(parsed(path)):
        rich = [
            payload
            for payload in payloads(native)
            if payload.schema_id and payload.schema_id != QUOTED
        ]

        assert [at_place(native, payload_part.at) for payload_part in rich] == [
            payload_part.data for payload_part in rich
        ]
        without = without_payloads(native, [payload_part.at for payload_part in rich])
        assert (
            with_payloads(without, {payload_part.at: payload_part.data for payload_part in rich})
            == native
        )


QUOTED = "messageReference"  # in HTML it is never alone


@pytest.mark.parametrize("path", ADAPTIVE, ids=lambda path: path.name)
def test_nodes_and_actions_have_valid_json_pointers(path: Path) -> None:
    native = parsed(path)
    (payload,) = payloads(native)

    card = read_payload(payload, "T")

    places = [entry.at for entry in walk(card.nodes)]
    assert [place for place in places if at_place(native, place) is None] == []
    actions = [action.at for action in actions_of(card)]
    assert len(actions) == len(set(actions))
    assert all(at_place(native, entry) is not None for entry in unexpanded(payload))
    assert all(at_place(native, entry.path) is not None for entry in left_out(payload))
