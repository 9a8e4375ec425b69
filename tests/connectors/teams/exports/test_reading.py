"""What is read from exports of Teams."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from bridge.errors import ExportUnreadable
from bridge.model import AccountId, MessagePosted, Raw
from bridge.model.export_records import (
    ExportedChannel,
    ExportedMessage,
    ExportedPerson,
    ExportItem,
    NotUnderstood,
)
from bridge.ports.exports import ReadOptions
from bridge.testing.export_contract import read_all
from bridge.uacs import StructuredDataPart, TextPart
from connectors.teams.activity import BotIdentity
from connectors.teams.decode import decode
from connectors.teams.exports import TeamsExportTool, TeamsGraph
from tests.connectors.teams import payloads
from tests.connectors.teams.exports import samples
from tests.connectors.teams.exports.samples import ANN, APP, BEN, CHANNEL, CHAT, TENANT, message

EMOJI = "http://schema.skype.com/Emoji"
GRAPH, TOOL = TeamsGraph(), TeamsExportTool()


def read_one(folder: Path, native: dict[str, Any]) -> ExportedMessage:
    """Write and read an export of one message."""
    path = samples.write(folder / "one.json", samples.answer([native]))
    (exported,) = messages_in(read_all(GRAPH, path, ReadOptions(workspace=TENANT)))
    return exported


def messages_in(items: Sequence[ExportItem]) -> list[ExportedMessage]:
    return [item for item in items if isinstance(item, ExportedMessage)]


def reports_in(items: Sequence[ExportItem]) -> list[str]:
    return [item.what for item in items if isinstance(item, NotUnderstood)]


def text_of(exported: ExportedMessage) -> str:
    parts = exported.posted.message.content
    return "\n\n".join(part.text for part in parts if isinstance(part, TextPart))


def live(**fields: Any) -> MessagePosted:
    activity = payloads.activity(**fields)
    raw = Raw(
        account=AccountId("a"), kind="activity", dedupe_key="", order_key="", channel=None,
        payload=orjson.dumps(activity),
    )  # fmt: skip
    (event,) = decode(raw, BotIdentity(AccountId("a"), APP))
    assert isinstance(event, MessagePosted)
    return event


def of_live(content: str, attachments: Sequence[Any] = ()) -> dict[str, Any]:
    """The chatMessage of the message that `live` makes."""
    place = {"teamId": "t", "channelId": payloads.CHANNEL}
    return message(payloads.ID, content, channelIdentity=place, attachments=attachments)


# --- as live ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "html"),
    [
        ("<p>Hello <b>you</b></p>", "<p>Hello <b>you</b></p>"),
        ('<emoji id="smile" alt="🙂"></emoji>', f'<p><img itemtype="{EMOJI}" alt="🙂"></p>'),
        ("", "<p></p>"),
    ],
)  # fmt: skip
def test_an_imported_message_has_the_id_place_and_content_of_the_live_one(
    tmp_path: Path, content: str, html: str
) -> None:
    posted = live(attachments=[payloads.html(html)])

    native = of_live(content)
    path = samples.write(tmp_path / "one.json", samples.answer([native]))
    (exported,) = messages_in(read_all(GRAPH, path, ReadOptions(workspace=payloads.TENANT)))

    assert exported.posted.place == posted.place
    assert exported.posted.native_id == posted.native_id
    assert exported.posted.message.message_id == posted.message.message_id
    assert exported.posted.message.timestamp == posted.message.timestamp
    assert exported.posted.message.content == posted.message.content


def test_a_card_has_the_content_of_the_live_one(tmp_path: Path) -> None:
    card = {"type": "AdaptiveCard", "body": [{"type": "TextBlock", "text": "Build 7"}]}
    kind = "application/vnd.microsoft.card.adaptive"
    posted = live(attachments=[{"contentType": kind, "content": card}])
    attachment = {"id": "7", "contentType": kind, "content": json.dumps(card), "name": None}

    native = of_live('<attachment id="7"></attachment>', attachments=[attachment])
    exported = read_one(tmp_path, native)

    assert exported.posted.message.content == posted.message.content
    assert isinstance(exported.posted.message.content[0], StructuredDataPart)


def test_a_quote_in_a_chat_is_a_reply(tmp_path: Path) -> None:
    quote = {
        "id": "1700000000001", "contentType": "messageReference",
        "content": json.dumps({"messageId": "1700000000001", "messagePreview": "old words"}),
    }  # fmt: skip
    content = '<attachment id="1700000000001"></attachment>\n<p>new</p>'

    exported = read_one(
        tmp_path, message("1700000000002", content, chatId=CHAT, attachments=[quote])
    )

    assert exported.reply_to == "1700000000001"
    assert text_of(exported) == "new"


def test_pictures_of_the_text_are_pictures(tmp_path: Path) -> None:
    url = f"https://graph.microsoft.com/v1.0/chats/{CHAT}/messages/1/hostedContents/x/$value"
    exported = read_one(tmp_path, message("1700000000002", f'<p>look</p><img src="{url}">'))

    assert text_of(exported) == "look\n\n🖼 image"
    (picture,) = (
        part for part in exported.posted.message.content if isinstance(part, StructuredDataPart)
    )
    assert picture.data == {"contentType": "image/*", "contentUrl": url}


def test_a_shared_file_has_its_name_and_its_page(tmp_path: Path) -> None:
    page = "https://garden.sharepoint.com/plan.docx"
    attachment = {"id": "7", "contentType": "reference", "contentUrl": page, "name": "plan.docx"}
    native = message(
        "1700000000002", 'Here <attachment id="7"></attachment>', attachments=[attachment]
    )

    text = text_of(read_one(tmp_path, native))

    assert text == f"Here\n\n📎 [plan.docx]({page})"


def test_the_subject_of_a_post_is_its_heading(tmp_path: Path) -> None:
    exported = read_one(tmp_path, message("1700000000002", "<p>words</p>", subject="News <1>"))

    assert text_of(exported) == "### News <1>\n\nwords"


# --- people, channels, reactions ----------------------------------------------------------------


def test_messages_have_people_threads_reactions_and_edits(tmp_path: Path) -> None:
    graph, tool = samples.graph(tmp_path / "a"), samples.tool(tmp_path / "b")
    for form, folder in ((GRAPH, graph), (TOOL, tool)):
        items = read_all(form, folder)
        by_id = {exported.posted.native_id: exported for exported in messages_in(items)}
        root, reply = by_id[samples.ROOT], by_id[samples.REPLY]

        assert root.posted.author.id == f"teams:{TENANT}:{ANN}"
        (reaction,) = root.reactions
        assert (reaction.emoji, reaction.actor) == ("👍", f"teams:{TENANT}:{BEN}")
        assert reaction.at == datetime(2023, 11, 14, 22, 20, tzinfo=UTC).timestamp()
        assert reply.root == reply.posted.place.thread == samples.ROOT
        assert reply.posted.edited_at == datetime(2023, 11, 14, 22, 30, tzinfo=UTC)
        assert text_of(reply) == f"[@Ann](uacs:actor/teams:{TENANT}:{ANN}) hi"
        people = [item.person.name for item in items if isinstance(item, ExportedPerson)]
        assert people[:2] == ["Ann", "Ben"]
        assert not reports_in(items)


def test_channels_and_chats_have_names_and_kinds(tmp_path: Path) -> None:
    items = read_all(GRAPH, samples.graph(tmp_path / "a"))

    channels = {
        item.channel.channel: (item.name, item.kind)
        for item in items
        if isinstance(item, ExportedChannel)
    }

    assert channels == {CHANNEL: ("General", "public"), CHAT: ("Plans", "group")}


def test_a_system_message_says_what_happened(tmp_path: Path) -> None:
    items = read_all(GRAPH, samples.graph(tmp_path / "a"))
    (event,) = (m for m in messages_in(items) if m.posted.native_id == "1700000003000")

    assert text_of(event) == "Ann added Ben"
    assert event.posted.message.actor.role == "system"


def test_a_system_message_of_an_unknown_kind_says_its_kind(tmp_path: Path) -> None:
    detail = {"@odata.type": "#microsoft.graph.whiteboardSharedEventMessageDetail"}
    native = message("1700000003000", eventDetail=detail, sender=None)

    assert text_of(read_one(tmp_path, native)) == "Whiteboard shared"


def test_a_deleted_message_is_deleted(tmp_path: Path) -> None:
    native = message("1700000004000", deletedDateTime="2023-11-14T22:40:00Z")

    assert read_one(tmp_path, native).deleted


def test_a_bot_has_the_id_that_live_messages_have(tmp_path: Path) -> None:
    bot = {"application": {"id": APP, "displayName": "Deploys"}, "user": None}
    author = read_one(tmp_path, message("1700000004000", "x", sender=bot)).posted.author

    assert (author.id, author.name, author.bot) == (f"teams:{TENANT}:28%3A{APP}", "Deploys", True)


def test_a_message_without_author_is_imported(tmp_path: Path) -> None:
    author = read_one(tmp_path, message("1700000004000", "x", sender=None)).posted.author

    assert author.name == "Unknown author"


def test_replies_within_their_root_are_read(tmp_path: Path) -> None:
    reply = {**samples.IN_CHANNEL[1], "replyToId": samples.ROOT}
    path = samples.write(tmp_path / "one.json", {**samples.IN_CHANNEL[0], "replies": [reply]})

    roots = [exported.root for exported in messages_in(read_all(GRAPH, path))]

    assert roots == [None, samples.ROOT]


def test_the_context_of_an_answer_names_the_chat_that_its_messages_lack(tmp_path: Path) -> None:
    native = message("1700000004000", "x", chatId=None, channelIdentity=None)
    quoted = CHAT.replace(":", "%3A")
    context = f"https://graph.microsoft.com/v1.0/$metadata#chats('{quoted}')/messages"
    path = samples.write(tmp_path / "one.json", {"@odata.context": context, "value": [native]})

    (exported,) = messages_in(read_all(GRAPH, path, ReadOptions(workspace=TENANT)))

    assert exported.posted.place.channel.channel == CHAT


# --- damaged exports ----------------------------------------------------------------------------


def test_what_is_no_message_is_reported(tmp_path: Path) -> None:
    timeless = message("1700000004000", "x") | {"id": "no time", "createdDateTime": "?"}
    value = [samples.IN_CHANNEL[0], 7, {"x": 1}, {"id": "9", "body": {}}, timeless]
    path = samples.write(tmp_path / "one.json", samples.answer(value))

    items = read_all(GRAPH, path)

    assert len(messages_in(items)) == 1
    assert sorted(reports_in(items)) == [
        "item that is no JSON object",
        "item that is no message, channel, chat or person",
        "message with missing or wrong fields",
        "message without channel or chat",
    ]


def test_a_broken_file_leaves_the_others_readable(tmp_path: Path) -> None:
    folder = samples.graph(tmp_path / "a")
    (folder / "channels.json").write_bytes(b'{"value": [{')
    reader = GRAPH.reader(folder, ReadOptions())
    failed: list[str] = []
    messages = 0
    for unit in reader.units():
        try:
            messages += len(messages_in(list(reader.read(unit))))
        except ExportUnreadable:
            failed.append(unit.key)

    assert failed == ["channels.json"]
    assert messages == 5


def test_links_do_not_lead_out_of_the_export(tmp_path: Path) -> None:
    outside = samples.graph(tmp_path / "outside")
    folder = samples.graph(tmp_path / "a")
    (folder / "more").symlink_to(outside, target_is_directory=True)
    (folder / "more.json").symlink_to(outside / "chat.json")

    assert len(messages_in(read_all(GRAPH, folder))) == 5


def test_an_export_that_names_no_tenant_asks_for_the_workspace(tmp_path: Path) -> None:
    native = message("1700000004000", "x", webUrl=None, sender=None)
    path = samples.write(tmp_path / "one.json", samples.answer([native]))

    with pytest.raises(ExportUnreadable, match="--workspace"):
        GRAPH.reader(path, ReadOptions())
