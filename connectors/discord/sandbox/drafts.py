"""A request -> the draft of a message: text, embeds, components, files, a poll. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from bridge.content.cards.json_tree import check_nesting
from bridge.errors import CodecError
from bridge.sandbox.multipart import Part
from connectors.discord.sandbox.checks import (
    CONTENT_MAX,
    V2_FLAG,
    Form,
    check_mentions,
    is_snowflake,
)
from connectors.discord.sandbox.errors import empty_message, poll_stays
from connectors.discord.sandbox.rich.components import INTERACTIVE, read_components, walk
from connectors.discord.sandbox.rich.embeds import read_embeds
from connectors.discord.sandbox.rich.fields import Node
from connectors.discord.sandbox.rich.polls import Poll, read_poll
from connectors.discord.sandbox.state import Message

EPHEMERAL = 1 << 6
MAX_FILES = 10
_SETTABLE_FLAGS = (1 << 2) | (1 << 12) | (1 << 13) | V2_FLAG
_DEEPEST = 100
_FILE_FIELD = re.compile(r"files?\[?(\d+)?\]?")
_RICH = ("embeds", "components", "attachments", "poll")
_LEGACY = ("content", "embeds", "poll", "sticker_ids")


@dataclass(frozen=True, slots=True)
class FileWish:
    """A file of a draft: an attachment that the message has already, or an uploaded part."""

    attachment_id: int | None = None
    part: Part | None = None
    filename: str | None = None
    description: str | None = None
    title: str | None = None
    spoiler: bool = False


@dataclass(frozen=True)
class Draft:
    """A message as a request describes it; None: the field is absent. `files` lists all files."""

    content: str | None = None
    embeds: list[dict[str, Any]] | None = None
    components: list[dict[str, Any]] | None = None
    flags: int | None = None
    allowed_mentions: dict[str, Any] | None = None
    tts: bool = False
    body: dict[str, Any] = field(default_factory=dict[str, Any])
    files: list[FileWish] | None = None
    poll: Poll | None = None

    @property
    def is_empty(self) -> bool:
        return not (self.content or self.embeds or self.components or self.files or self.poll)

    @property
    def is_newer(self) -> bool:
        """Return whether the request has the flag IS_COMPONENTS_V2."""
        return bool((self.flags or 0) & V2_FLAG)


def read_draft(
    form: Form, parts: Sequence[Part] = (), *, settable: int = _SETTABLE_FLAGS
) -> Draft:  # fmt: skip
    """Return the fields that all posts and edits share; rich fields are read only if present."""
    flags = form.number("flags") & settable if "flags" in form.body else None
    newer = bool((flags or 0) & V2_FLAG)
    rich = parts or any(name in form.body for name in _RICH)
    if rich:
        _need_shallow(form)
    draft = Draft(
        content=form.text("content", max_length=CONTENT_MAX),
        embeds=read_embeds(form) if rich else None,
        components=read_components(form, newer=newer) if rich else None,
        flags=flags,
        allowed_mentions=form.mapping("allowed_mentions"),
        tts=form.flag("tts"),
        body=form.body,
        files=read_files(form, parts) if rich else None,
        poll=read_poll(form) if rich else None,
    )
    check_mentions(form, draft.allowed_mentions)
    if newer:
        refuse_legacy(form, form.body)
    return draft


def refuse_legacy(form: Form, body: dict[str, Any]) -> None:
    """Refuse the fields that a message with V2 components cannot have."""
    for name in _LEGACY:
        if body.get(name):
            text = f"The '{name}' field cannot be used when using MessageFlags.IS_COMPONENTS_V2"
            form.fail(name, "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", text)


def check_not_empty(form: Form, draft: Draft) -> None:
    """Raise the form's errors, or else error 50006 if the draft is empty."""
    form.done()
    if draft.is_empty:
        raise empty_message()


def check_edit(form: Form, draft: Draft, message: Message) -> None:
    """Check that an edited message is not empty and does not mix V2 components with old fields."""
    if message.poll is not None:
        raise poll_stays()
    newer = draft.is_newer or bool(message.flags & V2_FLAG)
    if newer:
        old_fields = {"content": message.content, "embeds": message.embeds}
        refuse_legacy(form, old_fields | {k: v for k, v in draft.body.items() if k in _LEGACY})
    form.done()
    content = (draft.content or "") if "content" in draft.body else message.content
    embeds = message.embeds if draft.embeds is None else draft.embeds
    components = message.components if draft.components is None else draft.components
    files = message.attachments if draft.files is None else draft.files
    if not (content or embeds or components or files):
        raise empty_message()


def has_interactive(draft: Draft) -> bool:
    """Return whether the draft has a button or menu that sends interactions."""
    controls = (c for c in walk(draft.components or []) if c["type"] in INTERACTIVE)
    return any(c.get("style") not in (5, 6) for c in controls)


def read_files(form: Form, parts: Sequence[Part]) -> list[FileWish] | None:
    """Return the draft's files; None if the request has neither files nor `attachments`.

    `attachments` names new files by their number `n` in `files[n]`, others by their id; uploaded
    files that it does not name are added.
    """
    numbered = _numbered(parts)
    if "attachments" not in form.body and not numbered:
        return None
    wishes = [
        wish
        for node in Node(form, "", form.body).children("attachments", 0, MAX_FILES)
        if (wish := _file_wish(node, numbered))
    ]
    named = {id(wish.part) for wish in wishes if wish.part}
    wishes += [FileWish(part=part) for part in numbered.values() if id(part) not in named]
    if len(wishes) > MAX_FILES:
        text = f"Must be {MAX_FILES} or fewer in length."
        form.fail("attachments", "BASE_TYPE_MAX_LENGTH", text)
    return wishes


def _numbered(parts: Sequence[Part]) -> dict[int, Part]:
    files: dict[int, Part] = {}
    for index, part in enumerate(part for part in parts if part.file is not None):
        matched = _FILE_FIELD.fullmatch(part.name)
        files[int(matched[1]) if matched and matched[1] else index] = part
    return files


def _file_wish(node: Node, numbered: dict[int, Part]) -> FileWish | None:
    own_id = node.value.get("id")
    if not is_snowflake(own_id):
        if own_id is None:
            node.missing("id")
        else:
            node.fail("id", "NUMBER_TYPE_COERCE", f'Value "{own_id}" is not snowflake.')
        return None
    number = int(str(own_id))
    part = numbered.get(number)
    return FileWish(
        attachment_id=None if part else number, part=part, filename=node.text("filename", 1024),
        description=node.text("description", 1024), title=node.text("title", 1024),
        spoiler=node.flag("is_spoiler"),
    )  # fmt: skip


def _need_shallow(form: Form) -> None:
    for name in _RICH:
        try:
            check_nesting(form.body.get(name), _DEEPEST)
        except CodecError:
            text = "Only dictionaries may be used in a ModelType"
            form.fail(name, "MODEL_TYPE_CONVERT", text)
            form.done()
