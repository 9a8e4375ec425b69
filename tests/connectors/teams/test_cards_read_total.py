"""Any JSON is read or refused, however malformed, deep or large, in bounded time."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from bridge.content.cards.json import card_from_json, card_to_json
from bridge.content.cards.rendering import Payload
from bridge.content.cards.tree import Card
from bridge.content.cards.walk import actions_of, walk
from bridge.errors import CodecError
from connectors.teams.cards import (
    SCHEMA_IDS,
    left_out,
    payloads,
    read_message,
    read_payload,
    unexpanded,
)
from connectors.teams.cards.read_adaptive import READERS
from tests.connectors.teams.cards import ADAPTIVE, Json, card, read
from tests.examples import examples, large

INNERMOST_WORD = "core"  # the innermost word
TEXT: Json = {"type": "TextBlock", "text": INNERMOST_WORD}

KEYS = (
    "type", "text", "title", "label", "value", "items", "body", "actions", "columns", "rows",
    "cells", "pages", "images", "inlines", "facts", "choices", "card", "content", "selectAction",
    "inlineAction", "menuActions", "fallback", "requires", "isVisible", "id", "targetElements",
    "style", "size", "width", "url", "data", "sources", "values", "segments", "choices.data",
    "separator", "attachments", "contentType", "entities", "suggestedActions", "channelData",
    "textFormat", "attachmentLayout", "sections", "potentialAction", "@type", "inputs", "buttons",
    "mentions", "msteams", "resources", "references", "template", "$data", "name", "properties",
    "tap", "media", "duration", "max", "maxLength", "isRequired", "contentUrl",
)  # fmt: skip
WORDS = (
    *READERS, *SCHEMA_IDS, "application/vnd.microsoft.card.adaptive", "text/html", "text/plain",
    "message", "MessageCard", "drop", "auto", "stretch", "50px", "carousel", "html", "heading",
    "mention", "imBack", "openUrl", "signin", "https://a.example", "icon:Send", "ActionCard",
    "<p>a <b>b</p>", "<at>x</at>", '<attachment id="x">', "**a** _b_ [c](d)", "- a\n1. b",
    "{{DATE(2024-01-01T00:00:00Z)}}", "${a}", "", " ", "0", "9" * 400, "\ud800", "\x00",
)  # fmt: skip

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=True),
    st.sampled_from(WORDS),
    st.text(max_size=8),
)
ANY = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=4), inner, max_size=6),
    ),
    max_leaves=40,
)


def check(native: JsonValue) -> None:
    """Check that every reader function accepts the message and is deterministic."""
    try:
        message_card = read_message(native, "T")
    except CodecError:
        return
    assert read_message(native, "T") == message_card
    assert isinstance(message_card, Card)
    for _ in walk(message_card.nodes):
        pass
    for payload in payloads(native):
        unexpanded(payload)
        left_out(payload)


@settings(max_examples=examples(150))
@given(ANY)
def test_any_json_is_read_or_refused(native: JsonValue) -> None:
    check(native)
    check({"type": "AdaptiveCard", "body": [native]})
    check({"type": "message", "attachments": [native]})


@settings(max_examples=examples(150))
@given(
    st.sampled_from(sorted(READERS)),
    st.dictionaries(st.sampled_from(KEYS), ANY, max_size=6),
)
def test_any_element_is_read_or_refused(kind: str, element: dict[str, JsonValue]) -> None:
    check({"type": "AdaptiveCard", "body": [{**element, "type": kind}]})


@settings(max_examples=examples(150))
@given(st.sampled_from(sorted(SCHEMA_IDS | {""})), ANY)
def test_any_payload_is_read_or_refused(schema_id: str, data: JsonValue) -> None:
    payload = Payload(schema_id, data, "/x")

    with suppress(CodecError):
        assert isinstance(read_payload(payload, "T"), Card)
        unexpanded(payload)
        left_out(payload)


WHOLE: Json = card(
    {"type": "TextBlock", "text": "**a** [b](https://a.example) <at>c</at>", "style": "heading"},
    {"type": "RichTextBlock", "inlines": ["a", {"type": "TextRun", "text": "b", "italic": True}]},
    {"type": "ColumnSet", "columns": [
        {"type": "Column", "width": "auto", "items": [{"type": "Image", "url": "https://a.example"}]},
        {"type": "Column", "items": [TEXT], "selectAction": {"type": "Action.Submit"}},
    ]},
    {"type": "Table", "columns": [{"width": 1}], "rows": [{"cells": [{"items": [TEXT]}]}]},
    {"type": "FactSet", "facts": [{"title": "a", "value": "b"}]},
    {"type": "Input.ChoiceSet", "id": "x", "choices": [{"title": "a", "value": "1"}]},
    {"type": "Chart.Line", "data": [{"legend": "a", "values": [{"x": "b", "y": 1}]}]},
    {"type": "Carousel", "pages": [{"type": "CarouselPage", "items": [TEXT]}]},
    actions=[
        {"type": "Action.ShowCard", "title": "a", "card": {"type": "AdaptiveCard", "body": [TEXT]}},
        {"type": "Action.ToggleVisibility", "targetElements": ["x"]},
    ],
)  # fmt: skip


def places(value: JsonValue, way: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    paths = [way] if way else []
    if isinstance(value, dict):
        return paths + [place for key, item in value.items() for place in places(item, (*way, key))]
    if isinstance(value, list):
        return paths + [place for i, item in enumerate(value) for place in places(item, (*way, i))]
    return paths


def changed(value: JsonValue, way: tuple[str | int, ...], new: JsonValue) -> JsonValue:
    if not way:
        return new
    first, *below = way
    if isinstance(value, dict):
        key = cast("str", first)
        return {**value, key: changed(value[key], tuple(below), new)}
    several = cast("list[JsonValue]", value)
    index = cast("int", first)
    return [*several[:index], changed(several[index], tuple(below), new), *several[index + 1 :]]


@settings(max_examples=examples(200))
@given(st.sampled_from(places(WHOLE)), ANY)
def test_a_card_with_any_value_replaced_is_read_or_refused(
    way: tuple[str | int, ...], new: JsonValue
) -> None:
    check(changed(WHOLE, way, new))


# --- deep nesting ---------------------------------------------------------------------------

Nest = Callable[[JsonValue, int], JsonValue]

NESTS: dict[str, tuple[int, Nest]] = {
    "containers": (2, lambda x, _: {"type": "Container", "items": [x]}),
    "columns": (4, lambda x, _: {"type": "ColumnSet", "columns": [{"items": [x]}]}),
    "tables": (6, lambda x, _: {"type": "Table", "rows": [{"cells": [{"items": [x]}]}]}),
    "cards behind buttons": (5, lambda x, i: {
        "type": "ActionSet",
        "actions": [{"type": "Action.ShowCard", "title": f"w{i}", "card": {"body": [x]}}],
    }),
    "popovers": (2, lambda x, i: {
        "type": "Container",
        "selectAction": {"type": "Action.Popover", "title": f"w{i}", "content": x},
    }),
    "runs": (4, lambda x, i: {
        "type": "RichTextBlock",
        "inlines": [{"text": f"w{i}", "selectAction": {"type": "Action.Popover", "content": x}}],
    }),
    "inline actions": (3, lambda x, i: {
        "type": "Input.Text", "label": f"w{i}",
        "inlineAction": {"type": "Action.ShowCard", "title": "t", "card": x},
    }),
    "menus": (2, lambda x, i: {"type": "Action.Submit", "title": f"w{i}", "menuActions": [x]}),
    "hidden boxes": (2, lambda x, _: {"type": "Container", "isVisible": False, "items": [x]}),
    "pages": (4, lambda x, i: {
        "type": "Accordion",
        "pages": [{"type": "AccordionPage", "headerTitle": f"w{i}", "items": [x]}],
    }),
    "unknown elements": (1, lambda x, i: {"type": "Unknown", "title": f"w{i}", "inner": x}),
    "unknown boxes": (3, lambda x, i: {
        "type": "Unknown", "title": f"w{i}", "inner": {"type": "Container", "items": [x]},
    }),
    "fallbacks": (1, lambda x, _: {"type": "Unknown", "fallback": x}),
    "boxes that ask for a fallback": (2, lambda x, _: {
        "type": "Container", "items": [{"type": "Unknown"}], "fallback": x,
    }),
    "charts": (3, lambda x, i: {"type": "Chart.Pie", "title": f"w{i}", "data": [x]}),
    "words that are none": (1, lambda x, _: {"type": "Badge", "text": x}),
    "stray items": (2, lambda x, _: {"type": "Badge", "items": [x]}),
}  # fmt: skip


@pytest.mark.parametrize("name", NESTS)
def test_deeply_nested_elements_are_flattened_and_complete(name: str) -> None:
    levels, nest = NESTS[name]
    count = 970 // levels
    nested: JsonValue = TEXT
    for number in range(count):
        nested = nest(nested, number)

    read_back = read(card(nested))

    written = json.dumps(card_to_json(read_back))
    assert f'"{INNERMOST_WORD}"' in written
    if "w0" in json.dumps(nest(TEXT, 0)):
        missing = [i for i in range(count) if f'"w{i}"' not in written]
        assert missing == []
    assert card_from_json(json.loads(written)) is not None  # 200 levels at most
    actions = [action.at for action in actions_of(read_back)]
    assert len(actions) == len(set(actions))


@pytest.mark.parametrize(
    ("shell", "times"),
    [
        (lambda inner: {"type": "ColumnSet", "columns": [inner]}, 480),
        (lambda inner: {"type": "AdaptiveCard", "body": [inner]}, 480),
        (lambda inner: {"type": "AdaptiveCard", "actions": [inner]}, 480),
        (lambda inner: {"type": "Table", "rows": [{"cells": [inner]}]}, 240),
        (lambda inner: {"type": "ImageSet", "images": [inner]}, 480),
        (lambda inner: {"type": "Carousel", "pages": [inner]}, 480),
    ],
)
def test_repeatedly_nested_elements_show_their_text_once(shell: Any, times: int) -> None:
    nested: JsonValue = TEXT
    for _ in range(times):
        nested = shell(nested)

    assert json.dumps(card_to_json(read_message(card(nested)))).count(INNERMOST_WORD) == 1


def test_json_nested_more_than_a_thousand_levels_deep_is_refused() -> None:
    nested: JsonValue = TEXT
    for _ in range(600):
        nested = {"type": "Container", "items": [nested]}

    with pytest.raises(CodecError, match="nested more than 1000 levels"):
        read_message(card(nested))


# --- large ----------------------------------------------------------------------------------

BUTTON: Json = {"type": "Action.Submit", "title": "a"}
LARGE: dict[str, Any] = {
    "texts": [TEXT] * large(100_000),
    "markdown": [{"type": "TextBlock", "text": "**a _b "}] * large(100_000),
    "one text": [{"type": "TextBlock", "text": "**a _b [c](" * large(300_000)}],
    "runs": [{"type": "RichTextBlock", "inlines": ["<at>x</at>"] * large(100_000)}],
    "facts": [{"type": "FactSet", "facts": [{"title": "a", "value": "b"}] * large(60_000)}],
    "buttons": [{"type": "ActionSet", "actions": [BUTTON] * large(50_000)}],
    "cells": [{"type": "Table", "rows": [{"cells": [{"items": [TEXT]}] * 10}] * 5_000}],
    "choices": [
        {"type": "Input.ChoiceSet", "choices": [{"title": "a", "value": "b"}] * large(60_000)}
    ],
    "unknown": [{"type": "Unknown", "a": [{"text": "x"}] * large(100_000)}],
    "points": [{"type": "Chart.Line", "data": [{"values": [{"x": "a", "y": 1}] * large(100_000)}]}],
    "targets": [{"type": "Action.ToggleVisibility", "targetElements": ["a"] * large(500_000)}],
}  # fmt: skip


@pytest.mark.parametrize("name", LARGE)
def test_large_cards_take_seconds(name: str) -> None:
    native = card(*LARGE[name])

    started = time.process_time()
    read_message(native)
    unexpanded(Payload(ADAPTIVE, native))

    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    "text",
    [
        "<" * 1_000_000,
        "<a " * large(300_000),
        "<at>" * large(200_000),
        "<blockquote itemtype='http://schema.skype.com/Reply'>" * large(15_000),
        '<img itemtype="http://schema.skype.com/AMSImage">' * large(15_000),
        '<attachment id="x">' * large(40_000),
        "**" * large(400_000),
        "[" * large(800_000),
    ],
)
def test_large_texts_take_seconds(text: str) -> None:
    html: JsonValue = {"contentType": "text/html", "content": text}
    pictures: list[JsonValue] = [{"contentType": "image/png", "id": "x"}] * large(10_000)

    started = time.process_time()
    read_message({"type": "message", "text": text, "attachments": [html, *pictures]})
    read_message({"body": {"contentType": "html", "content": text}, "attachments": pictures})

    assert time.process_time() - started < 10


def test_a_card_is_read_quickly_enough() -> None:
    started = time.process_time()
    for _ in range(300):
        read(WHOLE)

    assert time.process_time() - started < 6  # a third of a millisecond each is usual
