"""An Adaptive Card (1.0 to 1.6, with Teams' extensions) -> a card."""

from __future__ import annotations

import re
from html import unescape
from itertools import islice

from pydantic import JsonValue

from bridge.content.cards.tree import Card, Node, Nodes, Prose
from bridge.content.text.tree import Paragraph
from bridge.model import Loss
from connectors.teams.cards.json_places import places_of
from connectors.teams.cards.json_values import Json, object_at, objects, string
from connectors.teams.cards.read_actions import ACTIONS
from connectors.teams.cards.read_boxes import BOXES
from connectors.teams.cards.read_charts import CHARTS
from connectors.teams.cards.read_elements import ELEMENTS
from connectors.teams.cards.read_files import source_line
from connectors.teams.cards.read_inputs import INPUTS
from connectors.teams.cards.read_media import MEDIA
from connectors.teams.cards.read_text import plain_text
from connectors.teams.cards.read_unknown import read_unknown
from connectors.teams.cards.reading import Reading, begin_reading

READERS = {**ELEMENTS, **BOXES, **MEDIA, **INPUTS, **CHARTS, **ACTIONS}
_TAG = re.compile(r"<[^<>]*>")


def read_adaptive(card: Json, at: str, workspace: str) -> Card:
    """Return the card or element; `fallbackText` is the content of an otherwise empty card."""
    whole: Json = card if "type" in card else {**card, "type": "AdaptiveCard"}
    reading = begin_reading(card, workspace, READERS, read_unknown)
    nodes = [*reading.element(whole, at, -1), *_sources(card, f"{at}/references")]
    fallback_text = string(card, "fallbackText").strip()
    if not nodes and fallback_text:
        nodes = [Prose(plain_text(fallback_text), at=f"{at}/fallbackText")]
    return Card(tuple(nodes), summary=fallback_text or _spoken(string(card, "speak")), at=at)


def words_of(value: JsonValue, at: str) -> Nodes:
    """Return the readable words of an unknown payload."""
    if not isinstance(value, dict):
        return ()
    reading: Reading = begin_reading(value, "", READERS, read_unknown)
    reading.bare = 1
    return tuple(read_unknown(reading, {**value, "type": ""}, at, 0))


def _sources(card: Json, at: str) -> list[Node]:
    """Return the references of a card."""
    lines = [
        source_line(source, index) for index, source in enumerate(objects(card, "references"), 1)
    ]
    return [Prose(tuple(map(Paragraph, lines)), subtle=True, at=at)] if lines else []


def _spoken(speech: str) -> str:
    """Return SSML without tags."""
    return " ".join(unescape(_TAG.sub(" ", speech)).split())


# --- losses ----------------------------------------------------------------------

_LEFT_OUT = {
    "backgroundImage": "background_image",
    "refresh": "card_refresh",
    "authentication": "card_authentication",
    "valueChangedAction": "action_on_change",
}
_MAX_LOSSES = 100


def left_out(card: Json, at: str) -> tuple[Loss, ...]:
    """Return losses of a card: backgrounds and automatic actions, at most 100."""
    places = places_of(card, _is_left_out, lambda step: step not in ("data", "fallback"))
    return tuple(
        Loss(path=f"{at}{place}", kind=_LEFT_OUT[str(key)], what=_what(value))
        for place, key, value in islice(places, _MAX_LOSSES)
    )


def _is_left_out(step: str | int, value: JsonValue) -> bool:
    return step in _LEFT_OUT and bool(value)


def _what(value: JsonValue) -> str:
    if isinstance(value, str):
        return value[:2000]
    if not isinstance(value, dict):
        return ""
    several = [string(value, key) for key in ("text", "url", "type", "verb")]
    several.append(string(object_at(value, "action"), "verb"))
    several += [string(button, "title") for button in objects(value, "buttons")]
    return " ".join(text for text in several if text)[:2000]
