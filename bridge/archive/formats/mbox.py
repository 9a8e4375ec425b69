"""mbox: a file of e-mails, one for each message, for eDiscovery and mail programs.

RFC 4155 with the quoting of mboxrd. The same archive gives the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from bridge.content.media.file_names import safe_file_name
from bridge.content.messages.metadata import read_bridge_metadata
from bridge.content.messages.parts import message_text
from bridge.errors import ExportUnreadable
from bridge.model.export_records import (
    ArchivedMessage,
    ExportedChannel,
    ExportedPerson,
    NotWritten,
)
from bridge.ports.exports import ExportReader, ExportWriter, ReadOptions, WriteOptions

_POLICY = SMTP.clone(linesep="\n", max_line_length=78)
_FROM = re.compile(rb"^(>*From )", re.MULTILINE)
_SUBJECT = 70  # characters of the first words
_LARGEST = 25 * 1024 * 1024  # bytes of one attachment
_LINES = re.compile(r"[\x00-\x1f\x7f\u0085\u2028\u2029]+")


class Mbox:
    """The format; it can only be written."""

    name = "mbox"
    title = "mbox (e-mails)"
    platform = ""
    reads = False
    writes = True
    payloads = frozenset[str]()

    def recognises(self, path: Path) -> bool:
        """Nothing: a mailbox may be anybody's."""
        return False

    def reader(self, path: Path, options: ReadOptions) -> ExportReader:
        """Raises ExportUnreadable."""
        raise ExportUnreadable(f"{path}: mbox can only be written")

    def writer(self, path: Path, options: WriteOptions) -> ExportWriter:
        """Begin a file."""
        return _Writer(path.open("wb"), options)


class _Writer:
    def __init__(self, file: BinaryIO, options: WriteOptions) -> None:
        self._file = file
        self._options = options
        self._channel = ""
        self._not_written: list[NotWritten] = []

    def person(self, person: ExportedPerson) -> None:
        """Authors stand in each e-mail."""

    def channel(self, channel: ExportedChannel) -> None:
        self._channel = channel.name

    def message(self, message: ArchivedMessage) -> None:
        mail = self._mail(message)
        time = datetime.fromtimestamp(message.time, UTC)
        head = f"From {_address(message).addr_spec} {time:%a %b %d %H:%M:%S %Y}\n"
        body = _FROM.sub(rb">\1", mail.as_bytes(policy=_POLICY))
        self._file.write(head.encode("ascii") + body.rstrip(b"\n") + b"\n\n")

    def finish(self) -> Sequence[NotWritten]:
        self.close()
        return self._not_written

    def close(self) -> None:
        self._file.close()

    def _mail(self, message: ArchivedMessage) -> EmailMessage:
        mail = EmailMessage(_POLICY)
        text = message_text(message.message)[0]
        mail["From"] = _address(message)
        mail["To"] = Address(_line(self._channel), "channel", "archive.invalid")
        mail["Date"] = format_datetime(datetime.fromtimestamp(message.time, UTC))
        mail["Subject"] = f"[{_line(self._channel)}] {_line(text)[:_SUBJECT]}".strip()
        mail["Message-ID"] = _mail_id(message.message.message_id)
        answered = message.reply_to or message.root
        if answered and answered != message.message.message_id:
            mail["In-Reply-To"] = _mail_id(answered)
            roots = dict.fromkeys([message.root or answered, answered])
            mail["References"] = " ".join(_mail_id(own_id) for own_id in roots)
        for name, value in self._facts(message):
            mail[f"X-UACS-{name}"] = _line(value)
        mail.set_content(text + "\n")
        self._attach_files(mail, message)
        return mail

    def _facts(self, message: ArchivedMessage) -> list[tuple[str, str]]:
        facts = [("Message-Id", message.message.message_id), ("Author-Id", message.author.id)]
        if message.place is not None:
            facts.append(("Channel", message.place.key))
        if message.edited_at is not None:
            edited = datetime.fromtimestamp(message.edited_at, UTC)
            facts.append(("Deleted" if message.deleted else "Edited", edited.isoformat()))
        elif message.deleted:
            facts.append(("Deleted", "yes"))
        if message.pinned:
            facts.append(("Pinned", "yes"))
        facts += [
            ("Reaction", f"{reaction.emoji} {reaction.actor}") for reaction in message.reactions
        ]
        return facts

    def _attach_files(self, mail: EmailMessage, message: ArchivedMessage) -> None:
        details = read_bridge_metadata(message.message)[0].parts
        for index, part in enumerate(message.message.content):
            source = getattr(part, "source", None)
            if source is None or source.file_id is None:
                continue
            stream = self._options.files(source.file_id)
            own_id = message.message.message_id
            if stream is None:
                self._note(message, "file whose bytes are not in the archive")
                continue
            with stream:
                content = stream.read(_LARGEST + 1)
            if len(content) > _LARGEST:
                self._note(message, f"file of more than {_LARGEST:,} bytes")
                continue
            media_type: str = getattr(part, "media_type", "") or "application/octet-stream"
            main, _, sub = media_type.partition("/")
            about = details.get(str(index))
            name = safe_file_name((about.name if about else None) or "", media_type)
            mail.add_attachment(content, main, sub or "octet-stream", filename=name)
            mail.set_boundary(sha256(own_id.encode()).hexdigest()[:32])

    def _note(self, message: ArchivedMessage, what: str) -> None:
        self._not_written.append(NotWritten(None, what, message.message.message_id))


def _address(message: ArchivedMessage) -> Address:
    """An address that is nobody's: the domain `.invalid` exists nowhere (RFC 2606)."""
    digest = sha256(message.author.id.encode()).hexdigest()[:16]
    platform = re.sub(r"[^a-z0-9]", "", message.author.id.partition(":")[0].lower()) or "unknown"
    return Address(_line(message.author.name), digest, f"{platform}.invalid")


def _mail_id(message_id: str) -> str:
    return f"<{sha256(message_id.encode()).hexdigest()[:40]}@archive.invalid>"


def _line(text: str) -> str:
    """One line, so that no text begins another header."""
    return " ".join(_LINES.sub(" ", text).split())
