"""A UACS Conversation <-> the request of an agent API, and the answer of one -> a Message. Pure."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import cast

from pydantic import JsonValue

from bridge.agents.codec.native_parts import STATE_OF_ANOTHER
from bridge.agents.codec.program_conversations import (
    ASSISTANT,
    assistant_of,
    settings_losses,
    with_program_roles,
)
from bridge.agents.codec.speakers import ANONYMOUS_USER
from bridge.agents.conversation_codecs import MESSAGES_OF, codec_of
from bridge.app.translation.json_text import write_json
from bridge.app.translation.uacs import as_codec_error
from bridge.errors import CodecError, InvalidUacs
from bridge.model import Loss
from bridge.uacs import Actor, Conversation, Message, read_conversation, write

_MADE = uuid.UUID("0e6d3c1c-8b1e-5a53-9d3b-2b8f7c4d9a10")
APIS = tuple(MESSAGES_OF)


def is_conversation(payload: JsonValue) -> bool:
    """Whether the UACS object is a Conversation; otherwise it is a Message."""
    return isinstance(payload, dict) and "messages" in payload


def json_to_conversation(payload: JsonValue) -> Conversation:
    """The Conversation in a JSON value.

    Raises:
        CodecError: The value is not valid UACS; has the JSON pointer of the error.
    """
    try:
        return read_conversation(write_json(payload))
    except InvalidUacs as error:
        raise as_codec_error(error) from None


def conversation_of(message: Message, *, said_by_somebody: bool) -> Conversation:
    """A Conversation with one message. Without a known author (`said_by_somebody` false) the author
    is an anonymous user."""
    if not said_by_somebody:
        message = message.model_copy(update={"actor": Actor(id=ANONYMOUS_USER, role="human")})
    return Conversation(
        conversation_id=str(uuid.uuid5(_MADE, message.message_id)),
        created_at=message.timestamp,
        updated_at=message.timestamp,
        messages=(message,),
    )


def read_api(kind: str, payload: JsonValue) -> Conversation | Message:
    """A request of an agent API, or its list of messages, as a Conversation; an answer as a
    Message.

    Raises:
        CodecError: The payload is neither; the error is that of reading it as a request.
    """
    codec = codec_of(kind)
    whole: JsonValue = {MESSAGES_OF[kind]: payload} if isinstance(payload, list) else payload
    try:
        try:
            return codec.read_request(whole, ASSISTANT)
        except CodecError as refused:
            try:
                return codec.read_response(whole, ASSISTANT)
            except CodecError:
                raise refused from None
    except InvalidUacs as error:  # UACS permits fewer levels of nesting
        raise CodecError("", f"cannot be kept as UACS: {error.rule}") from None


def write_api(kind: str, conversation: Conversation) -> tuple[JsonValue, tuple[Loss, ...]]:
    """The API's request with each message in its role, and what the request cannot express."""
    agent = assistant_of(conversation, kind)
    with_roles, losses = with_program_roles(conversation, agent, kind)
    written = codec_of(kind).write_request(with_roles, agent)
    lost = (*losses, *settings_losses(conversation, kind), *_with_counted_states(written.losses))
    return cast("JsonValue", written.body), lost


def _with_counted_states(losses: Sequence[Loss]) -> Iterator[Loss]:
    """The losses with each kind of another API's state once, at its first place, with its count."""
    count = Counter(loss.what for loss in losses if loss.kind == STATE_OF_ANOTHER)
    for loss in losses:
        if loss.kind != STATE_OF_ANOTHER:
            yield loss
        elif times := count.pop(loss.what, 0):
            counted = f"{loss.what} ({times} times)" if times > 1 else loss.what
            yield loss.model_copy(update={"what": counted})


def uacs_json(value: Conversation | Message) -> JsonValue:
    return json.loads(write(value))
