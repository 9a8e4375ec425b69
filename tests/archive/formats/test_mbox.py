"""An export as mbox is read by mail programs, names nobody's address and begins no header of its
own."""

from __future__ import annotations

import io
import mailbox
from collections.abc import Sequence
from dataclasses import replace
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from pathlib import Path

import pytest

from bridge.archive.formats.mbox import Mbox
from bridge.errors import ExportUnreadable
from bridge.model import Person, actor_id_of
from bridge.model.export_records import ExportedChannel, ExportItem
from bridge.ports.exports import ReadOptions, WriteOptions
from bridge.testing.export_contract import archived, write_all
from bridge.uacs import FilePart, MediaSource
from tests.archive.conversation import HOME, a_conversation, exported


def mails(tmp_path: Path, items: Sequence[ExportItem]) -> list[EmailMessage]:
    target = tmp_path / "out.mbox"
    write_all(Mbox(), items, target, "tin")
    return read(target)


def read(target: Path) -> list[EmailMessage]:
    box = mailbox.mbox(target, create=False)
    try:
        parser = BytesParser(policy=policy.default)
        return [parser.parsebytes(bytes(mail)) for mail in box]  # pyright: ignore[reportReturnType]
    finally:
        box.close()


def test_each_message_is_an_email_in_its_thread(tmp_path: Path) -> None:
    found = mails(tmp_path, a_conversation())
    by_subject = {str(mail["Subject"]): mail for mail in found}
    root, reply = by_subject["[home] message 1"], by_subject["[home] in the thread"]

    assert len(found) == 8
    assert root["From"].addresses[0].display_name == "Ann"
    assert root["From"].addresses[0].domain == "tin.invalid"
    assert root["Date"].datetime.isoformat() == "2024-02-29T23:59:59+00:00"
    assert root.get_content() == "message 1\n"
    assert reply["In-Reply-To"] == root["Message-ID"]
    assert reply["From"].addresses[0].display_name == "Bob 漢字"
    assert root["X-UACS-Pinned"] == "yes"
    assert len(root.get_all("X-UACS-Reaction", [])) == 3
    assert "X-UACS-Deleted" in by_subject["[home] message 4"]


def test_the_same_archive_gives_the_same_bytes(tmp_path: Path) -> None:
    write_all(Mbox(), a_conversation(), tmp_path / "a.mbox", "tin")
    write_all(Mbox(), a_conversation(), tmp_path / "b.mbox", "tin")

    assert (tmp_path / "a.mbox").read_bytes() == (tmp_path / "b.mbox").read_bytes()


@pytest.mark.parametrize("text", ["From here on", "x\nFrom me\n>From you", "\n\nFrom \n"])
def test_a_line_that_begins_with_from_begins_no_email(tmp_path: Path, text: str) -> None:
    found = mails(tmp_path, [ExportedChannel(HOME, "home"), exported(1, text=text), exported(2)])

    assert len(found) == 2


@pytest.mark.parametrize(
    "name", ["Eve\r\nBcc: all@example.test", "a\u2028b", '"x" <a@b.test>', "", "é" * 300]
)
def test_a_name_begins_no_header_and_is_no_address(tmp_path: Path, name: str) -> None:
    author = Person(id=actor_id_of("tin", "W1", "U9"), name=name)
    channel = ExportedChannel(HOME, f"home\r\nX-Evil: {name}")

    (mail,) = mails(tmp_path, [channel, exported(1, author, text=name or "x")])

    assert "Bcc" not in mail
    assert "X-Evil" not in mail
    assert [address.domain for address in mail["From"].addresses] == ["tin.invalid"]


def test_files_are_attachments_or_reported(tmp_path: Path) -> None:
    file_id = f"blob:sha256-{'ab' * 32}"
    part = FilePart(source=MediaSource(file_id=file_id), media_type="application/pdf")
    item = exported(10)
    content = (*item.posted.message.content, part)
    message = item.posted.message.model_copy(update={"content": content})
    item = replace(item, posted=item.posted.model_copy(update={"message": message}))
    lost: list[int] = []
    for name, options in (
        ("with", WriteOptions(lambda _: io.BytesIO(b"PDF"))),
        ("without", WriteOptions()),
    ):
        writer = Mbox().writer(tmp_path / f"{name}.mbox", options)
        writer.channel(ExportedChannel(HOME, "home"))
        writer.message(archived(item, "tin"))
        lost.append(len(writer.finish()))

    (mail,) = read(tmp_path / "with.mbox")
    (attachment,) = mail.iter_attachments()
    assert attachment.get_content() == b"PDF"
    assert lost == [0, 1]


def test_mbox_cannot_be_read(tmp_path: Path) -> None:
    assert not Mbox().recognises(tmp_path)
    with pytest.raises(ExportUnreadable, match="can only be written"):
        Mbox().reader(tmp_path, ReadOptions())
