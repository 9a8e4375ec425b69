"""What a document of DiscordChatExporter says, as messages of Discord."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from bridge.errors import ExportUnreadable
from bridge.model.export_records import (
    ExportedChannel,
    ExportedMessage,
    ExportedPerson,
    ExportedReaction,
    ExportItem,
    NotUnderstood,
)
from bridge.ports.exports import ReadOptions
from bridge.testing.export_contract import read_all
from bridge.uacs import TextPart
from connectors.discord.exports import DiscordChatExporter
from connectors.discord.ids import time_of
from tests.connectors.discord.exports import samples
from tests.connectors.discord.exports.samples import ANN, BEN, GENERAL, THREAD, message

FORM = DiscordChatExporter()


def items_of(path: Path, *messages: Any, channel: Any = None, **fields: Any) -> list[ExportItem]:
    samples.write(
        path / "one.json",
        samples.document(channel or {"id": GENERAL, "name": "general"}, [*messages], **fields),
    )
    return read_all(FORM, path)


def messages_of(items: list[ExportItem]) -> list[ExportedMessage]:
    return [item for item in items if isinstance(item, ExportedMessage)]


def reports_of(items: list[ExportItem]) -> list[str]:
    return [item.what for item in items if isinstance(item, NotUnderstood)]


def text_of(exported: ExportedMessage) -> str:
    return "\n".join(
        part.text for part in exported.posted.message.content if isinstance(part, TextPart)
    )


@pytest.fixture
def sample(tmp_path: Path) -> list[ExportItem]:
    return read_all(FORM, samples.write_sample(tmp_path / "export"))


def by_id(items: list[ExportItem]) -> dict[str, ExportedMessage]:
    return {exported.posted.native_id: exported for exported in messages_of(items)}


# --- channels, threads, order ---------------------------------------------------------------


def test_each_channel_and_thread_is_named_once(sample: list[ExportItem]) -> None:
    channels = [item for item in sample if isinstance(item, ExportedChannel)]

    assert [(channel.channel.channel, channel.name, channel.kind) for channel in channels] == [
        (GENERAL, "general", "public"),
        (samples.IDEAS, "ideas", "public"),
        (THREAD, "details", "thread"),
    ]
    assert channels[0].topic == "About all"


def test_messages_of_a_thread_are_in_a_thread_of_its_channel(sample: list[ExportItem]) -> None:
    place = by_id(sample)["1045178587575242791"].posted.place

    assert (place.channel.channel, place.thread) == (GENERAL, THREAD)


def test_the_first_message_of_a_forum_post_is_the_root_of_its_thread(tmp_path: Path) -> None:
    post = {"id": "77", "name": "post", "type": "GuildPublicThread", "categoryId": "70"}
    items = items_of(tmp_path, message("77", "first"), message("78", "second"), channel=post)

    assert [exported.posted.place.thread for exported in messages_of(items)] == [None, "77"]


def test_parts_of_a_channel_are_read_in_order(sample: list[ExportItem]) -> None:
    of_channel = [
        exported.posted.native_id
        for exported in messages_of(sample)
        if exported.posted.place.key.endswith(GENERAL)
    ]

    assert of_channel == sorted(of_channel)


def test_direct_messages_are_of_no_server(tmp_path: Path) -> None:
    direct = {"id": "5", "name": "ann", "type": "DirectTextChat", "categoryId": None}
    guild = {"id": "0", "name": "Direct Messages", "iconUrl": "x"}
    items = items_of(tmp_path, message("1", "hi"), channel=direct, guild=guild)

    channel = next(item for item in items if isinstance(item, ExportedChannel))
    assert (channel.channel.workspace, channel.kind) == ("@me", "direct")


def test_a_thread_without_its_channel_is_reported_and_read_as_a_channel(tmp_path: Path) -> None:
    items = items_of(
        tmp_path,
        message("1", "hi"),
        channel={"id": "5", "type": "GuildPublicThread", "categoryId": None},
    )

    assert reports_of(items) == ["thread without the id of its channel"]
    assert messages_of(items)[0].posted.place.channel.channel == "5"


# --- text -----------------------------------------------------------------------------------


def test_names_in_the_text_become_mentions_and_emoji_again(sample: list[ExportItem]) -> None:
    text = text_of(by_id(sample)["1045178587575242773"])

    assert text.startswith("[@Ann](uacs:actor/discord:700000000000000001:11) look [:party:]")


def test_the_longest_name_is_mentioned(tmp_path: Path) -> None:
    longer = samples.user("14", "annie", nickname="Ann Lee")
    items = items_of(tmp_path, message("1", "@Ann Lee and @Anna", mentions=[ANN, longer]))

    assert text_of(messages_of(items)[0]) == (
        "[@Ann Lee](uacs:actor/discord:700000000000000001:14) and @Anna"
    )


def test_mentions_of_an_export_without_formatting_stay_mentions(tmp_path: Path) -> None:
    items = items_of(tmp_path, message("1", f"<@11> in <#{GENERAL}>", mentions=[ANN]))

    text = text_of(messages_of(items)[0])
    assert "[@Ann](uacs:actor/discord:700000000000000001:11)" in text
    assert "[#general]" in text


def test_previews_of_links_are_no_content_of_a_message(tmp_path: Path) -> None:
    preview = {"title": "A page", "url": "https://example.org", "description": "words"}
    items = items_of(tmp_path, message("1", "see https://example.org", embeds=[preview]))

    assert "A page" not in text_of(messages_of(items)[0])


def test_system_messages_are_messages_with_a_system_author(sample: list[ExportItem]) -> None:
    joined, thread = by_id(sample)["1045178587575242774"], by_id(sample)["1045178587575242790"]

    assert joined.posted.message.actor.role == "system"
    assert joined.posted.author.name == "Ben"
    assert text_of(joined) == "Joined the server."
    assert text_of(thread) == "Started this thread from a message of the channel."


@pytest.mark.parametrize("kind", ["8", "99", "SomethingNew", 7, None])
def test_a_kind_that_nobody_knows_is_a_system_message(tmp_path: Path, kind: Any) -> None:
    items = items_of(tmp_path, message("1", type=kind))

    (exported,) = messages_of(items)
    assert exported.posted.message.actor.role == "system"
    assert text_of(exported)


def test_a_message_without_content_is_imported_and_reported(sample: list[ExportItem]) -> None:
    assert text_of(by_id(sample)["1045178587575242779"]) == "[message without text]"
    assert reports_of(sample) == [
        "message without content: a poll, components, or a forward before 2026"
    ]


def test_a_forward_has_the_words_of_its_original_and_is_no_reply(sample: list[ExportItem]) -> None:
    forward = by_id(sample)["1045178587575242778"]

    assert "the original words" in text_of(forward)
    assert forward.reply_to is None


# --- people, reactions, files ---------------------------------------------------------------


def test_a_webhook_is_named_as_in_live_events(tmp_path: Path) -> None:
    hook = samples.user("900", "Alerts", isBot=True, nickname="Alerts")
    items = items_of(tmp_path, message("1", "down", author=hook))

    author = messages_of(items)[0].posted.author
    assert author.id == "discord:700000000000000001:900/Alerts"
    assert author.bot


def test_people_who_only_reacted_are_people_of_the_export(tmp_path: Path) -> None:
    thumbs = {"emoji": samples.emoji("👍"), "count": 1, "users": [BEN]}
    items = items_of(tmp_path, message("1", "hi", reactions=[thumbs]))

    people = [item.person.name for item in items if isinstance(item, ExportedPerson)]
    assert people == ["Ann", "Ben"]


def test_reactions_name_their_people(sample: list[ExportItem]) -> None:
    ann, ben = "discord:700000000000000001:11", "discord:700000000000000001:12"
    replied = by_id(sample)["1045178587575242773"]

    assert [(one.emoji, one.actor) for one in replied.reactions] == [
        ("👍", ann), ("👍", ben), (":party:", ben),
    ]  # fmt: skip
    assert all(isinstance(reaction, ExportedReaction) for reaction in replied.reactions)


def test_reactions_without_people_are_reported(tmp_path: Path) -> None:
    thumbs = {"emoji": samples.emoji("👍"), "count": 3}
    items = items_of(tmp_path, message("1", "hi", reactions=[thumbs]))

    assert reports_of(items) == ["reactions without the people who reacted"]


def test_replies_edits_and_pins_are_kept(sample: list[ExportItem]) -> None:
    pinned, reply = by_id(sample)["1045178587575242772"], by_id(sample)["1045178587575242773"]

    assert pinned.pinned
    assert reply.reply_to == "1045178587575242772"
    assert reply.posted.edited_at == datetime(2023, 1, 6, 14, 5, 3, tzinfo=UTC)


def test_a_file_beside_the_document_has_its_bytes(sample: list[ExportItem]) -> None:
    ((address, file),) = by_id(sample)["1045178587575242776"].files.items()

    assert address == f"https://cdn.discordapp.com/attachments/{GENERAL}/91/plan.txt"
    with file.open() as opened:
        assert opened.read() == b"plan"


@pytest.mark.parametrize("url", ["../secret.txt", "/etc/hostname", "a\\..\\..\\secret.txt", "\0"])
def test_files_outside_of_the_export_are_not_read(tmp_path: Path, url: str) -> None:
    (tmp_path / "secret.txt").write_bytes(b"secret")
    attachment = {"id": "9", "url": url, "fileName": "x.txt", "fileSizeBytes": 1}
    items = items_of(tmp_path / "export", message("1", "x", attachments=[attachment]))

    assert messages_of(items)[0].files == {}


def test_links_to_files_outside_of_the_export_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_bytes(b"secret")
    (tmp_path / "export").mkdir()
    (tmp_path / "export" / "link.txt").symlink_to(tmp_path / "secret.txt")
    (tmp_path / "export" / "linked.json").symlink_to(tmp_path / "secret.txt")
    attachment = {"id": "9", "url": "link.txt", "fileName": "x.txt", "fileSizeBytes": 1}
    items = items_of(tmp_path / "export", message("1", "x", attachments=[attachment]))

    assert messages_of(items)[0].files == {}


# --- times ----------------------------------------------------------------------------------


def test_times_are_in_utc_whatever_zone_the_exporter_was_in(tmp_path: Path) -> None:
    local = "2022-11-24T06:52:08.9061234+05:30"
    items = items_of(tmp_path, message("1045178587575242772", "hi", timestamp=local))

    (exported,) = messages_of(items)
    assert exported.posted.message.timestamp == "2022-11-24T01:22:08.906+00:00"


def test_a_time_without_a_zone_is_that_of_the_message_id(tmp_path: Path) -> None:
    created = time_of("1045178587575242772")
    local = (created + timedelta(hours=5, minutes=30)).replace(tzinfo=None)
    edited = local + timedelta(hours=1)
    posted = message(
        "1045178587575242772",
        "hi",
        timestamp=local.isoformat(),
        timestampEdited=edited.isoformat(),
    )
    (exported,) = messages_of(items_of(tmp_path, posted))

    assert exported.posted.time == created
    assert exported.posted.edited_at == created + timedelta(hours=1)


def test_a_time_without_a_zone_is_one_of_the_zone_that_is_given(tmp_path: Path) -> None:
    samples.write(
        tmp_path / "one.json",
        samples.document(
            {"id": GENERAL, "name": "general"}, [message("1", timestamp="2019-05-01T12:00:00")]
        ),
    )
    zone = timezone(timedelta(hours=2))
    (exported,) = messages_of(read_all(FORM, tmp_path, ReadOptions(timezone=zone)))

    assert exported.posted.time == datetime(2019, 5, 1, 10, tzinfo=UTC)


def test_a_document_of_2019_is_read(tmp_path: Path) -> None:
    old = {
        "id": "1",
        "type": "Default",
        "timestamp": "2019-05-01T12:00:00+00:00",
        "timestampEdited": None,
        "isPinned": False,
        "content": "old",
        "author": {"id": "2", "name": "Ann", "discriminator": "1234", "isBot": False},
        "attachments": [],
        "embeds": [{"title": "x", "image": {"url": "https://example.org/i.png"}, "fields": []}],
        "reactions": [{"emoji": {"id": None, "name": "👍"}, "count": 1}],
    }
    samples.write(
        tmp_path / "old.json",
        {
            "guild": {"id": "0", "name": "Direct Messages", "iconUrl": "x"},
            "channel": {"id": "5", "type": "DirectTextChat", "category": "Private", "name": "Ann"},
            "dateRange": {"from": None, "to": None},
            "messages": [old],
            "messageCount": 1,
        },
    )
    (exported,) = messages_of(read_all(FORM, tmp_path))

    assert text_of(exported) == "old"
    assert exported.posted.author.name == "Ann"


# --- broken and hostile documents -----------------------------------------------------------


@pytest.mark.parametrize(
    "broken",
    [
        {"id": "1"},
        {"id": "x", "author": None},
        {"id": "1", "type": "Default", "timestamp": "soon", "author": {"id": "1"}, "content": 5},
        {"id": "99999999999999999999", "author": {"id": "1"}, "timestamp": "0001-01-01T00:00"},
        [1],
        None,
        "words",
        {"id": "1", "content": [[[[]]]], "author": {"id": "2"}, "embeds": 7, "reactions": {}},
    ],
)
def test_a_broken_message_is_reported_and_the_rest_is_read(tmp_path: Path, broken: Any) -> None:
    items = items_of(tmp_path, broken, message("2", "whole"))

    assert text_of(messages_of(items)[-1]) == "whole"
    assert len(messages_of(items)) + len(reports_of(items)) >= 2


def test_deeply_nested_messages_are_reported(tmp_path: Path) -> None:
    whole = json.dumps(samples.document({"id": GENERAL}, [message("2", "whole")]))
    deep = "[" * 100_000 + "]" * 100_000
    (tmp_path / "deep.json").write_text(
        whole.replace('"messages": [', f'"messages": [{{"id": {deep}}}, ')
    )
    items = read_all(FORM, tmp_path)

    assert reports_of(items) == ["message that is no valid JSON"]
    assert [text_of(exported) for exported in messages_of(items)] == ["whole"]


@pytest.mark.parametrize("indent", [None, 2])
def test_keys_in_any_order_and_strings_with_brackets_are_read(
    tmp_path: Path, indent: int | None
) -> None:
    document = samples.document(
        {"id": GENERAL, "name": "general"}, [message("1", 'a "]}" \\ {[')] * 2
    )
    backwards = dict(reversed(document.items()))
    (tmp_path / "x.json").write_text("\ufeff" + json.dumps(backwards, indent=indent), "utf-8")
    items = read_all(FORM, tmp_path)

    assert len(messages_of(items)) == 2


def test_messages_longer_than_a_chunk_are_read(tmp_path: Path) -> None:
    long = "words \\n" * 400_000
    items = items_of(tmp_path, message("1", long), message("2", "short"))

    assert [exported.posted.native_id for exported in messages_of(items)] == ["1", "2"]


def test_a_file_that_ends_within_its_messages_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    samples.write(path, samples.document({"id": GENERAL}, [message("1", "hi"), message("2", "ho")]))
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.index(b'"ho"')])
    reader = FORM.reader(tmp_path, ReadOptions())
    items = reader.read(reader.units()[-1])
    read = [next(items), next(items)]

    assert [text_of(exported) for exported in messages_of(read)] == ["hi"]
    with pytest.raises(ExportUnreadable, match="ends in the middle"):
        next(items)


def test_other_files_are_reported(tmp_path: Path) -> None:
    samples.write(tmp_path / "package.json", {"name": "viewer"})
    items = items_of(tmp_path, message("1", "hi"))

    assert reports_of(items) == ["file of another format"]


def test_a_folder_without_documents_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(ExportUnreadable):
        FORM.reader(tmp_path, ReadOptions())
    with pytest.raises(ExportUnreadable):
        FORM.reader(tmp_path / "missing", ReadOptions())


def test_a_document_without_a_server_needs_the_workspace(tmp_path: Path) -> None:
    samples.write(
        tmp_path / "one.json",
        samples.document({"id": GENERAL}, [message("1", "hi")], guild={"name": "?"}),
    )

    with pytest.raises(ExportUnreadable, match="workspace"):
        read_all(FORM, tmp_path)
    (exported,) = messages_of(read_all(FORM, tmp_path, ReadOptions(workspace="7")))
    assert exported.posted.place.channel.workspace == "7"
