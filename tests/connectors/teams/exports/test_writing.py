"""Messages of any platform, written as saved answers of Microsoft Graph."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from bridge.model import ActorId, ChannelRef, Person, Place, message_id_of
from bridge.model.export_records import (
    ROOMS,
    ArchivedMessage,
    ChannelKind,
    ExportedChannel,
    ExportedMessage,
    ExportedPerson,
    ExportedReaction,
    ExportItem,
    NotWritten,
)
from bridge.ports.exports import ReadOptions, WriteOptions
from bridge.testing.export_contract import archived, read_all
from bridge.uacs import Actor, Message, TextPart, write
from connectors.teams.activity import KIND
from connectors.teams.exports import TeamsExportTool, TeamsGraph
from tests.connectors.teams import payloads
from tests.connectors.teams.exports import samples
from tests.connectors.teams.exports.test_reading import live, messages_in, text_of

FORM = TeamsGraph()
SLACK = ChannelRef(platform="slack", workspace="T1", channel="C1")
ANN = Person(id=ActorId("slack:T1:U1"), name="Ann")


def slack_message(
    number: int, text: str, root: int | None = None, **fields: Any
) -> ArchivedMessage:
    message = Message(
        message_id=message_id_of(SLACK, str(number)),
        timestamp="2023-11-14T22:13:20Z",
        actor=Actor(id=ANN.id, role="human", name="Ann"),
        content=(TextPart(text=text, format="markdown"),),
    )
    thread = None if root is None else str(root)
    return ArchivedMessage.of(
        message, ANN, time=1700000000.0 + number, native_id=str(number),
        place=Place(channel=SLACK, thread=thread),
        root=message_id_of(SLACK, thread) if thread else None, **fields,
    )  # fmt: skip


def exported(
    folder: Path, *messages: ArchivedMessage, kind: ChannelKind = "public",
    channel: ChannelRef = SLACK,
) -> tuple[list[ExportItem], list[NotWritten]]:  # fmt: skip
    """Return what is read again from an export of the messages, and what it does not say."""
    writer = FORM.writer(folder / "export", WriteOptions())
    writer.person(ExportedPerson(ANN))
    writer.channel(ExportedChannel(channel, "general", kind))
    for message in messages:
        writer.message(message)
    lost = list(writer.finish())
    writer.close()
    assert FORM.recognises(folder / "export")
    return read_all(FORM, folder / "export", ReadOptions(workspace="t")), lost


@pytest.mark.parametrize("kind", ["public", "private", "room", "direct", "group"])
def test_a_message_of_another_platform_has_author_text_and_time(
    tmp_path: Path, kind: ChannelKind
) -> None:
    reaction = ExportedReaction("👍", ANN.id, 1700000009.0)
    items, lost = exported(
        tmp_path, slack_message(1, "Hello **all**", reactions=(reaction,)), kind=kind
    )

    (message,) = messages_in(items)
    (channel,) = (item for item in items if isinstance(item, ExportedChannel))
    assert text_of(message) == "Hello **all**"
    assert message.posted.author.name == "Ann"
    assert message.posted.time.timestamp() == 1700000001.0
    assert [(one.emoji, one.at) for one in message.reactions] == [("👍", 1700000009.0)]
    assert (channel.name, channel.kind) == ("general", "public" if kind == "room" else kind)
    assert not lost


def test_a_thread_is_joined_to_its_root_and_a_reply_quotes(tmp_path: Path) -> None:
    root, reply = slack_message(1, "A"), slack_message(2, "B", root=1)
    answer = slack_message(3, "C", reply_to=message_id_of(SLACK, "1"))

    items, lost = exported(tmp_path, root, reply, answer)

    first, second, third = messages_in(items)
    assert second.root == first.posted.native_id
    assert third.reply_to == first.posted.native_id
    assert text_of(third) == "C"
    assert not lost


def test_messages_of_one_moment_have_ids_of_their_own(tmp_path: Path) -> None:
    same = replace(slack_message(2, "B"), time=slack_message(1, "A").time)

    items, _ = exported(tmp_path, slack_message(1, "A"), same)

    assert len({message.posted.native_id for message in messages_in(items)}) == 2


def test_a_room_has_answers_of_agents(tmp_path: Path) -> None:
    room = ChannelRef(platform=ROOMS[0], workspace=ROOMS[1], channel="1")
    answer = replace(slack_message(1, "An answer"), place=None, native_id=None)

    items, _ = exported(tmp_path, answer, kind="room", channel=room)

    assert [text_of(message) for message in messages_in(items)] == ["An answer"]


def test_a_live_message_of_teams_is_equal_after_export_and_import(tmp_path: Path) -> None:
    card = {"type": "AdaptiveCard", "body": [{"type": "TextBlock", "text": "Build 7"}]}
    fields: dict[str, Any] = {
        "attachments": [
            {"contentType": "application/vnd.microsoft.card.adaptive", "content": card},
            payloads.html(f"<p>{payloads.span(0, 'Bo')} look</p>"),
        ],
        "entities": [payloads.mention(payloads.ANN, "Bo")],
    }
    posted = live(**fields)
    message = ArchivedMessage.of(
        posted.message, posted.author, time=posted.time.timestamp(), place=posted.place,
        native_id=posted.native_id, payload=orjson.dumps(payloads.activity(**fields)),
        payload_kind=KIND,
    )  # fmt: skip
    writer = FORM.writer(tmp_path / "export", WriteOptions())
    writer.channel(ExportedChannel(posted.place.channel, "general"))
    writer.message(message)
    assert not writer.finish()

    options = ReadOptions(workspace=payloads.TENANT)
    (again,) = messages_in(read_all(FORM, tmp_path / "export", options))

    assert again.posted.place == posted.place
    assert again.posted.message.message_id == posted.message.message_id
    assert again.posted.message.actor == posted.message.actor
    assert again.posted.message.content == posted.message.content


def imported(folder: Path) -> ArchivedMessage:
    path = samples.write(folder / "one.json", samples.answer([samples.IN_CHANNEL[0]]))
    (message,) = messages_in(read_all(FORM, path))
    return archived(message, FORM.name)


def export_again(folder: Path, message: ArchivedMessage) -> ExportedMessage:
    writer = FORM.writer(folder / "export", WriteOptions())
    assert message.place is not None
    writer.channel(ExportedChannel(message.place.channel, "General"))
    writer.message(message)
    writer.finish()
    (again,) = messages_in(read_all(FORM, folder / "export", ReadOptions(workspace=samples.TENANT)))
    return again


def test_an_edit_after_the_import_is_written(tmp_path: Path) -> None:
    message = imported(tmp_path)
    text = TextPart(text="Edited", format="markdown")
    body = write(message.message.model_copy(update={"content": (text,)}))

    again = export_again(tmp_path, replace(message, edited_at=1700000500.0, body=body))

    assert text_of(again) == "Edited"
    assert again.posted.native_id == samples.ROOT
    assert again.posted.edited_at is not None


def test_a_deletion_and_reactions_after_the_import_are_written(tmp_path: Path) -> None:
    message = imported(tmp_path)
    reaction = ExportedReaction("🎉", message.reactions[0].actor, 1700000500.0)

    again = export_again(tmp_path, replace(message, deleted=True, reactions=(reaction,)))

    assert again.deleted
    assert again.reactions == (reaction,)


def test_json_that_only_other_programs_write_is_written(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    samples.write(path, samples.answer([samples.IN_CHANNEL[0]]))
    odd = b'"odd": [10000000000000000000000, "\\ud83d"], "replyToId"'
    path.write_bytes(path.read_bytes().replace(b'"replyToId"', odd))
    (message,) = messages_in(read_all(FORM, path))

    again = export_again(tmp_path, replace(archived(message, FORM.name), deleted=True))

    assert again.deleted


def test_the_export_of_users_and_teams_becomes_answers_of_graph(tmp_path: Path) -> None:
    form = TeamsExportTool()
    items = read_all(form, samples.tool(tmp_path / "tool"))
    writer = FORM.writer(tmp_path / "export", WriteOptions())
    messages = messages_in(items)
    for person in (item for item in items if isinstance(item, ExportedPerson)):
        writer.person(person)
    for channel in (item for item in items if isinstance(item, ExportedChannel)):
        writer.channel(channel)
        for message in messages:
            if message.posted.place.channel == channel.channel:
                writer.message(archived(message, form.name))
    writer.finish()

    again = messages_in(read_all(FORM, tmp_path / "export"))

    found = {message.posted.native_id: message.posted.message.content for message in again}
    assert found == {one.posted.native_id: one.posted.message.content for one in messages}
