"""Any card becomes messages that Slack accepts, with all words, once and in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from hashlib import sha256
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.content.cards.rendering import Rendering, Written
from bridge.content.cards.tree import Button, Card, Chart, Image, Input, Table, TextInput
from bridge.content.cards.walk import walk
from bridge.content.text.tree import Code, Emphasis, Inline, Link, Paragraph, Strong, Text
from bridge.content.text.tree import Table as TextTable
from connectors.slack.cards.write import write_card
from connectors.slack.cards.write_texts import document_to_mrkdwn
from connectors.slack.mrkdwn_writer import text_to_mrkdwn
from tests.connectors.slack.slack_rules import faults
from tests.content.card_strategies import cards, marks, marks_of
from tests.examples import examples

DRAWN = settings(
    max_examples=examples(40),
)


def token(path: str) -> str:
    """22 characters, like the bridge's own tokens."""
    return sha256(path.encode()).hexdigest()[:22]


RENDERINGS = {
    "heard": Rendering(token=token, origin="https://origin.example/1"),
    "with files": Rendering(token=token, uploads=True),
    "foreign": Rendering(token=None, origin="https://origin.example/1"),
    "without any link": Rendering(token=None, url_of=lambda asset: ""),
}
EACH = pytest.mark.parametrize("rendering", RENDERINGS.values(), ids=RENDERINGS)

_UNSEEN = frozenset(
    ("initial_option", "initial_options", "action_id", "value", "fallback", "categories", "confirm")
)


def visible_marks(written: Written) -> Iterator[str]:
    """The marks that a reader sees, in order; notifications are not shown beside blocks."""
    for message in written.messages:
        body = dict(message.body)
        if "blocks" in body or "attachments" in body:
            del body["text"]
        yield from _visible_in(body)


def along(written: Written) -> set[str]:
    """The marks of the files that are attached to the messages."""
    files = (asset for message in written.messages for asset in message.files)
    return {mark for asset in files for mark in marks(f"{asset.alt} {asset.name}")}


def question_marks(value: Any) -> Iterator[str]:
    """The marks in confirmation dialogs, which a reader sees later."""
    if isinstance(value, list):
        for member in value:
            yield from question_marks(member)
    elif isinstance(value, dict):
        for key, member in value.items():
            yield from (
                marks(orjson.dumps(member).decode()) if key == "confirm" else question_marks(member)
            )


def _visible_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from marks(value)
    elif isinstance(value, list):
        for member in value:
            yield from _visible_in(member)
    elif isinstance(value, dict):
        for key, member in value.items():
            if key not in _UNSEEN or _is_visible_here(key, value):
                yield from _visible_in(member)


def _is_visible_here(key: str, value: dict[str, Any]) -> bool:
    """Whether it is an option without another list, or the fallback of a date."""
    if key == "fallback":
        return value.get("type") == "date"
    return key.startswith("initial_option") and not {"options", "option_groups"} & set(value)


def _headers(value: object) -> set[str]:
    """The marks of table headers, which every part of a long table repeats."""
    header_marks: set[str] = set()
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, TextTable):
            header_marks |= set(marks_of(item.header))
        elif isinstance(item, Table):
            header_marks |= set(marks_of(item.rows[:1]))
        elif isinstance(item, Chart):
            header_marks |= set(marks_of(item))
        if isinstance(item, tuple):
            stack += item
        elif is_dataclass(item):
            stack += [getattr(item, field.name) for field in fields(item)]
    return header_marks


def _asides(card: Card) -> set[str]:
    """The marks of hints and placeholders of inputs and buttons, and of alternative texts, whose
    place depends on the platform."""
    aside_marks: set[str] = set()
    for node in walk(card.nodes):
        if isinstance(node, Image):
            aside_marks |= set(marks(node.asset.alt))
        if isinstance(node, Chart):
            aside_marks |= set(marks_of(node))
        if isinstance(node, Input):
            aside_marks |= {*marks_of(node.hint), *marks(node.placeholder), *marks(node.error)}
        if isinstance(node, Input | Button):
            aside_marks |= set(marks_of(node.confirm))
    return aside_marks


def _secrets(card: Card) -> set[str]:
    inputs = (node for node in walk(card.nodes) if isinstance(node, TextInput))
    return {mark for node in inputs if node.format == "password" for mark in marks(node.value)}


def refused(written: Written) -> list[str]:
    """The faults for which Slack would refuse the messages; a message of files has no body."""
    bodies = [message.body for message in written.messages if message.body or not message.files]
    return [fault for body in bodies for fault in faults(body)]


def check_words(card: Card, written: Written) -> None:
    visible = list(visible_marks(written))
    later = {mark for message in written.messages for mark in question_marks(message.body)} | along(
        written
    )
    lost = {mark for loss in written.losses for mark in marks(loss.what)}
    assert set(marks_of(card)) - set(visible) - later - lost - _secrets(card) == set()
    again = {mark for mark, count in Counter(visible).items() if count > 1}
    assert again - lost - _headers(card) == set()
    aside = lost | _asides(card)
    once = [int(mark[2:]) for mark in dict.fromkeys(visible) if mark not in aside]
    assert once == sorted(once)


@EACH
@DRAWN
@given(card=cards())
def test_every_written_message_obeys_slacks_rules(rendering: Rendering, card: Card) -> None:
    written = write_card(card, rendering)

    assert written.messages
    assert refused(written) == []


@EACH
@DRAWN
@given(card=cards())
def test_every_word_is_shown_once_in_order_or_reported_as_a_loss(
    rendering: Rendering, card: Card
) -> None:
    check_words(card, write_card(card, rendering))


@pytest.mark.long
@pytest.mark.timeout(3600)
@settings(DRAWN, max_examples=1_500)
@given(card=cards(3))
def test_large_cards_obey_slacks_rules_and_lose_no_word_silently(card: Card) -> None:
    for rendering in RENDERINGS.values():
        written = write_card(card, rendering)

        assert refused(written) == []
        check_words(card, written)


_PLAIN = st.builds(Text, st.text("ab1 .,•-—&<*:|é", min_size=1, max_size=6))
_SIMPLE = st.one_of(
    _PLAIN,
    *(st.builds(style, st.tuples(_PLAIN)) for style in (Strong, Emphasis)),
    st.builds(Code, st.text("ab `", min_size=1, max_size=3)),
    st.builds(
        Link, st.sampled_from(("https://e.example/a?b=1", "mailto:a@b.c")), st.tuples(_PLAIN)
    ),
)


@given(st.lists(_SIMPLE, max_size=4).map(tuple))
@settings(max_examples=examples(500))
def test_inline_and_document_writers_give_the_same_mrkdwn(line: tuple[Inline, ...]) -> None:
    written = text_to_mrkdwn((Paragraph(line),))

    assert document_to_mrkdwn((Paragraph(line),)) == (written if written.strip("\u200b ") else "")


@DRAWN
@given(card=cards())
def test_the_same_card_gives_the_same_bytes(card: Card) -> None:
    first, second = (write_card(card, RENDERINGS["heard"]) for _ in range(2))

    assert first == second
    assert [orjson.dumps(message.body) for message in first.messages] == [
        orjson.dumps(message.body) for message in second.messages
    ]
