"""Any card becomes messages that Teams takes, with all its words, once and in order; and cards of
Teams are the same cards again after they were written and read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from hashlib import sha256
from itertools import pairwise
from typing import Any, get_args

import orjson
import pytest
from hypothesis import Phase, given, settings

from bridge.content.cards import tree
from bridge.content.cards.rendering import Rendering, Written
from bridge.content.cards.tree import Button, Card, Chart, TextInput
from bridge.content.cards.walk import actions_of, walk
from bridge.content.text.tree import Timestamp
from connectors.teams.cards import read_message, write_card
from tests.connectors.teams.teams_rules import (
    corpus,
    faults,
    newer,
    objects,
    older,
    schema_faults,
    visible_texts,
)
from tests.content.card_strategies import cards, marks, marks_of
from tests.corpus.lcs import longest_common
from tests.examples import examples

DRAWN = settings(
    max_examples=examples(60),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # such cards take minutes to shrink
)


def token(path: str) -> str:
    """22 characters, like the bridge's own tokens."""
    return sha256(path.encode()).hexdigest()[:22]


RENDERINGS = {
    "heard": Rendering(token=token, origin="https://origin.example/1"),
    "with files": Rendering(token=token, uploads=True),
    "foreign": Rendering(origin="https://origin.example/1"),
    "without any link": Rendering(url_of=lambda asset: ""),
}
EACH = pytest.mark.parametrize("rendering", RENDERINGS.values(), ids=RENDERINGS)


@EACH
@given(cards())
@DRAWN
def test_every_message_obeys_teams_rules_and_loses_no_word_silently(
    rendering: Rendering, card: Card
) -> None:
    """In Teams and in clients without the newer elements. Within an image, an input, a chart or the
    label of a button the order may differ."""
    written = write_card(card, rendering)

    named = {mark for loss in written.losses for mark in marks(loss.what)}
    named |= _along(written) | _secrets(card) | _dates(card)
    in_charts = {
        m for node in walk(card.nodes) if isinstance(node, Chart) for m in marks_of((node,))
    }
    places = dict(_places(card, None))
    assert [fault for message in written.messages for fault in faults(dict(message.body))] == []
    for view in (newer, older):
        visible_text = list(_visible_texts(written, view))
        count = Counter(visible_text)
        assert [m for m in marks_of(card) if m not in count and m not in named] == []
        assert [m for m, times in count.items() if times > 1 and m not in in_charts] == []
        assert [pair for pair in pairwise(visible_text) if places[pair[0]] > places[pair[1]]] == []


@given(cards())
@DRAWN
def test_every_live_action_carries_its_token_or_is_reported(card: Card) -> None:
    written = write_card(card, RENDERINGS["heard"])

    sent = orjson.dumps([dict(message.body) for message in written.messages]).decode()
    named = {loss.path for loss in written.losses}
    live_actions = [
        action
        for action in actions_of(card)
        if not isinstance(action, Button) or action.does in ("press", "submit")
    ]
    within = [
        action.at
        for action in live_actions
        if token(action.at) not in sent and action.at not in named
    ]
    assert [at for at in within if "/fallback/" not in at] == []


@given(cards())
@DRAWN
def test_the_same_card_gives_the_same_bytes(card: Card) -> None:
    first, second = (write_card(card, RENDERINGS["heard"]) for _ in range(2))

    assert orjson.dumps([dict(message.body) for message in first.messages]) == orjson.dumps(
        [dict(message.body) for message in second.messages]
    )
    assert first == second


# --- with the corpus ----------------------------------------------------------------------------


@pytest.mark.skipif(corpus() is None, reason="UACS_CORPUS names no folder of payloads")
@given(cards())
@settings(DRAWN, max_examples=examples(30))
def test_every_card_satisfies_the_published_schemas(card: Card) -> None:
    written = write_card(card, RENDERINGS["heard"])

    contents = [attachment["content"] for message in written.messages
             for attachment in dict[str, Any](message.body).get("attachments", ())]  # fmt: skip
    assert [fault for attachment in contents for fault in schema_faults(attachment)] == []


@pytest.mark.skipif(corpus() is None, reason="UACS_CORPUS names no folder of payloads")
def test_corpus_cards_written_again_keep_nodes_order_and_actions() -> None:
    nodes = in_order = actions = usable = 0
    for name, native in _corpus_cards():
        card = read_message(native)
        written = write_card(card, RENDERINGS["heard"])
        assert [f for message in written.messages for f in faults(dict(message.body))] == [], name
        again = [node for m in written.messages for node in read_message(dict(m.body)).nodes]
        before, after = _kinds(card.nodes), _kinds(again)
        nodes += len(before)
        in_order += longest_common(before, after)
        sent = orjson.dumps([dict(message.body) for message in written.messages]).decode()
        for action in actions_of(card):
            actions += 1
            usable += _is_usable(action, sent, written)

    assert in_order >= 0.95 * nodes > 1000
    assert usable >= 0.99 * actions > 500


@cache
def _corpus_cards() -> tuple[tuple[str, Any], ...]:
    folder = corpus()
    assert folder is not None
    files = [*sorted((folder / "adaptive").glob("*.json")),
             *sorted((folder / "teams").rglob("*.json"))]  # fmt: skip
    return tuple(
        (f"{file.name} {index}", card_json)
        for file in files
        for index, card_json in enumerate(objects(orjson.loads(file.read_bytes())))
        if card_json.get("type") == "AdaptiveCard" and "body" in card_json
    )


def _is_usable(action: Any, sent: str, written: Written) -> bool:
    if not isinstance(action, Button) or action.does in ("press", "submit"):
        is_sent = token(action.at) in sent
    elif action.does == "open":
        is_sent = f'"{action.url}"' in sent
    else:
        is_sent = True
    return is_sent or any(loss.path == action.at for loss in written.losses)


def _kinds(nodes: Any) -> list[str]:
    """Return the types of all nodes; consecutive prose counts once."""
    kinds = [node.type for node in walk(nodes)]
    return [
        kind
        for before, kind in pairwise(["", *kinds])
        if kind != "prose" or before != "prose"
    ]  # fmt: skip


# --- visible texts ------------------------------------------------------------------------------


def _visible_texts(written: Written, view: Any) -> Iterator[str]:
    for message in written.messages:
        body: dict[str, Any] = dict(message.body)
        yield from marks(body.get("text", ""))
        for attachment in body.get("attachments", ()):
            for words in visible_texts(view(attachment["content"])):
                yield from marks(words)


def _along(written: Written) -> set[str]:
    """Return the words of files that are sent with the messages."""
    files = (asset for message in written.messages for asset in message.files)
    return {mark for asset in files for mark in marks(f"{asset.alt} {asset.name}")}


def _secrets(card: Card) -> set[str]:
    """Return the marks of passwords, which are shown as dots if nobody can fill them in."""
    inputs = (text_input for text_input in walk(card.nodes) if isinstance(text_input, TextInput))
    return {
        mark
        for text_input in inputs
        if text_input.format == "password"
        for mark in marks(text_input.value)
    }


def _dates(value: object) -> set[str]:
    """Return the words of timestamps that cannot be shown in the reader's time zone."""
    if isinstance(value, Timestamp):
        return set(marks(value.fallback))
    if isinstance(value, tuple):
        return {mark for item in value for mark in _dates(item)}  # pyright: ignore[reportUnknownVariableType]
    if is_dataclass(value):
        return _dates(tuple(getattr(value, field.name) for field in fields(value)))
    return set()


_LEAVES = (*get_args(tree.Input), tree.Image, tree.Chart, tree.Player, tree.File, tree.Option,
           tree.Credit)  # fmt: skip
_FACE = ("emoji", "label", "icon", "hint")


def _places(value: object, place: int | None) -> Iterator[tuple[str, int]]:
    """Yield each mark with its place: the first mark of its leaf."""
    if isinstance(value, str):
        yield from ((mark, _number(mark) if place is None else place) for mark in marks(value))
    elif isinstance(value, tuple):
        for item in value:
            yield from _places(item, place)
    elif is_dataclass(value):
        if place is None and isinstance(value, _LEAVES):
            place = _first((value,))
        face = place
        if place is None and isinstance(value, Button):
            face = _first(tuple(getattr(value, name) for name in _FACE))
        for field in fields(value):
            inner = getattr(value, field.name)
            yield from _places(inner, face if field.name in _FACE else place)


def _first(value: object) -> int | None:
    first_marks = marks_of(value)
    return _number(first_marks[0]) if first_marks else None


def _number(mark: str) -> int:
    return int(mark.removeprefix("mk"))
