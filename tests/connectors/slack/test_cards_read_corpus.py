"""Real messages, views and exports: each is read, and each of its words is in the card.

The tests gather the visible texts of a payload by the names of keys, not by the reader's own rules.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest

from bridge.content.cards.json import card_from_json, card_to_json
from bridge.content.cards.tree import Asset, Card, LabelledValue, Native
from bridge.content.text import tree as text
from bridge.content.text.inlines import plain_inlines
from bridge.errors import CodecError
from connectors.slack.cards import payloads, read_form, read_message, read_payload

CORPUS = os.environ.get("UACS_CORPUS")
pytestmark = pytest.mark.skipif(not CORPUS, reason="UACS_CORPUS names no folder of payloads")

Json = dict[str, Any]

VISIBLE_KEYS = (
    *("text", "alt_text", "title", "label", "placeholder", "hint", "description", "subtitle"),
    *("body", "subtext", "caption", "pretext", "author_name", "author_subname", "service_name"),
    *("footer", "accessibility_label", "confirm", "deny", "ok_text", "dismiss_text", "x_label"),
    *("y_label", "provider_name", "button_label", "preview_plain_text"),
)
WITHIN = (
    *("blocks", "attachments", "files", "fields", "elements", "element", "accessory", "options"),
    *("option_groups", "initial_option", "initial_options", "child_blocks", "rows", "tasks"),
    *("details", "output", "sources", "actions", "chart", "series", "data", "segments"),
    *("hero_image", "icon", "rich_text_title", "axis_config", "categories", "selected_options"),
    *("positive_button", "negative_button", "transcription", "message_blocks", "message"),
)
INLINE = {
    "user": "user_id",
    "channel": "channel_id",
    "usergroup": "usergroup_id",
    "team": "team_id",
    "broadcast": "range",
    "color": "value",
    "date": "fallback",
}
CONTROL = re.compile(r"<(?:!date\^[^|<>]*|[^<>|\n]*)\|([^<>\n]+)>|<[@#!]?(?:subteam\^)?([^<>\n]+)>")
EMOJI = re.compile(r":(?:(?=[^\s:]*[a-z])[a-z0-9_+'-]+|[+-]1|100)(?:::skin-tone-\d)?:")
WORD = re.compile(r"[^\W_]+")


def messages() -> Iterator[tuple[str, Json]]:
    for file in sorted((Path(CORPUS or ".") / "slack").rglob("*.json")):
        stack: list[object] = [orjson.loads(file.read_bytes())]
        while stack:
            value = stack.pop()
            if isinstance(value, list):
                stack += value
            elif isinstance(value, dict):
                stack += value.values()
                if _is_shown(value):
                    yield file.name, value


def _is_shown(value: Json) -> bool:
    """Whether it is a message, a view or an unfurl; an email stored as a file is not."""
    lists = [key for key in ("blocks", "attachments", "files") if isinstance(value.get(key), list)]
    return "mimetype" not in value and lists not in ([], ["files"] if "text" not in value else [])


# --- visible texts of a payload -------------------------------------------------------------


def visible(value: object, key: str = "") -> Iterator[str]:
    if isinstance(value, str):
        if key in (*VISIBLE_KEYS, "categories"):
            yield value
    elif isinstance(value, list):
        for member in value:
            yield from visible(member, key)
    elif isinstance(value, dict):
        yield from _visible_object(value)


def _visible_object(value: Json) -> Iterator[str]:
    kind = value.get("type")
    if kind in INLINE and INLINE[kind] in value:
        yield str(value[INLINE[kind]])
        return
    if kind == "link":
        yield value.get("text") or value.get("url", "")
        return
    if kind in ("raw_number", "raw_boolean") and "text" not in value:
        yield str(value.get("value")).lower()
    hidden = _hidden(value)
    for key, inner in value.items():
        if key in hidden or inner is None:
            continue
        if key in VISIBLE_KEYS or key in WITHIN:
            yield from visible(inner, key)
    if "mimetype" in value:
        yield value.get("name") or ""


def _hidden(value: Json) -> tuple[str, ...]:
    """Hidden keys: `text` beside blocks is for notifications, and a shared message repeats it in
    blocks."""
    if "blocks" in value and not value.get("fallback"):
        return ("text",) if value.get("type") not in ("modal", "home") else ("title",)
    if value.get("message_blocks"):
        return ("text",)
    if value.get("type") in ("icon_button",):
        return ("icon",)
    return ()


def _readable_control(match: re.Match[str]) -> str:
    """The label of a link, followed by the URL when it is not a web address."""
    target, separator, label = match[0][1:-1].partition("|")
    if not separator or target[:1] in "@#!" or target.lower().startswith(("http", "mailto:")):
        return match[1] or match[2]
    return f"{label} {target}"


def letters_of_slack(words: str) -> str:
    """The letters without white space and signs, since styles may begin inside a word."""
    plain = CONTROL.sub(_readable_control, words)
    plain = EMOJI.sub(" ", plain)
    for entity, sign in (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
        plain = plain.replace(entity, sign)
    plain = re.sub(r"<[@#!]?([^<>\n]*)>", r"\1", plain)
    return "".join(WORD.findall(plain))


# --- texts of a card ------------------------------------------------------------------------

UNSEEN = ("at", "type", "id", "value", "values", "url", "file_id", "link", "page", "payload")


def texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, text.Inline):
        yield _emoji_aside(value)
    elif isinstance(value, tuple):
        for member in value:
            yield from texts_in(member)
    elif isinstance(value, Native):
        yield from texts_in(value.fallback)
    elif is_dataclass(value):
        for field in fields(value):
            if field.name not in UNSEEN or isinstance(value, LabelledValue | text.CodeBlock):
                yield from texts_in(getattr(value, field.name))


def _emoji_aside(node: text.Inline) -> str:
    return " " if isinstance(node, text.Emoji) else plain_inlines((node,))


def letters_of(words: str) -> str:
    return "".join(WORD.findall(EMOJI.sub(" ", words)))


# --- tests ----------------------------------------------------------------------------------


def test_the_card_of_every_corpus_message_has_all_of_its_words() -> None:
    count = 0
    lost: list[str] = []
    for name, native in messages():
        count += 1
        letters = letters_of(" ".join(texts_in(read_message(native, "T1").nodes)))
        lost += [
            f"{name}: {words!r}"
            for words in visible(native)
            if letters_of_slack(words) not in letters
        ]

    assert count > 300
    assert lost == []


def test_every_card_that_is_read_can_be_written_as_json_and_read_again() -> None:
    for name, native in messages():
        written = card_to_json(read_message(native, "T1"))

        assert card_to_json(card_from_json(written)) == written, name


def test_the_text_of_a_message_with_blocks_is_its_summary() -> None:
    for name, native in messages():
        if native.get("blocks") and isinstance(native.get("text"), str):
            summary = letters_of(read_message(native, "T1").summary)
            assert letters_of_slack(native["text"]) in summary, name


def test_every_view_is_a_form_with_its_title() -> None:
    views = [message for _, message in messages() if message.get("type") in ("modal", "home")]

    assert len(views) > 30
    for view in views:
        title = view.get("title") or {}
        assert read_form(view).title == title.get("text", "")


def test_every_other_corpus_payload_is_read_or_refused() -> None:
    for file in sorted((Path(CORPUS or ".") / "slack").rglob("*.json")):
        with suppress(CodecError):
            for payload in payloads(orjson.loads(file.read_bytes())):
                assert isinstance(read_payload(payload, "T1"), Card), file.name


def test_images_hosted_by_slack_are_private() -> None:
    for name, native in messages():
        for asset in _assets(read_message(native)):
            is_own = asset.url.startswith("https://files.slack.com/files-")
            assert asset.private or not is_own, name


def _assets(value: object) -> Iterator[Asset]:
    if isinstance(value, Asset):
        yield value
    elif isinstance(value, tuple):
        for member in value:
            yield from _assets(member)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _assets(getattr(value, field.name))
