"""Uploaded files -> attachments of a message."""

from __future__ import annotations

import mimetypes
import re
from pathlib import PurePosixPath

from bridge.content.media.types import agreed_type, sniffed_type
from bridge.sandbox.files import StoredFile
from bridge.sandbox.picture_sizes import picture_size
from connectors.discord.sandbox.drafts import FileWish
from connectors.discord.sandbox.errors import invalid_form
from connectors.discord.sandbox.state import Attachment, Channel, State

SPOILER = "SPOILER_"
_NOT_PLAIN = re.compile(r"[^\w.\-()]+", re.ASCII)


def attach(
    state: State, channel: Channel, wishes: list[FileWish], current: list[Attachment],
    *, ephemeral: bool = False,
) -> list[Attachment]:  # fmt: skip
    """Return the files of a message: those that it keeps of `current`, and the new ones."""
    by_id = {attachment.id: attachment for attachment in current}
    attachments: list[Attachment] = []
    for index, wish in enumerate(wishes):
        if wish.part is not None and wish.part.file is not None:
            name = wish.filename or wish.part.filename or "file"
            attachment = new_attachment(
                state, channel, name, wish.part.file, wish.part.content_type, wish.spoiler
            )
            attachment.ephemeral = ephemeral
        elif wish.attachment_id in by_id:
            attachment = by_id[wish.attachment_id]
        else:
            text = {"code": "ATTACHMENT_NOT_FOUND", "message": "Attachment not found"}
            raise invalid_form({"attachments": {str(index): {"id": {"_errors": [text]}}}})
        attachment.description = wish.description or attachment.description
        attachment.title = wish.title or attachment.title
        attachments.append(attachment)
    return attachments


def new_attachment(
    state: State, channel: Channel, name: str, stored: StoredFile, declared: str, spoiler: bool
) -> Attachment:
    """Return an attachment with a plain file name; its title holds the original name."""
    base = PurePosixPath(name.replace("\\", "/")).name or "file"
    plain = _NOT_PLAIN.sub("_", base).strip("_") or "file"
    if spoiler and not plain.startswith(SPOILER):
        plain = SPOILER + plain
    guessed = declared if declared not in ("", "application/octet-stream") else ""
    guessed = guessed or mimetypes.guess_type(base)[0] or ""
    attachment = Attachment(
        id=state.ids.next(), filename=plain, original_name=base,
        content_type=agreed_type(guessed, sniffed_type(stored.head)), stored=stored,
        title=PurePosixPath(base).stem if plain.removeprefix(SPOILER) != base else None,
        dimensions=picture_size(stored.head), spoiler=plain.startswith(SPOILER),
    )  # fmt: skip
    state.attachments[attachment.id] = channel, attachment
    state.files_in_use.add(stored.id)
    return attachment
