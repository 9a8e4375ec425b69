"""A Slack export of messages of another platform, and of live messages of Slack."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from bridge.content.messages.metadata import BridgeMetadata, PartDetails, with_bridge_metadata
from bridge.model import ActorId, ChannelRef, Person, Place, message_id_of
from bridge.model.export_records import (
    ArchivedMessage,
    ExportedChannel,
    ExportedMessage,
    ExportedPerson,
    ExportedReaction,
    NotWritten,
)
from bridge.model.refs import MessageId
from bridge.ports.exports import WriteOptions
from bridge.testing.export_contract import archived, read_all
from bridge.uacs import Actor, FilePart, MediaSource, Message, Role, StructuredDataPart, TextPart
from bridge.uacs import write as to_json
from connectors.slack.exports.zip_format import SlackZip
from tests.connectors.slack.exports import samples

Json = dict[str, Any]

ROOM = ChannelRef(platform="discord", workspace="900", channel="901")
EVE = Person(id=ActorId("discord:900:1"), name="Eve Ω", picture="https://cdn.example.com/eve.png")
BOT = Person(id=ActorId("discord:900:2"), name="Helper", bot=True)
NOON = 1704110400.25


def message(
    number: int, *parts: Any, author: Person = EVE, at: float | None = None, role: Role = "human",
    **more: Any,
) -> ArchivedMessage:  # fmt: skip
    content = [
        TextPart(text=part, format="markdown") if isinstance(part, str) else part for part in parts
    ]
    time = NOON + number if at is None else at
    return ArchivedMessage.of(
        Message(
            message_id=message_id_of(ROOM, str(number)), timestamp="2024-01-01T12:00:00Z",
            actor=Actor(id=author.id, role=role, name=author.name), content=tuple(content),
        ),
        author, time=time, place=Place(channel=ROOM), native_id=str(number), **more,
    )  # fmt: skip


def write(
    target: Path, *messages: ArchivedMessage, channel: ExportedChannel | None = None,
    files: dict[str, bytes] | None = None,
) -> list[NotWritten]:  # fmt: skip
    def opened(file_id: str) -> BinaryIO | None:
        content = (files or {}).get(file_id)
        return None if content is None else io.BytesIO(content)

    writer = SlackZip().writer(target, WriteOptions(files=opened))
    assert writer is not None
    writer.person(ExportedPerson(EVE, {"id": "1", "username": "eve"}))
    writer.channel(
        channel or ExportedChannel(ROOM, "Off Topic", topic="**All** else", members=(EVE.id,))
    )
    for one in messages:
        writer.message(one)
    return list(writer.finish())


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "export.zip"


def posts(target: Path) -> list[Json]:
    (found,) = samples.contents(target)["posts"].values()
    return found


def test_a_message_has_its_author_its_text_and_its_time(target: Path) -> None:
    write(target, message(1, f"**Hi** [@Eve](uacs:actor/{EVE.id}) & all"))

    (post,) = posts(target)
    (eve,) = samples.contents(target)["lists"]["users.json"]
    assert post["user"] == eve["id"]
    assert (post["username"], post["icons"]["image_72"]) == ("Eve Ω", EVE.picture)
    assert eve["profile"]["display_name"] == "Eve Ω"
    assert post["ts"] == "1704110401.250000"
    assert post["text"] == f"*Hi* <@{eve['id']}> &amp; all"


def test_times_are_unique_in_a_channel(target: Path) -> None:
    write(target, *(message(number, "x", at=NOON) for number in range(3)))

    assert [post["ts"] for post in posts(target)] == [
        "1704110400.250000", "1704110400.250001", "1704110400.250002",
    ]  # fmt: skip


def test_the_root_of_a_thread_lists_replies_of_later_days(target: Path) -> None:
    root = message(1, "root")
    later = NOON + 3 * 86_400
    reply = message(2, "reply", author=BOT, at=later, root=MessageId(root.message.message_id))

    write(target, root, message(3, "between"), reply)

    first, _, last = posts(target)
    assert last["thread_ts"] == first["thread_ts"] == first["ts"]
    assert first["replies"] == [{"user": last["user"], "ts": last["ts"]}]
    assert (first["reply_count"], first["latest_reply"]) == (1, last["ts"])
    assert first["reply_users"] == [last["user"]]
    assert len([name for name in samples.read_files(target) if name.startswith("Off-Topic/")]) == 2


def test_a_thread_without_a_root_message_has_its_first_message_as_root(target: Path) -> None:
    place = Place(channel=ROOM, thread="77")

    write(target, *(replace(message(number, "x"), place=place) for number in (1, 2)))

    first, second = posts(target)
    assert second["thread_ts"] == first["ts"]
    assert first["reply_count"] == 1


def test_reactions_edits_and_pins_are_written(target: Path) -> None:
    reactions = (
        ExportedReaction("👍", EVE.id), ExportedReaction("👍", BOT.id),
        ExportedReaction(":party:", EVE.id, at=NOON),
    )  # fmt: skip

    lost = write(target, message(1, "x", reactions=reactions, edited_at=NOON + 60, pinned=True))

    (post,) = posts(target)
    assert [(one["name"], one["count"]) for one in post["reactions"]] == [("+1", 2), ("party", 1)]
    assert post["edited"] == {"user": post["user"], "ts": "1704110460.250000"}
    (channel,) = samples.contents(target)["lists"]["channels.json"]
    assert channel["pins"][0]["id"] == post["ts"]
    assert [one.what for one in lost] == ["times of reactions"]


def test_bots_system_messages_and_deleted_messages_keep_their_kind(target: Path) -> None:
    write(
        target,
        message(1, "from a bot", author=BOT, role="assistant"),
        message(2, "Eve joined", role="system"),
        message(3, "secret", deleted=True),
    )

    bot, joined, gone = posts(target)
    assert (bot["subtype"], bot["username"]) == ("bot_message", "Helper")
    assert joined["subtype"] == "system_message"
    assert gone["subtype"] == "tombstone"
    assert b"secret" not in b"".join(samples.read_files(target).values())

    found = [item for item in read_all(SlackZip(), target) if isinstance(item, ExportedMessage)]
    assert [item.posted.message.actor.role for item in found] == ["assistant", "system", "system"]
    assert found[2].deleted


def test_files_are_copied_and_named_by_the_message(target: Path) -> None:
    file = FilePart(source=MediaSource(file_id="blob:sha256-1"), media_type="application/pdf")
    gone = FilePart(source=MediaSource(file_id="blob:sha256-2"), media_type="application/pdf")
    written = message(1, "see", file, gone)
    details = {"1": PartDetails(name="a/../plan ü.pdf", size=3), "2": PartDetails(name="no.pdf")}
    named = with_bridge_metadata(written.message, BridgeMetadata(parts=details))

    lost = write(target, replace(written, body=to_json(named)), files={"blob:sha256-1": b"PDF"})

    (post,) = posts(target)
    first, second = post["files"]
    assert (first["name"], second["name"]) == ("plan ü.pdf", "no.pdf")
    assert samples.contents(target)["uploads"] == {f"__uploads/{first['id']}/plan ü.pdf": b"PDF"}
    assert [one.what for one in lost] == ["bytes of a file"]


def test_a_card_becomes_blocks_that_viewers_show(target: Path) -> None:
    nodes = [
        {"type": "prose", "text": "# Deploy"},
        {"type": "prose", "text": f"by [@Eve](uacs:actor/{EVE.id})"},
        {"type": "divider"},
        {"type": "fields", "items": [{"label": "Version", "value": "4.2"}]},
    ]
    card: Any = {"type": "card", "nodes": nodes}
    part = StructuredDataPart(schema_id="application/vnd.uacs.card+json", data=card)

    write(target, message(1, part, author=BOT))

    (post,) = posts(target)
    assert {block["type"] for block in post["blocks"]} == {"rich_text", "divider", "section"}
    assert all("fields" in block for block in post["blocks"] if block["type"] == "section")
    users = samples.contents(target)["lists"]["users.json"]
    (eve,) = (user["id"] for user in users if user["real_name"] == EVE.name)
    assert {"type": "user", "user_id": eve} in post["blocks"][1]["elements"][0]["elements"]
    assert "Deploy" in json.dumps(post["blocks"][0])


@pytest.mark.parametrize(
    "name", ["../../etc", "a/b\\c", "CON", "__uploads", "users.json", "  ", "..", "x" * 500, "秘密"]
)
def test_the_folder_of_a_channel_is_safe_and_its_name(target: Path, name: str) -> None:
    write(target, message(1, "x"), channel=ExportedChannel(ROOM, name))

    (folder,) = samples.contents(target)["posts"]
    (channel,) = samples.contents(target)["lists"]["channels.json"]
    assert channel["name"] == folder
    assert not {"..", "", "CON", "__uploads", "users.json"} & {folder}
    assert "/" not in folder
    assert len([*read_all(SlackZip(), target)]) == 3


def test_channels_of_one_name_have_folders_of_their_own(tmp_path: Path) -> None:
    writer = SlackZip().writer(tmp_path / "export", WriteOptions())
    assert writer is not None
    for native in ("1", "2"):
        ref = ROOM.model_copy(update={"channel": native})
        writer.channel(ExportedChannel(ref, "General" if native == "1" else "general"))
        writer.message(replace(message(1, "x"), place=Place(channel=ref)))
    writer.finish()

    folders = samples.contents(tmp_path / "export")["posts"]
    assert len({folder.casefold() for folder in folders}) == 2


@pytest.mark.parametrize(
    ("kind", "index"),
    [("private", "groups.json"), ("group", "mpims.json"), ("direct", "dms.json"),
     ("thread", "channels.json"), ("room", "channels.json")],
)  # fmt: skip
def test_each_kind_of_channel_has_its_index(target: Path, kind: Any, index: str) -> None:
    write(target, message(1, "x"), channel=ExportedChannel(ROOM, "x", kind, members=(EVE.id,)))

    (channel,) = samples.contents(target)["lists"][index]
    (folder,) = samples.contents(target)["posts"]
    assert folder == (channel["id"] if kind == "direct" else channel["name"])
    assert len(channel["members"]) == 1


# --- messages of Slack that are not from an export ------------------------------------------

GENERAL = ExportedChannel(
    ChannelRef(platform="slack", workspace=samples.TEAM, channel=samples.GENERAL), "general",
    native=samples.CHANNELS[0],
)  # fmt: skip


def imported(tmp_path: Path) -> list[ArchivedMessage]:
    path = samples.written(tmp_path / "first.zip", samples.export_files())
    return [
        archived(item, "slack-zip")
        for item in read_all(SlackZip(), path)
        if isinstance(item, ExportedMessage)
        and item.posted.place.channel.channel == samples.GENERAL
    ]


def test_a_live_reply_joins_the_thread_of_an_imported_root(tmp_path: Path, target: Path) -> None:
    live = samples.post("1704300000.000100", "later", samples.BOB, thread_ts=samples.ROOT)
    event = {**live, "channel": samples.GENERAL, "event_ts": live["ts"], "channel_type": "channel"}
    every = imported(tmp_path)
    reply = replace(
        every[2], native_id=live["ts"], payload_kind="message",
        payload=json.dumps({"event": event, "type": "event_callback"}).encode(),
    )  # fmt: skip

    write(target, *every, reply, channel=GENERAL)

    found = {post["ts"]: post for post in posts(target)}
    assert found[live["ts"]] == live
    assert found[samples.ROOT]["reply_count"] == 3
    assert found[samples.ROOT]["replies"][-1] == {"user": samples.BOB, "ts": live["ts"]}


def test_what_changed_after_the_import_is_written(tmp_path: Path, target: Path) -> None:
    root, gone, reply, *_ = imported(tmp_path)
    text = TextPart(text="**Edited**", format="markdown")
    root = replace(
        root, edited_at=1704400000.0, reactions=root.reactions[:1],
        body=to_json(root.message.model_copy(update={"content": (text,)})),
    )  # fmt: skip

    write(target, root, gone, replace(reply, deleted=True), channel=GENERAL)

    edited, tombstone, deleted = posts(target)
    assert edited["text"] == "*Edited*"
    assert "blocks" not in edited
    assert edited["edited"]["ts"] == "1704400000.000000"
    assert [one["users"] for one in edited["reactions"]] == [[samples.BOB]]
    assert edited["replies"] == samples.FIRST_DAY[0]["replies"]
    assert tombstone == samples.FIRST_DAY[1]
    assert (deleted["subtype"], deleted["thread_ts"]) == ("tombstone", samples.ROOT)
    assert "files" not in deleted


def test_an_answer_of_an_agent_in_slack_keeps_its_ts(target: Path) -> None:
    agent = Person(id=ActorId("agent:helper"), name="Helper", bot=True)
    answer = message(1, "Sure", author=agent, role="assistant")
    ts = "1704300000.000100"
    of_slack = replace(
        answer, native_id=ts, place=Place(channel=GENERAL.channel),
        root=message_id_of(GENERAL.channel, samples.ROOT),
    )  # fmt: skip

    write(target, of_slack, channel=GENERAL)

    (post,) = posts(target)
    assert (post["ts"], post["thread_ts"], post["text"]) == (ts, samples.ROOT, "Sure")
