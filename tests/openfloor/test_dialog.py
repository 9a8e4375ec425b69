"""What people and agents say becomes a message, and a message what a speaker says: nothing is
lost on the way and back."""

from __future__ import annotations

import base64
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bridge.model.times import datetime_of
from bridge.openfloor.dialog import Speaking, dialog_event_of, message_of, plain_of_html, time_of
from bridge.openfloor.envelope import DialogEvent, Feature, Span, Token
from bridge.openfloor.read import read_dialog_event
from bridge.openfloor.write import dialog_event_json
from bridge.testing.clock import START
from bridge.uacs import (
    Actor,
    AudioPart,
    FilePart,
    ImagePart,
    MediaSource,
    Message,
    StructuredDataPart,
    TextPart,
    VideoPart,
    read_message,
    write,
)

NOW = datetime_of(START)
ACTOR = Actor(id="openfloor:tag:x,1:y", role="assistant", name="Pat")
FOLDER = os.environ.get("UACS_CORPUS")
SOUND = base64.b64encode(b"OggS sound").decode()


def said(**features: Any) -> DialogEvent:
    event = read_dialog_event({"id": "de:1", "speakerUri": "tag:x,1:y", "features": features})
    assert event
    return event


def text(value: str, **more: Any) -> dict[str, Any]:
    return {"mimeType": "text/plain", "tokens": [{"value": value}], **more}


def message(event: DialogEvent) -> Message:
    whole = message_of(event, ACTOR, "openfloor:m1", NOW)
    return read_message(write(whole))


def test_text_is_plain_text() -> None:
    found = message(said(text=text("*not* bold, 1 < 2")))

    assert found.content == (TextPart(text="*not* bold, 1 < 2", format="plain"),)
    assert found.actor == ACTOR


def test_the_values_of_all_tokens_are_one_text() -> None:
    feature = {"mimeType": "text/plain", "tokens": [{"value": "Hello"}, {"value": ", you"}]}

    assert message(said(text=feature)).content == (TextPart(text="Hello, you", format="plain"),)


def test_html_is_shown_only_where_there_is_no_text() -> None:
    html = {"mimeType": "text/html", "tokens": [{"value": "<p>Hi <b>you</b></p>"}]}

    assert message(said(text=text(" "), html=html)).content == (
        TextPart(text="Hi you", format="plain"),
    )
    assert message(said(text=text("words"), html=html)).content == (
        TextPart(text="words", format="plain"),
    )


@pytest.mark.parametrize(
    ("html", "words"),
    [
        ("<p>a</p><p>b &amp; c</p>", "a\nb & c"),
        ("x<script>alert('y')</script>z", "xz"),
        ("<style>p{}</style>a<br>b", "a\nb"),
        ("a &amp;lt;b&amp;gt;", "a &lt;b&gt;"),
        ("<div>never closed", "never closed"),
        ("</script>after", "after"),
        ("", ""),
    ],
)
def test_the_words_of_html(html: str, words: str) -> None:
    assert plain_of_html(html) == words


@pytest.mark.parametrize(
    ("feature", "part"),
    [
        ({"mimeType": "image/png", "tokens": [{"valueUrl": "https://x.test/a.png"}]},
         ImagePart(source=MediaSource(url="https://x.test/a.png"), media_type="image/png")),
        ({"mimeType": "audio/ogg", "encoding": "base64", "tokens": [{"value": SOUND}]},
         AudioPart(source=MediaSource(base64=SOUND), media_type="audio/ogg")),
        ({"mimeType": "video/mp4", "tokens": [{"valueUrl": "http://x.test/a"}]},
         VideoPart(source=MediaSource(url="http://x.test/a"), media_type="video/mp4")),
        ({"mimeType": "application/pdf", "tokens": [{"valueUrl": "https://x.test/a.pdf"}]},
         FilePart(source=MediaSource(url="https://x.test/a.pdf"), media_type="application/pdf")),
        ({"mimeType": "application/json", "tokens": [{"value": {"a": [1]}}]},
         StructuredDataPart(schema_id="openfloor:more", data={"a": [1]})),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_other_features_are_parts_of_their_kind(feature: dict[str, Any], part: Any) -> None:
    event = said(text=text("look"), more=feature)

    found = message(event)

    assert found.content == (TextPart(text="look", format="plain"), part)
    assert dialog_event_of(found, Speaking("tag:x,1:y")) == event


@pytest.mark.parametrize(
    "feature",
    [
        {"mimeType": "image/png", "tokens": [{"valueUrl": "file:///etc/passwd"}]},
        {"mimeType": "image/png", "tokens": [{"valueUrl": "javascript:x"}]},
        {"mimeType": "image/png", "tokens": [{"value": "no base64!"}]},
        {"mimeType": "text/x-other", "tokens": [{"value": "words of another kind"}]},
        {"mimeType": "image/png", "tokens": []},
    ],
)
def test_a_feature_that_nobody_can_show_is_kept_for_the_way_back(feature: dict[str, Any]) -> None:
    event = said(text=text("look"), more=feature)

    found = message(event)

    assert found.content == (TextPart(text="look", format="plain"),)
    assert dialog_event_of(found, Speaking("tag:x,1:y")) == event


def test_the_bytes_of_a_sound_are_kept_once() -> None:
    feature = {"mimeType": "audio/ogg", "tokens": [{"value": SOUND}]}

    assert write(message(said(text=text("listen"), audio=feature))).count(SOUND.encode()) == 1


def test_alternates_confidence_and_links_come_back() -> None:
    event = said(
        text=text(
            "two", lang="en", encoding="UTF-8",
            alternates=[[{"value": "too", "confidence": 0.4}], [{"value": "to"}]],
        ),
        semantics={"mimeType": "text/x.intent", "tokens": [
            {"value": {"label": "Weather"}, "links": ["$.text.tokens[0].value"]}]},
    )  # fmt: skip

    assert dialog_event_of(message(event), Speaking("tag:x,1:y")) == event


def test_the_language_of_a_text_is_kept_beside_its_part() -> None:
    found = message(said(text=text("Tere", lang="et")))

    metadata: Any = found.metadata
    assert metadata["uacs_bridge"]["parts"]["0"]["lang"] == "et"
    edited = found.model_copy(update={"content": (TextPart(text="Tere õhtust"),)})
    assert dialog_event_of(edited, Speaking("x")).features["text"].lang == "et"


@pytest.mark.parametrize(
    ("time", "iso"),
    [
        ("2023-11-14 02:06:07+00:00", "2023-11-14T02:06:07+00:00"),
        ("2026-01-05T10:00:00Z", "2026-01-05T10:00:00+00:00"),
        ("2026-01-05T10:00:00+02:00", "2026-01-05T08:00:00+00:00"),
        ("2026-01-05T10:00:00", "2026-01-05T10:00:00+00:00"),
        ("yesterday", None), ("", None), (None, None), ("0001-01-01T00:00:00+14:00", None),
    ],
)  # fmt: skip
def test_times_of_every_spelling_are_read(time: str | None, iso: str | None) -> None:
    found = time_of(Span(start_time=time))

    assert (found.isoformat() if found else None) == iso


def own(*parts: Any) -> Message:
    return Message(
        message_id="slack:T1:C1:1.2", timestamp="2026-01-05T10:00:00Z",
        actor=Actor(id="slack:T1:U1", role="human", name="Ann"), content=parts,
    )  # fmt: skip


def test_a_message_of_a_person_is_a_text_and_html_where_it_is_formatted() -> None:
    plain = dialog_event_of(own(TextPart(text="hello")), Speaking("tag:a", "de:0"))
    rich = dialog_event_of(own(TextPart(text="**hello** [you](https://x.test)")), Speaking("tag:a"))

    assert plain == DialogEvent(
        "tag:a", {"text": Feature("text/plain", (Token("hello"),))},
        Span(start_time="2026-01-05T10:00:00Z"), "slack:T1:C1:1.2", "de:0",
    )  # fmt: skip
    assert rich.text == "hello you"  # to be spoken; the address is in the HTML
    assert "<strong>hello</strong>" in rich.features["html"].text


def test_files_are_links_that_the_bridge_gives_or_bytes() -> None:
    stored = FilePart(source=MediaSource(file_id="blob:sha256-" + "a" * 64), media_type="a/b")
    sound = AudioPart(source=MediaSource(base64=SOUND), media_type="audio/ogg")
    picture = ImagePart(source=MediaSource(url="https://x.test/1.png"), media_type="image/png")

    event = dialog_event_of(
        own(TextPart(text="see"), stored, stored, sound, picture),
        Speaking("tag:a", link=lambda part: "https://b.test/f" if part.source.file_id else None),
    )

    assert event.features["file"].tokens == (Token(value_url="https://b.test/f"),)
    assert event.features["file-2"].tokens == (Token(value_url="https://b.test/f"),)
    assert event.features["audio"] == Feature("audio/ogg", (Token(SOUND),))
    assert event.features["image"].tokens == (Token(value_url="https://x.test/1.png"),)


def test_a_stored_file_without_a_link_is_no_feature() -> None:
    stored = FilePart(source=MediaSource(file_id="blob:sha256-" + "a" * 64), media_type="a/b")

    assert list(dialog_event_of(own(TextPart(text="see"), stored), Speaking("a")).features) == [
        "text"
    ]


def test_cards_are_data_and_have_a_text() -> None:
    blocks = StructuredDataPart(schema_id="com.slack.blocks", data=[{"type": "divider"}])

    event = dialog_event_of(own(blocks), Speaking("tag:a"))

    assert event.features["com.slack.blocks"].tokens == (Token([{"type": "divider"}]),)
    assert event.text


def test_an_edited_message_is_no_longer_the_event_as_it_came() -> None:
    event = said(text=text("wrogn"), html={"mimeType": "text/html", "tokens": [{"value": "x"}]})
    edited = message(event).model_copy(update={"content": (TextPart(text="wrong"),)})

    assert dialog_event_of(edited, Speaking("tag:a")).text == "wrong"
    assert "html" not in dialog_event_of(edited, Speaking("tag:a")).features


@pytest.mark.skipif(FOLDER is None, reason="UACS_CORPUS names no folder of payloads")
@pytest.mark.parametrize(
    "path", sorted(Path(FOLDER or "nowhere").glob("ovon/examples/dialog-event_*.json")),
    ids=lambda path: path.name,
)  # fmt: skip
def test_a_dialog_event_of_the_specification_comes_back(path: Path) -> None:
    event = read_dialog_event(json.loads(path.read_bytes()))
    assert event

    back = dialog_event_of(message(event), Speaking(event.speaker_uri))

    assert back == event
    assert read_dialog_event(dialog_event_json(back)) == event
    assert replace(back, speaker_uri="") == replace(event, speaker_uri="")
