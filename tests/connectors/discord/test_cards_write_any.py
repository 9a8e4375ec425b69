"""Any card: the messages obey Discord's rules, and no word or action is lost silently."""

from __future__ import annotations

import json
import os
import re
import time
from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, get_args

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from bridge.content.cards.rendering import Rendering, Written
from bridge.content.cards.tree import (
    Actions,
    Asset,
    Button,
    Card,
    Chart,
    Choice,
    Container,
    Credit,
    Divider,
    Fields,
    File,
    Form,
    Gallery,
    Image,
    Input,
    LabelledValue,
    Option,
    Player,
    Prose,
    Section,
    Table,
    TextInput,
)
from bridge.content.cards.walk import walk
from bridge.content.text.tree import ChannelLink, Paragraph, Text, Timestamp
from bridge.content.text.tree import Table as TextTable
from connectors.discord.cards import form_behind, read_message, token_of, write_card, write_form
from tests.connectors.discord.discord_rules import all_components, faults, modal_faults, read_aloud
from tests.content.card_strategies import (
    DOCUMENTS,
    LINES,
    TEXTS,
    WORDS,
    cards,
    marked,
    marks,
    marks_of,
)
from tests.examples import examples, large

SCHEMA = Path(os.environ.get("UACS_CORPUS", "/nowhere")) / "schemas" / "discord" / "openapi.json"
ORIGIN = "https://slack.example/archives/C1/p1"


def token(path: str) -> str:
    return urlsafe_b64encode(sha256(path.encode()).digest()[:16]).decode().rstrip("=")


RENDERINGS = (
    Rendering(token=token, origin=ORIGIN, uploads=True),
    Rendering(token=token),
    Rendering(origin=ORIGIN),
    Rendering(),
)
CARDS = cards()
_PICTURES = st.builds(lambda alt: Image(Asset(url="https://x.example/a.png", alt=alt)), WORDS)
_PLAIN_LINES = st.builds(lambda words: (Text(words),), st.one_of(WORDS, TEXTS))
_VALUES = st.builds(
    LabelledValue, _PLAIN_LINES, st.builds(lambda line: (Paragraph(line),), LINES), st.booleans()
)
PANELS = st.builds(
    lambda prose, fields, picture, **header_and_footer: Container(
        (*prose, *fields, *picture), form="panel", **header_and_footer
    ),
    prose=st.lists(st.builds(Prose, DOCUMENTS), max_size=3),
    fields=st.lists(st.builds(Fields, st.lists(_VALUES, max_size=30).map(tuple)), max_size=2),
    picture=st.one_of(
        st.lists(_PICTURES, max_size=1),
        st.lists(_PICTURES, min_size=2, max_size=4).map(lambda some: [Gallery(tuple(some))]),
    ),
    title=_PLAIN_LINES,
    author=st.none() | st.builds(Credit, _PLAIN_LINES),
    footer=st.none() | st.builds(Credit, _PLAIN_LINES),
    color=st.sampled_from((None, 7)),
)
_LONG = settings(
    max_examples=examples(60),
)


@_LONG
@given(CARDS, st.sampled_from(RENDERINGS))
def test_every_written_message_obeys_discords_rules(card: Card, rendering: Rendering) -> None:
    for message in write_card(card, rendering).messages:
        orjson.dumps(message.body)
        assert faults(message.body, [file.name for file in message.files]) == []


@_LONG
@given(CARDS, st.sampled_from(RENDERINGS))
def test_every_word_is_written_once_in_order_or_reported_as_a_loss(
    card: Card, rendering: Rendering
) -> None:
    written = write_card(card, rendering)
    marks_shown, named = (
        marks_in_messages(written),
        {mark for loss in written.losses for mark in marks(loss.what)},
    )
    apart = Apart(card)

    present = {*marks_shown, *named, *apart.unseen}
    missing = [mark for mark in marks_of(card) if mark not in present]
    twice = [mark for mark, times in Counter(marks_shown).items() if times > 1]
    order = [
        apart.place(mark_text)
        for mark_text in dict.fromkeys(marks_shown)
        if mark_text not in apart.anywhere
    ]

    assert missing == []
    assert [mark for mark in twice if mark not in apart.repeated] == []
    assert order == sorted(order)


@_LONG
@given(st.lists(PANELS, min_size=1, max_size=4).map(lambda some: marked(Card(tuple(some)))))
def test_text_panels_lose_no_word_and_are_embeds_where_they_fit(card: Card) -> None:
    written = write_card(card, RENDERINGS[1])
    marks_shown, apart = marks_in_messages(written), Apart(card)

    for message in written.messages:
        assert faults(message.body) == []
    present = {*marks_shown, *apart.unseen}
    missing = [mark for mark in marks_of(card) if mark not in present]
    # Embeds with one address are one box: its pictures stand together, whatever embed has them.
    pictures = {
        mark for node in walk(card.nodes) if isinstance(node, Image) for mark in marks_of(node)
    }
    freely = apart.anywhere | pictures
    order = [
        int(mark_text[2:]) for mark_text in dict.fromkeys(marks_shown) if mark_text not in freely
    ]
    assert missing == []
    assert order == sorted(order)


@_LONG
@given(CARDS)
def test_every_action_is_written_or_reported_as_a_loss(card: Card) -> None:
    written = write_card(card, RENDERINGS[0])
    named = {loss.path for loss in written.losses}
    ids = {
        token_of(custom_id)
        for message in written.messages
        for custom_id in custom_ids(message.body)
    }
    urls = " ".join(read_aloud(message.body) for message in written.messages)

    for node in walk(card.nodes):
        if isinstance(node, Button) and node.does == "open":
            assert node.at in named or node.url[:18] in urls.replace("\\", "")
        elif isinstance(node, Button | Input):
            assert token(node.at) in ids or node.at in named


@_LONG
@given(CARDS, st.sampled_from(RENDERINGS))
def test_writing_is_deterministic_and_its_result_can_be_read(
    card: Card, rendering: Rendering
) -> None:
    written = write_card(card, rendering)

    assert write_card(card, rendering) == written
    for message in written.messages:
        assert isinstance(read_message(dict(message.body)), Card)


@_LONG
@given(CARDS)
def test_every_modal_obeys_discords_rules_and_loses_no_word_silently(card: Card) -> None:
    written = write_form(Form("mk0 form", card.nodes, at="/f"), RENDERINGS[0])
    marks_shown = marks_in_messages(written)
    named = {mark for loss in written.losses for mark in marks(loss.what)}
    apart = Apart(card)

    for message in written.messages:
        orjson.dumps(message.body)
        assert modal_faults(message.body) == []
    present = {*marks_shown, *named, *apart.unseen}
    missing = [mark for mark in marks_of(card) if mark not in present]
    assert missing == []


@_LONG
@given(CARDS)
def test_every_form_button_has_a_form(card: Card) -> None:
    written = write_card(card, RENDERINGS[0])
    in_forms = {loss.path for loss in written.losses if loss.kind == "input_in_form"}
    buttons = [
        node
        for node in walk(card.nodes)
        if isinstance(node, Button | Input) and form_behind(card, node)
    ]

    assert bool(in_forms) <= bool(buttons)


@pytest.mark.skipif(not SCHEMA.is_file(), reason="UACS_CORPUS names no folder of schemas")
@settings(_LONG, max_examples=examples(30))
@given(CARDS, st.sampled_from(RENDERINGS))
def test_every_body_satisfies_the_published_schema(card: Card, rendering: Rendering) -> None:
    for message in write_card(card, rendering).messages:
        assert faults_by_schema("IncomingWebhookRequestPartial", message.body) == []


@pytest.mark.skipif(not SCHEMA.is_file(), reason="UACS_CORPUS names no folder of schemas")
@settings(_LONG, max_examples=examples(30))
@given(CARDS)
def test_every_modal_satisfies_the_published_schema(card: Card) -> None:
    for message in write_form(Form("Form", card.nodes, at="/f"), RENDERINGS[0]).messages:
        assert faults_by_schema("ModalInteractionCallbackRequestData", message.body) == []


# --- large ----------------------------------------------------------------------------------

LARGE: dict[str, Card] = {
    "one text": Card((Prose((Paragraph((Text("word *x* " * large(500_000)),)),)),)),
    "buttons": Card((Actions((Button((Text("Go"),), at="/same"),) * large(50_000)),)),
    "pictures": Card((Gallery((Image(Asset(file_id="blob:x", name="a.png")),) * large(30_000)),)),
    "sections": Card((Section((Prose((Paragraph((Text("x"),)),)),), Divider()),) * large(30_000)),
    "options": Card((Choice(options=(Option((Text("o"),), "v"),) * large(50_000), at="/c"),)),
    "panels": Card(
        (Container((Prose((Paragraph((Text("x"),)),)),), form="panel"),) * large(30_000)
    ),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_cards_are_written_in_bounded_time(name: str) -> None:
    before = time.process_time()

    assert write_card(LARGE[name], RENDERINGS[0]).messages
    assert time.process_time() - before < 60


# --- visible texts --------------------------------------------------------------------------


def marks_in_messages(written: Written) -> list[str]:
    """Return the marks that people read; a word that was cut ends in dots and is not a mark."""
    whole = " ".join(read_aloud(message.body) for message in written.messages)
    return marks(re.sub(r"\w+…", "", whole.replace("\\", "")))


def custom_ids(body: Any) -> Iterator[str]:
    for component in all_components(body.get("components", ())):
        yield component.get("custom_id", "")


_WITH_OWN_ORDER = (*get_args(Input), Chart, Image, Player, File)


class Apart:
    """Marks of a card that are not plain words in reading order.

    - `unseen`: passwords, and the fallbacks of times and channels that Discord shows itself;
    - `repeated`: table headers, which each row or part repeats, and numbers of charts;
    - `anywhere`: the repeated ones, and those of accessories;
    - the marks of one input, chart, image, video or file have their own order.
    """

    def __init__(self, card: Card) -> None:
        self.unseen: set[str] = set()
        self.repeated: set[str] = set()
        self.anywhere: set[str] = set()
        self._places: dict[str, int] = {}
        stack: list[object] = [card]
        while stack:
            item = stack.pop()
            self._note(item)
            if isinstance(item, tuple):
                stack += item
            elif is_dataclass(item):
                stack += [getattr(item, field.name) for field in fields(item)]
        self.anywhere |= self.repeated | self.unseen

    def place(self, mark: str) -> int:
        return self._places.get(mark, int(mark[2:]))

    def _note(self, value: object) -> None:
        match value:
            case Timestamp(fallback=name) | ChannelLink(name=name):
                self.unseen |= {*marks(name)}
            case Table(rows=(head, *_)):
                self.repeated |= {*marks_of(head)}
            case TextTable(header):
                self.repeated |= {*marks_of(header)}
            case Chart():
                self.repeated |= {*marks_of(value)}
            case Container(thumbnail=Image() as beside) | Section(accessory=Image() as beside):
                self.anywhere |= {*marks(beside.asset.alt)}
            case _:
                pass
        if isinstance(value, TextInput) and value.format == "password":
            self.unseen |= {*marks(value.value)}
        if isinstance(value, _WITH_OWN_ORDER) and (own := marks_of(value)):
            first = min(int(mark[2:]) for mark in own)
            self._places |= dict.fromkeys(own, first)


# --- the published schema -------------------------------------------------------------------


@cache
def validator(name: str) -> Draft202012Validator:
    whole = json.loads(SCHEMA.read_text("utf-8"))
    return Draft202012Validator({"$ref": f"#/components/schemas/{name}", **whole})


def faults_by_schema(name: str, body: Any) -> list[str]:
    return [error.message[:300] for error in validator(name).iter_errors(body)]
