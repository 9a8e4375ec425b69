"""Reading any input: corpus messages, arbitrary and malformed JSON, deep and large payloads."""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.content.cards.rendering import Rendering
from bridge.content.cards.tree import (
    Card,
    Container,
    File,
    FileInput,
    Gallery,
    Image,
    LabelledValue,
    Native,
    Nodes,
    Player,
    Prose,
    TextInput,
    Toggle,
)
from bridge.content.cards.walk import walk
from bridge.content.text.tree import ChannelLink, GroupMention, Mention
from bridge.errors import CodecError
from connectors.discord.cards import (
    payloads,
    read_form,
    read_message,
    read_payload,
    write_card,
    write_form,
)
from tests.examples import examples, large

CORPUS = Path(os.environ.get("UACS_CORPUS", "/nowhere")) / "discord"
needs_corpus = pytest.mark.skipif(
    not CORPUS.is_dir(), reason="UACS_CORPUS names no folder of payloads"
)
_WORD = re.compile(r"[^\W_]+")
_MARKUP = re.compile(r"<[@#:t/a][^<>]*>|https?://\S+")
_QUICK = settings(max_examples=examples(150))


def files() -> list[Path]:
    return sorted(CORPUS.rglob("*.json"))


# --- real messages --------------------------------------------------------------------------


@needs_corpus
def test_every_corpus_message_is_read_or_refused_with_a_reason() -> None:
    refused: dict[Path, str] = {}
    for file in files():
        try:
            read_message(orjson.loads(file.read_bytes()))
        except CodecError as error:
            refused[file] = error.reason

    assert len(files()) - len(refused) > 100
    assert all(refused.values())
    assert [file for file in refused if file.parent.name == "messages"] == []


@needs_corpus
def test_the_card_of_a_corpus_message_has_every_visible_word() -> None:
    missing: dict[str, Counter[str]] = {}
    for file in files():
        native = orjson.loads(file.read_bytes())
        try:
            card_words = words(read_message(native))
        except CodecError:
            continue
        expected = Counter(word for text in visible_texts(inner(native)) for word in spoken(text))
        if lost := expected - card_words:
            missing[file.name] = lost

    assert missing == {}


@needs_corpus
def test_reading_payload_by_payload_gives_the_nodes_of_the_whole_message() -> None:
    for file in files():
        native = orjson.loads(file.read_bytes())
        try:
            parts = payloads(native)
        except CodecError:
            continue
        by_parts = [node.type for part in parts for node in read_payload(part).nodes]
        assert by_parts == [node.type for node in read_message(native).nodes], file.name


@needs_corpus
def test_a_corpus_message_read_and_written_again_keeps_nodes_order_and_actions() -> None:
    """Nodes, their order and the actions: native -> card -> native -> card."""
    rendering = Rendering(token=lambda at: re.sub(r"\W", "-", at) or "-", uploads=True)
    preserved = total = 0
    for message_card in read_messages():
        home = write_card(message_card, rendering)
        again = [
            node for message in home.messages for node in read_message(dict(message.body)).nodes
        ]
        preserved += common(elements(message_card.nodes), elements(tuple(again)))
        total += len(elements(message_card.nodes))

    assert total > 200
    assert preserved >= 0.95 * total, f"{preserved} of {total}"


def read_messages() -> Iterator[Card]:
    """Yield the corpus messages with their files in our store, as after admission."""
    for file in files():
        with suppress(CodecError):
            message_card = read_message(orjson.loads(file.read_bytes()))
            is_modal = any(isinstance(node, Container) and node.id for node in message_card.nodes)
            if file.parent.name != "objects" and not is_modal and not is_input(message_card):
                yield admitted(message_card)


def is_input(card: Card) -> bool:
    return any(isinstance(node, TextInput | FileInput | Toggle) for node in card.nodes)


def admitted(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(admitted(item) for item in value)
    sent_along = isinstance(value, Image | Player) and bool(value.asset.file_id)
    is_sound = isinstance(value, Player) and value.kind == "audio"
    if sent_along or is_sound or isinstance(value, File):
        asset = replace(value.asset, url="", file_id="blob:sha256-" + "0" * 64)
        return replace(value, asset=asset)
    if isinstance(value, Gallery):
        return replace(value, items=admitted(value.items))
    if is_dataclass(value) and hasattr(value, "nodes"):
        return replace(value, nodes=admitted(value.nodes))  # pyright: ignore
    return value


@needs_corpus
def test_a_corpus_modal_read_and_written_again_is_complete() -> None:
    count = 0
    for file in files():
        native = orjson.loads(file.read_bytes())
        payload = inner(native)
        if not isinstance(payload, dict) or not payload.get("title") or "components" not in payload:
            continue
        form = read_form(native)
        home = write_form(form, Rendering())
        again = [read_form(dict(message.body)) for message in home.messages]
        count += 1
        assert [copy.title for copy in again] == [form.title], file.name
        assert [elements(copy.nodes) for copy in again] == [elements(form.nodes)], file.name

    assert count > 8


def elements(nodes: Nodes) -> list[tuple[str, list[str]]]:
    """Return each visible node as its type and its words; texts by paragraph."""
    pairs: list[tuple[str, list[str]]] = []
    for node in walk(nodes):
        if isinstance(node, Prose):
            pairs += [("prose", sorted(words(block))) for block in node.text]
        elif not isinstance(node, Native):
            pairs.append((node.type, sorted(words(visible_values(node)))))
    return pairs


def visible_values(node: Any) -> tuple[Any, ...]:
    """Return the words of a node itself, without those of its children."""
    names = ("text", "title", "author", "footer", "label", "hint", "placeholder", "question")
    values = [getattr(node, name, ()) for name in names]
    values += [item for item in getattr(node, "items", ()) if isinstance(item, LabelledValue)]
    values += [(option.label, option.description) for option in getattr(node, "options", ())]
    if isinstance(node, Image):
        return (*values, node.asset.alt)
    return (*values, getattr(getattr(node, "asset", None), "name", ""))


def common(first: list[Any], second: list[Any]) -> int:
    """Return the length of the longest common subsequence."""
    row = [0] * (len(second) + 1)
    for a in first:
        before = 0
        for index, b in enumerate(second, 1):
            before, row[index] = (
                row[index],
                before + 1 if a == b else max(row[index], row[index - 1]),
            )
    return row[-1]


def inner(native: Any) -> Any:
    """Return the message inside Discord's envelopes."""
    for key in ("d", "data", "message"):
        if isinstance(native, dict) and isinstance(native.get(key), dict):
            member = native[key]
            if {"content", "components", "embeds"} & member.keys():
                return member
    return native


def spoken(text: str) -> list[str]:
    return _WORD.findall(_MARKUP.sub(" ", text))


def words(value: object) -> Counter[str]:
    """Return all words of a card."""
    counts: Counter[str] = Counter()
    stack: list[object] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            counts.update(spoken(item))
        elif isinstance(item, tuple):
            stack += item
        elif isinstance(item, Mention | GroupMention | ChannelLink):
            stack.append(item.name)
        elif is_dataclass(item):
            names = (field.name for field in fields(item))
            stack += [
                getattr(item, name) for name in names if name not in ("at", "type", "payload")
            ]
    return counts


def visible_texts(native: Any) -> Iterator[str]:
    """Return the visible texts of a message, by Discord's documentation."""
    if isinstance(native, list):
        for item in native:
            yield from visible_texts(item)
    if not isinstance(native, dict):
        return
    texts = ("content", "title", "description", "label", "placeholder")
    yield from (native[key] for key in texts if isinstance(native.get(key), str))
    for part, key in (("author", "name"), ("footer", "text"), ("provider", "name")):
        yield (native.get(part) or {}).get(key) or ""
    yield from (field[key] for field in native.get("fields") or () for key in ("name", "value"))
    for file in native.get("attachments") or ():
        yield from (file["filename"], file.get("description") or "")
    yield from (sticker["name"] for sticker in native.get("sticker_items") or ())
    for answer in (native.get("poll") or {}).get("answers", ()):
        yield answer["poll_media"].get("text") or ""
    for key in ("embeds", "components", "component", "accessory", "items", "options"):
        yield from visible_texts(native.get(key))
    yield from visible_texts([item["message"] for item in native.get("message_snapshots") or ()])


# --- arbitrary and broken JSON --------------------------------------------------------------

_KEYS = st.sampled_from((
    "content", "embeds", "components", "attachments", "sticker_items", "poll", "message_snapshots",
    "flags", "type", "title", "description", "fields", "author", "footer", "image", "thumbnail",
    "url", "color", "timestamp", "name", "value", "inline", "label", "style", "custom_id", "emoji",
    "options", "accessory", "component", "items", "media", "file", "message", "data", "id",
    "default_values", "placeholder", "question", "answers", "answer_counts", "results", "any",
))  # fmt: skip
_ATOMS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 25), st.just(32768), st.floats(allow_nan=True),
    st.text(max_size=8), st.sampled_from(("https://x.example/a.png", "attachment://a.png", "-# x")),
)  # fmt: skip
ANY = st.recursive(
    _ATOMS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_KEYS, inner, max_size=6)),
    max_leaves=30,
)


@_QUICK
@given(ANY)
def test_any_json_is_read_and_written_or_refused(native: Any) -> None:
    try:
        card = read_message(native)
    except CodecError:
        return
    for message in write_card(card, Rendering()).messages:
        orjson.dumps(message.body)


@_QUICK
@given(st.dictionaries(_KEYS, ANY, max_size=6), st.sampled_from(range(26)))
def test_any_component_is_read(native: dict[str, Any], kind: int) -> None:
    card = read_message({"flags": 32768, "components": [{**native, "type": kind}]})

    assert isinstance(card, Card)


@needs_corpus
@_QUICK
@given(st.data())
def test_a_corpus_message_with_one_value_changed_is_read_or_refused(data: st.DataObject) -> None:
    native = orjson.loads(data.draw(st.sampled_from(files())).read_bytes())
    places = list(places_in(native))
    if not places:
        return
    holder, key = data.draw(st.sampled_from(places))
    holder[key] = data.draw(ANY)

    try:
        card = read_message(native)
    except CodecError:
        return
    assert isinstance(write_card(card, Rendering()).messages, tuple)


def places_in(value: Any) -> Iterator[tuple[Any, Any]]:
    stack = [value]
    while stack:
        item = stack.pop()
        entries = item.items() if isinstance(item, dict) else enumerate(item)
        for key, inner_one in entries:
            yield item, key
            if isinstance(inner_one, dict | list):
                stack.append(inner_one)


# --- deep and large -------------------------------------------------------------------------


def nested(shape: str, levels: int) -> Any:
    inner_one: Any = {"type": 10, "content": "innermost"}
    for _ in range(levels):
        inner_one = {
            "container": {"type": 17, "components": [inner_one]},
            "row": {"type": 1, "components": [inner_one]},
            "section": {"type": 9, "components": [inner_one], "accessory": {"type": 2}},
            "label": {"type": 18, "label": "x", "component": inner_one},
            "unknown": {"type": 99, "components": [inner_one]},
            "gallery": {"type": 12, "items": [inner_one]},
        }[shape]
    return {"flags": 32768, "components": [inner_one]}


@pytest.mark.parametrize("shape", ["container", "row", "section", "label", "unknown", "gallery"])
def test_components_nested_a_thousand_levels_deep_are_read_and_written(shape: str) -> None:
    levels = 997 if shape == "label" else 498

    card = read_message(nested(shape, levels))

    assert "innermost" in words(card)
    assert write_card(card, Rendering()).messages


@pytest.mark.parametrize("value", [[], {}])
def test_other_parts_nested_a_thousand_levels_deep_are_read(value: Any) -> None:
    for _ in range(990):
        value = [value] if isinstance(value, list) else {"title": value}

    for part in ("embeds", "components", "attachments", "poll", "content", "sticker_items"):
        assert isinstance(read_message({part: value or [value], "flags": 0}), Card)


def test_json_nested_more_than_a_thousand_levels_deep_is_refused() -> None:
    with pytest.raises(CodecError):
        payloads(nested("container", 600))


LARGE: dict[str, Any] = {
    "one text": {"content": "word and **bold** and <@1> https://x.example\n" * large(200_000)},
    "many embeds": {"embeds": [{"title": "t", "description": "d *x*"}] * large(100_000)},
    "many fields": {"embeds": [{"fields": [{"name": "n", "value": "v"}] * large(150_000)}]},
    "many components": {
        "flags": 32768, "components": [{"type": 10, "content": "x"}] * large(150_000)
    },
    "many options": {
        "components": [
            {"type": 1, "components": [{"type": 3, "custom_id": "x", "options": [
                {"label": "l", "value": "v"}] * large(150_000)}]}
        ]
    },
    "many files": {
        "attachments": [{"filename": "a.png", "url": "https://x.example"}] * large(100_000)
    },
    "unknown words": {"components": [{"type": 99, "x": [{"label": "w"}] * large(300_000)}]},
}  # fmt: skip


@pytest.mark.parametrize("name", LARGE)
def test_megabytes_are_read_in_bounded_time(name: str) -> None:
    before = time.process_time()

    card = read_message(LARGE[name])

    assert card.nodes
    assert time.process_time() - before < 60
