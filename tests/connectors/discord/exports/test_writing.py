"""Messages of any platform, written as DiscordChatExporter writes Discord's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import orjson
import pytest

from bridge.content.cards.reader import Cards
from bridge.content.messages.metadata import BridgeMetadata, KeptFile, with_bridge_metadata
from bridge.model import (
    AccountId,
    ActorId,
    ChannelRef,
    MessageId,
    MessagePosted,
    Person,
    Place,
    Raw,
    message_id_of,
)
from bridge.model.export_records import (
    ROOMS,
    ArchivedMessage,
    ExportedChannel,
    ExportedMessage,
    ExportedReaction,
    NotWritten,
)
from bridge.ports.exports import WriteOptions
from bridge.testing.export_contract import archived, read_all
from bridge.uacs import Actor, FilePart, ImagePart, MediaSource, Message, TextPart, write
from connectors.discord import cards, decode, ids
from connectors.discord.exports import DiscordChatExporter
from tests.connectors.discord.exports import samples
from tests.corpus.payloads import cases, corpus

FORM = DiscordChatExporter()
SLACK = ChannelRef(platform="slack", workspace="T1", channel="C1")
ANN = Person(id=ActorId("slack:T1:U1"), name="Ann", picture="https://example.org/ann.png")
BOT = Person(id=ActorId("slack:T1:B1"), name="Deploys", bot=True)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC).timestamp()


def slack_message(
    native_id: str, *parts: Any, author: Person = ANN, thread: str | None = None, **fields: Any
) -> ArchivedMessage:
    seconds = float(native_id)
    message = Message(
        message_id=message_id_of(SLACK, native_id),
        timestamp=datetime.fromtimestamp(seconds, UTC).isoformat(),
        actor=Actor(id=author.id, role="human", name=author.name),
        content=parts,
    )
    root = message_id_of(SLACK, thread) if thread else None
    return ArchivedMessage.of(
        message, author, time=seconds, place=Place(channel=SLACK, thread=thread),
        native_id=native_id, root=root, **fields,
    )  # fmt: skip


def written(
    folder: Path,
    *messages: ArchivedMessage,
    channel: ExportedChannel | None = None,
    files: Mapping[str, bytes] | None = None,
    read: Cards | None = None,
) -> tuple[dict[str, Any], list[NotWritten]]:
    """Return the documents of an export by the names of their channels, and what is lost."""

    def opened(file_id: str) -> BinaryIO | None:
        content = (files or {}).get(file_id)
        return None if content is None else BytesIO(content)

    options = WriteOptions(opened) if read is None else WriteOptions(opened, read)
    writer = FORM.writer(folder / "export", options)
    writer.channel(channel or ExportedChannel(SLACK, "general", topic="All"))
    for message in messages:
        writer.message(message)
    lost = list(writer.finish())
    documents = [json.loads(file.read_bytes()) for file in (folder / "export").glob("*.json")]
    return {document["channel"]["name"]: document for document in documents}, lost


def test_a_message_of_slack_has_author_text_and_a_number_as_its_id(tmp_path: Path) -> None:
    documents, lost = written(
        tmp_path, slack_message(f"{NOON}", TextPart(text="Hello **all** _you_"))
    )

    (message,) = documents["general"]["messages"]
    assert message["content"] == "Hello **all** *you*"
    assert message["author"]["nickname"] == "Ann"
    assert message["author"]["avatarUrl"] == "https://example.org/ann.png"
    assert message["author"]["id"].isdecimal()
    assert ids.time_of(message["id"]).timestamp() == NOON
    assert message["timestamp"] == "2026-03-01T12:00:00.000+00:00"
    assert documents["general"]["channel"]["topic"] == "All"
    assert documents["general"]["guild"]["name"] == "slack T1"
    assert not lost


def test_viewers_get_every_list_and_no_empty_address(tmp_path: Path) -> None:
    documents, _ = written(
        tmp_path,
        slack_message(
            f"{NOON}",
            TextPart(text="hi"),
            author=BOT,
            reactions=(ExportedReaction("👍", ANN.id), ExportedReaction(":party:", ANN.id)),
        ),
    )

    (message,) = documents["general"]["messages"]
    for name in ("attachments", "embeds", "stickers", "reactions", "mentions"):
        assert isinstance(message[name], list), name
    assert message["author"]["avatarUrl"]
    thumbs, party = message["reactions"]
    assert thumbs["emoji"]["imageUrl"].endswith("/1f44d.svg")
    assert (thumbs["count"], len(thumbs["users"])) == (1, 1)
    assert party["emoji"]["name"] == "party"


def test_a_thread_is_a_document_with_the_first_words_of_its_root(tmp_path: Path) -> None:
    root = f"{NOON}"
    documents, _ = written(
        tmp_path,
        slack_message(root, TextPart(text="Which colour?")),
        slack_message(f"{NOON + 1}", TextPart(text="Blue"), thread=root),
    )

    assert [m["content"] for m in documents["general"]["messages"]] == ["Which colour?"]
    thread = documents["Which colour?"]
    assert [m["content"] for m in thread["messages"]] == ["Blue"]
    assert thread["channel"]["type"] == "GuildPublicThread"
    assert thread["channel"]["categoryId"] == documents["general"]["channel"]["id"]


def test_a_reply_refers_to_the_message_that_it_answers(tmp_path: Path) -> None:
    first = slack_message(f"{NOON}", TextPart(text="A?"))
    reply = slack_message(
        f"{NOON + 1}", TextPart(text="B"), reply_to=MessageId(first.message.message_id)
    )
    far = slack_message(f"{NOON + 2}", TextPart(text="C"), reply_to=MessageId("slack:T1:C1:1.0"))
    documents, lost = written(tmp_path, first, reply, far)

    asked, answered, other = documents["general"]["messages"]
    assert answered["type"] == "Reply"
    assert answered["reference"]["messageId"] == asked["id"]
    assert other["type"] == "Default"
    assert [loss.what for loss in lost] == ["reply to a message that is far away"]


def test_files_are_written_beside_the_document(tmp_path: Path) -> None:
    documents, lost = written(
        tmp_path,
        slack_message(
            f"{NOON}",
            TextPart(text="see"),
            ImagePart(source=MediaSource(file_id="blob:1"), media_type="image/png"),
            FilePart(source=MediaSource(url="https://example.org/a"), media_type="text/plain"),
            FilePart(source=MediaSource(file_id="blob:gone"), media_type="text/plain"),
        ),
        files={"blob:1": b"png"},
    )

    (message,) = documents["general"]["messages"]
    picture, linked = message["attachments"]
    assert (tmp_path / "export" / picture["url"]).read_bytes() == b"png"
    assert linked["url"] == "https://example.org/a"
    assert "[file: text/plain" in message["content"].replace("\\", "")
    assert [loss.what for loss in lost] == ["file without an address"]


def test_a_room_is_one_document_with_messages_of_its_channels_and_of_agents(
    tmp_path: Path,
) -> None:
    room = ExportedChannel(
        ChannelRef(platform=ROOMS[0], workspace=ROOMS[1], channel="1"), "lab", kind="room"
    )
    root = slack_message("1.5", TextPart(text="first"))
    reply = slack_message("2.5", TextPart(text="second"), thread="1.5")
    answer = replace(slack_message("3.5", TextPart(text="third")), place=None, native_id=None)

    documents, lost = written(tmp_path, root, reply, answer, channel=room)

    assert [m["content"] for m in documents["lab"]["messages"]] == ["first", "third"]
    assert [m["content"] for m in documents["first"]["messages"]] == ["second"]
    assert documents["first"]["channel"]["category"] == "lab"
    assert not lost


@pytest.mark.parametrize("own_id", ["./../../evil", "/tmp/evil", "9" * 400, "a\0b", "²"])
def test_ids_of_channels_never_leave_the_folder(tmp_path: Path, own_id: str) -> None:
    document = samples.document({"id": own_id, "name": "g"}, samples.GENERAL_MESSAGES[:1])
    samples.write(tmp_path / "one.json", document)
    items = read_all(FORM, tmp_path / "one.json")
    folder = tmp_path / "deep" / "folder"

    writer = FORM.writer(folder, WriteOptions())
    for item in items:
        if isinstance(item, ExportedChannel):
            writer.channel(item)
        elif isinstance(item, ExportedMessage):
            writer.message(archived(item, FORM.name))
    writer.finish()

    assert [file.suffix for file in folder.iterdir()] == [".json"]
    assert {file.name for file in tmp_path.iterdir()} == {"one.json", "deep"}


def test_what_changed_after_the_import_is_written(tmp_path: Path) -> None:
    samples.write(tmp_path / "one.json", samples.document(
        {"id": samples.GENERAL, "name": "general"}, samples.GENERAL_MESSAGES[:2]
    ))  # fmt: skip
    items = read_all(FORM, tmp_path / "one.json")
    (channel,) = (item for item in items if isinstance(item, ExportedChannel))
    first, second = (
        archived(item, FORM.name) for item in items if isinstance(item, ExportedMessage)
    )
    text = TextPart(text="**Edited**", format="markdown")
    body = write(first.message.model_copy(update={"content": (text,)}))
    edited = replace(first, body=body, edited_at=NOON)
    reacted = replace(second, reactions=second.reactions[:1], pinned=True)

    documents, _ = written(tmp_path, edited, reacted, channel=channel)

    one, two = documents["general"]["messages"]
    assert (one["id"], one["content"]) == (first.native_id, "**Edited**")
    assert one["timestampEdited"].startswith("2026-03-01T12:00:00")
    assert one["author"]["id"] == "11"
    assert [reaction["count"] for reaction in two["reactions"]] == [1]
    assert two["content"] == samples.GENERAL_MESSAGES[1]["content"]
    assert two["isPinned"]


def test_deleted_messages_are_not_written(tmp_path: Path) -> None:
    documents, lost = written(
        tmp_path, slack_message(f"{NOON}", TextPart(text="hi")),
        slack_message(f"{NOON + 1}", TextPart(text="no"), deleted=True),
    )  # fmt: skip

    assert documents["general"]["messageCount"] == 1
    assert [loss.what for loss in lost] == ["deleted message"]


def test_names_of_channels_never_leave_the_folder(tmp_path: Path) -> None:
    evil = ExportedChannel(SLACK, "../../" + "x" * 500)
    documents, _ = written(tmp_path, slack_message(f"{NOON}", TextPart(text="hi")), channel=evil)

    assert len(documents) == 1


def test_an_export_of_slack_is_read_again(tmp_path: Path) -> None:
    root = f"{NOON}"
    written(
        tmp_path,
        slack_message(root, TextPart(text="Which colour?")),
        slack_message(f"{NOON + 1}", TextPart(text="Blue"), thread=root),
    )
    items = read_all(FORM, tmp_path / "export")

    messages = [item for item in items if isinstance(item, ExportedMessage)]
    assert [message.posted.author.name for message in messages] == ["Ann", "Ann"]


def test_files_of_an_import_are_written_where_its_messages_name_them(tmp_path: Path) -> None:
    items = read_all(FORM, samples.write_sample(tmp_path / "sample"))
    exported = next(i for i in items if isinstance(i, ExportedMessage) and i.files)
    channel = next(i for i in items if isinstance(i, ExportedChannel))
    ((address, _file),) = exported.files.items()
    kept = {address: KeptFile(file_id="blob:1", media_type="text/plain", size=4)}
    given = archived(exported, FORM.name)
    message = with_bridge_metadata(given.message, BridgeMetadata(kept=kept))

    stored = replace(given, body=write(message))
    written(tmp_path, stored, channel=channel, files={"blob:1": b"plan"})

    saved = tmp_path / "export" / "general.json_Files" / "plan-0A1B2.txt"
    assert saved.read_bytes() == b"plan"


# --- live messages of Discord ---------------------------------------------------------------


def live(json_: dict[str, Any]) -> MessagePosted:
    raw = Raw(
        account=AccountId("a"), kind="MESSAGE_CREATE", dedupe_key="", order_key="",
        channel=ids.channel_ref("7", "5"), payload=orjson.dumps({"d": json_}),
    )  # fmt: skip
    (event,) = decode.decode(raw)
    assert isinstance(event, MessagePosted)
    return event


def read_back(folder: Path, json_: dict[str, Any]) -> MessagePosted:
    """Export a live message, and import it again."""
    event = live(json_)
    posted = ArchivedMessage.of(
        event.message, event.author, time=event.time.timestamp(), place=event.place,
        native_id=event.native_id,
        payload=orjson.dumps({"d": json_}), payload_kind="MESSAGE_CREATE",
        edited_at=event.edited_at.timestamp() if event.edited_at else None,
        reply_to=message_id_of(event.place.channel, event.reply_to) if event.reply_to else None,
    )  # fmt: skip
    channel = ExportedChannel(event.place.channel, "general")
    written(folder, posted, channel=channel, read=Cards.over([cards], b"key"))
    items = read_all(FORM, folder / "export")
    return next(item.posted for item in items if isinstance(item, ExportedMessage))


def api(**fields: Any) -> dict[str, Any]:
    return {
        "id": "1045178587575242772", "channel_id": "5", "type": 0, "content": "hi",
        "timestamp": "2022-11-24T01:22:08.906000+00:00", "mentions": [],
        "author": {"id": "11", "username": "ann", "global_name": "Ann", "discriminator": "0"},
        **fields,
    }  # fmt: skip


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"content": "<@12> <:party:77> <#6>", "mentions": [{"id": "12", "username": "ben"}]},
        {"type": 19, "message_reference": {"message_id": "3", "channel_id": "5"}},
        {"attachments": [{"id": "1", "filename": "a.png", "size": 3, "content_type": "image/png",
                          "url": "https://cdn.discordapp.com/attachments/5/1/a.png"}]},
        {"sticker_items": [{"id": "9", "name": "wave", "format_type": 2}], "content": ""},
        {"author": {"id": "13", "username": "app", "bot": True, "discriminator": "4321"},
         "content": "",
         "embeds": [{"type": "rich", "title": "T", "url": "https://example.org/a", "color": 255,
                     "fields": [{"name": "a", "value": "b", "inline": False}],
                     "image": {"url": "https://example.org/1.png"}},
                    {"type": "rich", "url": "https://example.org/a",
                     "image": {"url": "https://example.org/2.png"}}]},
        {"author": {"id": "900", "username": "Hook", "bot": True, "discriminator": "0000"},
         "webhook_id": "900"},
        {"content": "", "message_reference": {"type": 1, "message_id": "3", "channel_id": "6"},
         "message_snapshots": [{"message": {"content": "words",
                                            "timestamp": "2022-11-24T01:22:08.906000+00:00"}}]},
        {"edited_timestamp": "2022-11-24T01:23:08.906000+00:00"},
    ],
)  # fmt: skip
def test_a_live_message_is_equal_after_export_and_import(
    tmp_path: Path, fields: dict[str, Any]
) -> None:
    json_ = api(**fields)
    event, again = live(json_), read_back(tmp_path, json_)

    assert again.message.message_id == event.message.message_id
    assert again.message.timestamp == event.message.timestamp
    assert again.message.actor == event.message.actor
    assert [part for part in again.message.content if isinstance(part, TextPart)] == [
        part for part in event.message.content if isinstance(part, TextPart)
    ]
    assert (again.reply_to, again.edited_at) == (event.reply_to, event.edited_at)


@pytest.mark.skipif(corpus() is None, reason="UACS_CORPUS names no folder of payloads")
def test_every_message_of_the_corpus_can_be_exported_and_imported(tmp_path: Path) -> None:
    exported = 0
    for number, case in enumerate(cases("discord")):
        fields = case.payload if isinstance(case.payload, dict) else {}
        kept = ("content", "embeds", "attachments", "components", "poll", "sticker_items")
        content = {name: fields[name] for name in kept if fields.get(name)}
        if not content:
            continue
        json_ = api(**{"content": ""} | content)
        try:
            event = live(json_)
        except decode.UndecodableEvent:
            continue
        folder = tmp_path / str(number)
        folder.mkdir()
        again = read_back(folder, json_)
        assert again.message.message_id == event.message.message_id
        exported += 1
    assert exported > 50
