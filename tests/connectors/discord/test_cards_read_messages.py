"""Messages, their attachments, stickers, polls and forwards -> cards."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.content.cards.rendering import Payload
from bridge.content.cards.tree import (
    Asset,
    Card,
    Container,
    Context,
    File,
    Gallery,
    Image,
    Native,
    Player,
    Poll,
    PollAnswer,
    Prose,
)
from bridge.content.cards.walk import walk
from bridge.content.text.tree import ChannelLink, Emoji, Link, Mention, Paragraph, Text
from bridge.errors import CodecError
from bridge.model import actor_id_of
from connectors.discord.cards import SCHEMA_IDS, payloads, read_message, read_payload
from connectors.discord.cards.schemas import (
    ATTACHMENTS,
    COMPONENTS,
    EMBEDS,
    FORWARDS,
    POLL,
    STICKERS,
    TEXT,
)
from tests.connectors.discord.card_words import card, line, picture, prose, small

PNG: dict[str, Any] = {
    "id": "1",
    "filename": "cat.png",
    "url": "https://cdn.example/cat.png?ex=1",
    "content_type": "image/png",
    "size": 12,
    "width": 3,
    "height": 4,
}
CAT = Asset(
    url="https://cdn.example/cat.png?ex=1",
    media_type="image/png",
    name="cat.png",
    size=12,
    width=3,
    height=4,
)


def read(**message: Any) -> Card:
    return read_message(message)


def attached(*files: dict[str, Any]) -> Card:
    return read(attachments=list(files))


# --- the parts of a message -----------------------------------------------------------------


def test_payloads_come_in_the_order_in_which_discord_shows_them() -> None:
    message: dict[str, Any] = {
        "message_snapshots": [{"message": {"content": "old"}}],
        "components": [{"type": 1, "components": []}],
        "poll": {"question": {"text": "?"}, "answers": []},
        "sticker_items": [{"id": "1", "name": "hi", "format_type": 1}],
        "embeds": [{"title": "t"}],
        "attachments": [PNG],
        "content": "words",
    }

    parts = payloads(message)

    assert [(part.schema_id, part.at) for part in parts] == [
        (TEXT, "/content"),
        (ATTACHMENTS, "/attachments"),
        (EMBEDS, "/embeds"),
        (STICKERS, "/sticker_items"),
        (POLL, "/poll"),
        (COMPONENTS, "/components"),
        (FORWARDS, "/message_snapshots"),
    ]
    assert parts[2].data is message["embeds"]
    assert {part.schema_id for part in parts} - {TEXT} == SCHEMA_IDS


def test_a_components_v2_message_has_no_other_payloads() -> None:
    message: dict[str, Any] = {
        "flags": 32768,
        "components": [],
        "attachments": [PNG],
        "content": "",
    }

    assert payloads(message) == ()


def test_an_empty_message_has_no_payloads() -> None:
    assert payloads({"content": "", "embeds": [], "components": []}) == ()


@pytest.mark.parametrize(
    ("native", "schema"),
    [
        ({"title": "t", "description": "d"}, EMBEDS),
        ([{"title": "t"}], EMBEDS),
        ({"type": 10, "content": "x"}, COMPONENTS),
        ([{"type": 17, "components": []}], COMPONENTS),
        ({"question": {"text": "?"}, "answers": []}, POLL),
        ([{"id": "1", "name": "hi", "format_type": 1}], STICKERS),
        ([PNG], ATTACHMENTS),
        ([{"message": {"content": "x"}}], FORWARDS),
        ({"custom_id": "m", "title": "Modal", "components": []}, COMPONENTS),
    ],
)
def test_a_bare_part_is_its_own_payload(native: Any, schema: str) -> None:
    assert payloads(native) == (Payload(schema, native),)


@pytest.mark.parametrize(
    ("envelope", "at"),
    [
        ({"op": 0, "t": "MESSAGE_CREATE", "d": {"content": "x"}}, "/d/content"),
        ({"type": 4, "data": {"content": "x"}}, "/data/content"),
        ({"type": 3, "data": {"custom_id": "a"}, "message": {"content": "x"}}, "/message/content"),
    ],
)
def test_a_message_in_an_envelope_is_read_with_its_json_pointer(envelope: Any, at: str) -> None:
    assert payloads(envelope) == (Payload(TEXT, "x", at),)
    assert read_message(envelope).nodes[0].at == at


@pytest.mark.parametrize("native", [None, 1, "text", {}, {"op": 10, "d": {"x": 1}}, [1], [[]]])
def test_json_that_is_not_a_message_is_refused(native: Any) -> None:
    with pytest.raises(CodecError):
        payloads(native)


def test_an_unknown_schema_id_is_refused_with_the_known_schema_ids() -> None:
    with pytest.raises(CodecError, match=r"vnd\.discord\.embeds"):
        read_payload(Payload("application/json", {}, "/x"))


# --- text -----------------------------------------------------------------------------------


def test_content_becomes_prose_and_subtext_becomes_small_print_in_order() -> None:
    read_card = read(content="one\n-# two\n-# three\nfour")

    assert read_card.nodes[0] == prose("one")
    assert isinstance(read_card.nodes[1], Context)
    assert read_card.nodes[2] == prose("four")
    assert [node.at for node in read_card.nodes] == ["/content"] * 3


def test_subtext_markup_inside_a_code_block_stays_code() -> None:
    (node,) = read(content="```\n-# no\n```").nodes

    assert isinstance(node, Prose)


def test_mentions_take_the_names_that_the_message_lists() -> None:
    message: dict[str, Any] = {
        "content": "<@7> in <#8>",
        "guild_id": "1",
        "mentions": [{"id": "7", "username": "ann", "global_name": "Ann"}],
        "mention_channels": [{"id": "8", "name": "general"}],
    }

    assert read_message(message) == card(
        Prose((
            Paragraph((
                Mention(actor_id_of("discord", "1", "7"), "Ann"),
                Text(" in "),
                ChannelLink("discord:1:8", "general"),
            )),
        ))
    )  # fmt: skip


# --- attachments ----------------------------------------------------------------------------


def test_an_image_attachment_has_its_name_dimensions_and_alt_text() -> None:
    assert attached({**PNG, "description": "a cat", "title": "Tom"}) == card(
        Image(
            Asset(
                url=CAT.url, media_type="image/png", name="cat.png", alt="a cat", size=12, width=3,
                height=4,
            ),
            title=line("Tom"),
        )
    )  # fmt: skip


def test_consecutive_image_and_video_attachments_form_a_gallery() -> None:
    film = {"filename": "a.mp4", "url": "https://cdn.example/a.mp4", "content_type": "video/mp4"}
    text = {"filename": "b.txt", "url": "https://cdn.example/b.txt", "content_type": "text/plain"}

    gallery, file, image = attached(PNG, film, text, PNG).nodes

    assert isinstance(gallery, Gallery)
    assert [node.at for node in gallery.items] == ["/attachments/0", "/attachments/1"]
    assert file == File(
        Asset(url="https://cdn.example/b.txt", media_type="text/plain", name="b.txt")
    )
    assert image == Image(CAT)


def test_a_voice_message_is_an_audio_player_with_a_duration() -> None:
    voice = {
        "filename": "voice-message.ogg",
        "url": "https://cdn.example/v.ogg",
        "content_type": "audio/ogg",
        "duration_secs": 3.5,
        "waveform": "AAEC",
    }

    assert attached(voice) == card(
        Player(
            "audio",
            Asset(
                url="https://cdn.example/v.ogg",
                media_type="audio/ogg",
                name="voice-message.ogg",
                seconds=3.5,
            ),
        )
    )


@pytest.mark.parametrize("spoiler_fields", [{"flags": 8}, {"filename": "SPOILER_cat.png"}])
def test_a_spoiler_attachment_stays_a_spoiler(spoiler_fields: dict[str, Any]) -> None:
    (image,) = attached({**PNG, **spoiler_fields}).nodes

    assert isinstance(image, Image)
    assert image.asset.spoiler


def test_a_file_without_a_media_type_is_classified_by_its_extension() -> None:
    (image,) = attached({"filename": "a.JPG", "url": "https://cdn.example/x"}).nodes

    assert isinstance(image, Image)


# --- stickers -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "url", "media_type"),
    [
        (1, "https://cdn.discordapp.com/stickers/9.png", "image/png"),
        (2, "https://cdn.discordapp.com/stickers/9.png", "image/apng"),
        (4, "https://media.discordapp.net/stickers/9.gif", "image/gif"),
    ],
)
def test_a_sticker_is_a_picture(kind: int, url: str, media_type: str) -> None:
    message = read(sticker_items=[{"id": "9", "name": "Wave", "format_type": kind}])

    assert message == card(Image(Asset(url=url, media_type=media_type, alt="Wave"), size="medium"))


def test_a_lottie_sticker_is_shown_as_its_name() -> None:
    (sticker,) = read(sticker_items=[{"id": "9", "name": "Wave", "format_type": 3}]).nodes

    assert isinstance(sticker, Native)
    assert sticker.fallback == (prose("Wave"),)


# --- polls ----------------------------------------------------------------------------------

POLL_DATA: dict[str, Any] = {
    "question": {"text": "Tea or coffee?"},
    "answers": [
        {"answer_id": 1, "poll_media": {"text": "Tea", "emoji": {"id": None, "name": "🍵"}}},
        {"answer_id": 2, "poll_media": {"text": "Coffee"}},
        {"answer_id": 3, "poll_media": {"text": "Both", "emoji": {"id": "5", "name": "both"}}},
    ],
    "expiry": "2026-11-21T12:00:00+00:00",
    "allow_multiselect": True,
    "layout_type": 1,
}


def test_a_poll_has_its_answers_and_their_emoji() -> None:
    both = Emoji("both", url="https://cdn.discordapp.com/emojis/5.webp")

    assert read(poll=POLL_DATA) == card(
        Poll(
            line("Tea or coffee?"),
            (
                PollAnswer(line("Tea"), "🍵"),
                PollAnswer(line("Coffee")),
                PollAnswer((both, Text(" "), Text("Both"))),
            ),
            multiple=True,
            ends=1795262400,
        )
    )


def test_poll_results_give_every_answer_a_vote_count() -> None:
    results = {"is_finalized": True, "answer_counts": [{"id": 2, "count": 5, "me_voted": False}]}

    (poll,) = read(poll={**POLL_DATA, "results": results}).nodes

    assert isinstance(poll, Poll)
    assert poll.closed
    assert [answer.votes for answer in poll.answers] == [0, 5, 0]


# --- forwards -------------------------------------------------------------------------------


def test_a_forwarded_message_is_a_panel_with_its_time_and_link() -> None:
    message: dict[str, Any] = {
        "content": "",
        "message_reference": {"type": 1, "guild_id": "1", "channel_id": "2", "message_id": "3"},
        "message_snapshots": [
            {
                "message": {
                    "content": "said before",
                    "timestamp": "2026-11-21T12:00:00+00:00",
                    "attachments": [PNG],
                }
            }
        ],
    }
    head = Link("https://discord.com/channels/1/2/3", line("↪ Forwarded"))

    read_card = read_message(message)

    assert read_card == card(
        Container(
            (Context((Prose((Paragraph((head,)),)),)), prose("said before"), Image(CAT)),
            form="panel",
            time=1795262400,
        )
    )
    assert [node.at for node in walk(read_card.nodes)][-2:] == [
        "/message_snapshots/0/message/content",
        "/message_snapshots/0/message/attachments/0",
    ]


def test_a_forward_without_a_reference_has_no_link() -> None:
    (panel,) = read(message_snapshots=[{"message": {"content": "x"}}]).nodes

    assert panel == Container((small("↪ Forwarded"), prose("x")), form="panel")


def test_deeply_nested_forwards_are_cut_off() -> None:
    message: dict[str, Any] = {"content": "innermost"}
    for _ in range(200):
        message = {"content": "x", "message_snapshots": [{"message": message}]}

    nodes = list(walk(read_message(message).nodes))

    assert any(isinstance(node, Native) for node in nodes)
    assert len(nodes) < 200


# --- wrong shapes ---------------------------------------------------------------------------


def test_malformed_parts_are_kept_with_their_text_and_the_rest_is_read() -> None:
    message = read(attachments=["words", PNG], embeds=7, content=["a", {"text": "b"}])

    kinds = [type(node) for node in message.nodes]

    assert kinds == [Prose, Native, Image, Native]
    assert message.nodes[1] == Native(ATTACHMENTS, "words", (prose("words"),))
    assert message.nodes[2] == picture(
        CAT.url, media_type="image/png", name="cat.png", size=12, width=3, height=4
    )
