"""Element's exports of Matrix rooms become messages with threads, edits, reactions and media."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from bridge.archive.formats.matrix import Matrix
from bridge.errors import ExportUnreadable
from bridge.model.export_records import ExportedMessage, ExportItem, NotUnderstood
from bridge.ports.exports import ExportFormat
from bridge.testing.export_contract import ExportFormatContract, read_all
from bridge.uacs import ImagePart, Message, TextPart

ROOM = "!room:example.org"
HEAD = {"room_name": "Den", "room_creator": "Ann", "topic": "all", "exported_by": "Ann"}


def event(number: int, kind: str, content: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "event_id": f"$e{number}:example.org",
        "room_id": ROOM,
        "type": kind,
        "sender": "@ann:example.org",
        "origin_server_ts": 1_700_000_000_000 + number * 1000,
        "content": content,
        **more,
    }


def said(number: int, body: str, relation: dict[str, Any] | None = None, **more: Any) -> Any:
    content = {"msgtype": "m.text", "body": body, **more}
    return event(
        number,
        "m.room.message",
        content if relation is None else {**content, "m.relates_to": relation},
    )


EVENTS = [
    event(0, "m.room.member", {"membership": "join", "displayname": "Ann"},
          state_key="@ann:example.org"),
    event(1, "m.room.topic", {"topic": "all"}),
    said(2, "first"),
    said(3, "> <@ann:example.org> first\n\nanswer",
         {"m.in_reply_to": {"event_id": "$e2:example.org"}}),
    said(4, "in thread", {"rel_type": "m.thread", "event_id": "$e2:example.org",
                          "is_falling_back": True,
                          "m.in_reply_to": {"event_id": "$e2:example.org"}}),
    said(5, "* fist", {"rel_type": "m.replace", "event_id": "$e2:example.org"},
         **{"m.new_content": {"msgtype": "m.text", "body": "first, edited"}}),
    event(6, "m.reaction", {"m.relates_to": {"rel_type": "m.annotation", "key": "👍",
                                             "event_id": "$e2:example.org"}},
          sender="@bob:example.org"),
    event(7, "m.room.message", {"msgtype": "m.image", "body": "cat.png",
                                "url": "mxc://example.org/cat",
                                "info": {"mimetype": "image/png", "size": 3}}),
    event(8, "m.room.message", {}, unsigned={"redacted_because": {"sender": "@mod:example.org"}}),
    event(9, "m.room.encrypted", {"algorithm": "m.megolm.v1.aes-sha2"}),
    said(10, "**bold**", None, format="org.matrix.custom.html", formatted_body="<b>bold</b>"),
    event(11, "m.room.message", {"msgtype": "m.emote", "body": "waves"}),
    event(12, "m.room.message", {"msgtype": "m.notice", "body": "beep"}),
    event(13, "m.room.create", {"room_version": "11"}),
]  # fmt: skip


def document(*events: Any) -> str:
    return json.dumps({**HEAD, "messages": list(events or EVENTS)})


def messages(items: list[ExportItem]) -> dict[str, ExportedMessage]:
    return {
        item.posted.native_id.removeprefix("$e").partition(":")[0]: item
        for item in items
        if isinstance(item, ExportedMessage)
    }


def texts(message: Message) -> list[str]:
    return [part.text for part in message.content if isinstance(part, TextPart)]


class TestMatrix(ExportFormatContract):
    """The contract, on a zip with two rooms."""

    @pytest.fixture
    def form(self) -> ExportFormat:
        return Matrix()

    @pytest.fixture
    def sample(self, tmp_path: Path) -> Path:
        path = tmp_path / "export.zip"
        other = document(*EVENTS[:4]).replace("!room", "!other")
        with zipfile.ZipFile(path, "w") as export:
            export.writestr("Element - Den/export.json", document())
            export.writestr("Element - Den/images/e7exampleorg.png", b"png")
            export.writestr("Element - Other/export.json", other)
        return path

    def messages_in(self, path: Path) -> int:
        return len(EVENTS) - 2 + 4  # an edit and a reaction belong to their message

    def comparable(self, path: Path) -> object:
        raise NotImplementedError  # the format is only read


def test_what_later_events_did_to_a_message_is_part_of_it(tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_text(document(), "utf-8")

    found = messages(read_all(Matrix(), path))

    first = found["2"]
    assert texts(first.posted.message) == ["first, edited"]
    assert [texts(former.message) for former in first.versions] == [["first"]]
    assert first.posted.edited_at is not None
    assert first.editor == "matrix:example.org:@ann%3Aexample.org"
    assert [(r.emoji, r.actor) for r in first.reactions] == [
        ("👍", "matrix:example.org:@bob%3Aexample.org")
    ]
    assert (texts(found["3"].posted.message), found["3"].reply_to) == (
        ["answer"],
        "$e2:example.org",
    )
    assert (found["4"].root, found["4"].reply_to) == ("$e2:example.org", None)
    assert found["8"].deleted
    assert found["8"].editor == "matrix:example.org:@mod%3Aexample.org"
    assert isinstance(found["10"].posted.message.content[0], TextPart)
    assert found["10"].posted.message.content[0].format == "markdown"
    assert texts(found["11"].posted.message) == ["Ann waves"]
    assert found["12"].posted.message.actor.role == "assistant"
    assert [texts(found[n].posted.message) for n in ("0", "1")] == [
        ["Ann joined"], ["The topic is “all”"],
    ]  # fmt: skip


def test_media_in_the_export_are_files_of_their_message(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "export.json").write_text(document(), "utf-8")
    (tmp_path / "images" / "e7exampleorg.png").write_bytes(b"png")

    image = messages(read_all(Matrix(), tmp_path))["7"]

    assert isinstance(image.posted.message.content[0], ImagePart)
    file = image.files["mxc://example.org/cat"]
    assert file.name == "cat.png"
    with file.open() as stream:
        assert stream.read() == b"png"


def test_what_is_no_message_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    odd = [7, {}, said(1, "x", None) | {"origin_server_ts": "now"}, said(2, "x") | {"event_id": 3},
           event(3, "m.room.message", {"msgtype": "m.image", "url": "no address", "body": 7}),
           said(4, "x") | {"origin_server_ts": 10**20}]  # fmt: skip
    path.write_text(document(*odd, *EVENTS[-5:]), "utf-8")

    reported = [item.what for item in read_all(Matrix(), path) if isinstance(item, NotUnderstood)]

    assert reported == [
        "item that is no event",
        *["event without id or time"] * 3,
        "message whose content breaks the specification",
        "event without id or time",
        "message that could not be decrypted",
        "event of the type m.room.create",
    ]


@pytest.mark.parametrize("text", ["{}", "[]", '{"messages": []}', "", '{"room_name": 1'])
def test_a_document_of_others_is_not_recognised(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)

    assert not Matrix().recognises(path)
    with pytest.raises(ExportUnreadable, match="no document that Element exported"):
        Matrix().reader(path, None)  # pyright: ignore[reportArgumentType]


def test_the_recorded_events_are_read_or_reported() -> None:
    if not (corpus := os.environ.get("UACS_CORPUS")):
        pytest.skip("UACS_CORPUS names no folder of recorded payloads")
    path = Path(corpus) / "exports/matrix/spec_events_in_element_envelope.json"
    events = json.loads(path.read_bytes())["messages"]
    items = read_all(Matrix(), path)

    found = [i for i in items if isinstance(i, ExportedMessage | NotUnderstood)]
    others = sum(one["type"] in ("m.reaction", "m.room.redaction") for one in events)
    assert len(found) == len(events) - others
    assert sum(isinstance(item, ExportedMessage) for item in found) >= 9
