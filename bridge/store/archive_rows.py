"""Columns of archived messages -> messages, and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pydantic import JsonValue

from bridge.content.messages.metadata import with_reactions_and_feedback
from bridge.model import Place
from bridge.model.archive_records import StoredMessage
from bridge.model.refs import channel_of_key
from bridge.store.bodies import MESSAGES, PEOPLE
from bridge.uacs import Message


def stored(columns: Sequence[Any]) -> StoredMessage:
    """Of the columns that the query `message` gives, and in their order."""
    body, reacted, rated, author, time, channel, thread, native_id, root, state, changed, *_ = (
        columns
    )
    return StoredMessage(
        message=with_marks(body, reacted, rated),
        author=PEOPLE.read(author),
        time=time,
        place=None if channel is None else Place(channel=channel_of_key(channel), thread=thread),
        native_id=native_id,
        root=root,
        state=state,
        changed=changed or 0.0,
    )


def with_marks(body: bytes, reacted: str | None, rated: str | None) -> Message:
    """Return the message with the reactions and the feedback that stand beside its body."""
    message = MESSAGES.read(body)
    if reacted is None and rated is None:
        return message
    return with_reactions_and_feedback(message, reactions=_json(reacted), feedback=_json(rated))


def _json(text: str | None) -> JsonValue:
    return None if text is None else json.loads(text)


def body_of(message: Message) -> bytes:
    """Reactions and feedback stand beside the body, so that neither overwrites the other."""
    return MESSAGES.write(with_reactions_and_feedback(message))
