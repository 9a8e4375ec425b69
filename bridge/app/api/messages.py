"""Posts, edits, deletions and presses of programs -> events for the router, and their outcomes.

The router's stages decide who is admitted, as for events of platforms.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import re
from collections.abc import AsyncIterator, Mapping
from typing import Any, TypeVar
from uuid import uuid4

import orjson
from pydantic import BaseModel, ValidationError

from bridge.app.api.api_keys import Caller
from bridge.app.api.gateway import Gateway, RoomView
from bridge.app.api.problems import Problem
from bridge.app.api.queries import visible_message
from bridge.app.api.shapes import Changed, Channel, Post, Posted, Press, Pressed
from bridge.app.api.speakers import actor_of, is_of, person_of
from bridge.content.cards.interactions import SCHEMA_ID as INTERACTION
from bridge.content.cards.native_home import at_place
from bridge.content.media.types import agreed_type
from bridge.content.messages.agent_parts import is_hidden
from bridge.content.messages.metadata import (
    KEY,
    PartDetails,
    read_bridge_metadata,
    with_bridge_metadata,
)
from bridge.errors import BridgeError, InvalidUacs, StoreError
from bridge.model import (
    ActionPressed,
    Event,
    MessageDeleted,
    MessageEdited,
    MessageId,
    MessagePosted,
    Place,
    PostMessage,
    message_id_of,
)
from bridge.model.archive_records import StoredMessage
from bridge.model.times import datetime_of
from bridge.router.rooms.programs import ACCOUNT, outside_channel
from bridge.uacs import (
    ContentPart,
    FilePart,
    MediaSource,
    Message,
    StructuredDataPart,
    TextPart,
    read_message,
    to_timestamp,
)

Shape = TypeVar("Shape", bound=BaseModel)
_OUTCOME_TIMEOUT = 10.0  # seconds that a request waits for the outcome of its event
_LONGEST_KEY = 200
_LABEL = re.compile(r"\[@[^\]]*\]\(")


async def post(
    gateway: Gateway, caller: Caller, room: RoomView, body: bytes, key: str | None
) -> Posted:
    """Post a message to the room, once for each `message_id` or `key`.

    Raises:
        Problem: The body is not valid, or the router refused the message.
    """
    post_body = read_body(Post, body)
    own_id = f"{caller.name}/{_key_of(post_body, key)}"
    message_id = message_id_of(outside_channel(room.id), own_id)
    message = await _message(gateway, caller, post_body, message_id)
    if (earlier := await gateway.store.message(message_id)) is not None:
        return await _repeated_post(gateway, room, earlier, message)
    root, reply_to = await _thread_and_reply(gateway, caller, room, post_body)
    event = MessagePosted(
        account=ACCOUNT,
        place=Place(channel=outside_channel(room.id), thread=root),
        time=datetime_of(gateway.clock.time()),
        native_id=own_id,
        message=message,
        author=person_of(caller, message.actor),
        reply_to=reply_to,
    )
    outcome = await _outcome(gateway, event, f"post {uuid4().hex}")
    if outcome not in ("routed", "repeat"):
        raise _refusal(outcome)
    goes_to = await _goes_to(gateway, message_id)
    return Posted(message_id=message_id, room=room.id, goes_to=goes_to, repeat=outcome == "repeat")


async def edit(
    gateway: Gateway, caller: Caller, room: RoomView, message: str, body: bytes
) -> Changed:
    """Replace the content of a message that this token posted.

    Raises:
        Problem: The body is not valid, the message is not the token's, or the router refused it.
    """
    stored = await _own_message(gateway, caller, room, message)
    replacement = read_body(Post, body)
    if replacement.reply_to is not None or replacement.thread is not None:
        raise Problem(
            422, "An edit does not move a message", todo="leave `reply_to` and `thread` out"
        )
    event = MessageEdited(
        account=ACCOUNT,
        place=Place(channel=outside_channel(room.id)),
        time=datetime_of(gateway.clock.time()),
        actor=stored.author.id,
        target=stored.native_id or "",
        message=await _message(gateway, caller, replacement, MessageId(message)),
        edited_at=datetime_of(max(gateway.clock.time(), stored.changed + 0.001)),
    )
    return await _outcome_of_change(gateway, event, message, "edited")


async def delete(gateway: Gateway, caller: Caller, room: RoomView, message: str) -> Changed:
    """Delete a message that this token posted, with all its copies.

    Raises:
        Problem: The message is not the token's, or the router refused the deletion.
    """
    stored = await _own_message(gateway, caller, room, message)
    event = MessageDeleted(
        account=ACCOUNT,
        place=Place(channel=outside_channel(room.id)),
        time=datetime_of(gateway.clock.time()),
        actor=stored.author.id,
        target=stored.native_id or "",
    )
    return await _outcome_of_change(gateway, event, message, "deleted")


async def press(
    gateway: Gateway, caller: Caller, room: RoomView, body: bytes, key: str | None
) -> Pressed:
    """Press a button or submit a form on a card in the room, with the checks of any press.

    Raises:
        Problem: The body is not valid, or the router refused the press.
    """
    press_body = read_body(Press, body)
    await visible_message(gateway, caller, room, press_body.message_id)
    key = f"{caller.name}/{_checked_key(key) if key is not None else uuid4().hex}"
    channel = outside_channel(room.id)
    event = ActionPressed(
        account=ACCOUNT,
        place=Place(channel=channel),
        time=datetime_of(gateway.clock.time()),
        actor=caller.actor,
        target=press_body.message_id,
        token=press_body.action,
        native=None,
        values=press_body.values,
    )
    outcome = await _outcome(gateway, event, f"press {room.id} {key}")
    stands_as = message_id_of(channel, f"press press {room.id} {key}")
    if outcome is None:
        earlier = await gateway.store.message(stands_as)
        return Pressed(message_id=earlier and stands_as, outcome="heard before", repeat=True)
    if outcome == "routed":
        return Pressed(message_id=stands_as, outcome="told to its author")
    if not outcome.startswith(("press: asked again", "press: tried again")):
        raise _refusal(outcome, press_body.action)
    return Pressed(message_id=None, outcome=outcome.removeprefix("press: "))


# --- requests -----------------------------------------------------------------------------------


def read_body(shape: type[Shape], body: bytes) -> Shape:
    """The validated body.

    Raises:
        Problem: The body is not JSON, or a field is not valid; names the field.
    """
    try:
        return shape.model_validate_json(body, strict=True)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False)[0]
        if fault["type"] == "json_invalid":
            raise Problem(
                400, f"The body is no JSON: {fault['msg']}", todo="send a JSON object"
            ) from None
        place = ".".join(str(step) for step in fault["loc"]) or "the body"
        raise Problem(
            422,
            f"{place}: {fault['msg']}",
            value=None if fault["type"] == "missing" else fault["input"],
            todo="the document at /v1/openapi.json says what it must be",
        ) from None


async def _message(
    gateway: Gateway, caller: Caller, post_body: Post, message_id: MessageId
) -> Message:
    """The UACS message of a post, by the token's actor or one below it, with the bridge's time."""
    actor = actor_of(caller, post_body.actor)
    fields: dict[str, Any] = {
        **(post_body.model_extra or {}),
        "message_id": message_id,
        "timestamp": to_timestamp(datetime_of(gateway.clock.time())),
        "actor": {"id": actor.id, "role": actor.role, "name": actor.name},
        "content": _content(post_body),
    }
    if post_body.metadata is not None:
        fields["metadata"] = _metadata(post_body.metadata)
    try:
        message = read_message(orjson.dumps(fields))
    except InvalidUacs as error:
        raise Problem(
            422, str(error), todo="docs/uacs.schema.json says what a UACS Message is"
        ) from None
    except (orjson.JSONEncodeError, RecursionError) as error:
        raise Problem(422, f"The message cannot be stored: {error}") from None
    for fault in gateway.card_faults(message.content):
        raise Problem(
            422,
            f"The card cannot be shown; {fault.pointer}: {fault.reason}",
            value=at_place({"content": fields["content"]}, fault.pointer),
            todo="docs/card.schema.json says what a card of the bridge is; the schema of another "
            "platform's card is that platform's own",
        )
    return gateway.complete(await with_stored_files(gateway, message))


def _content(post_body: Post) -> list[dict[str, Any]]:
    if (post_body.text is None) == (post_body.content is None):
        raise Problem(
            422,
            "A post has either `text` or `content`",
            todo='send {"text": "Hello"}, or the content of a UACS Message',
        )
    if post_body.content is not None:
        if post_body.format is not None:
            raise Problem(422, "`format` belongs to `text`; in `content` each part has its own")
        return post_body.content
    if not (post_body.text or "").strip():
        raise Problem(
            422, "`text` is empty", value=post_body.text, todo="give a text that is not blank"
        )
    return [{"type": "text", "text": post_body.text, "format": post_body.format or "markdown"}]


def _metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The program's metadata without the keys that only the bridge sets; file names and
    descriptions stay."""
    own_metadata = {name: value for name, value in metadata.items() if name not in (KEY, "agents")}
    ours = metadata.get(KEY)
    parts = ours.get("parts") if isinstance(ours, dict) else None
    if isinstance(parts, dict):
        part_fields = set(PartDetails.model_fields) - {"repeats_alt"}
        parts = {
            place: {name: value for name, value in details.items() if name in part_fields}
            for place, details in parts.items()
            if isinstance(details, dict)
        }
        own_metadata[KEY] = {"version": 1, "parts": parts}
    return own_metadata


async def with_stored_files(gateway: Gateway, message: Message) -> Message:
    """The message with its inline files stored; their sizes are in the metadata."""
    additions, _ = read_bridge_metadata(message)
    details = dict(additions.parts)
    parts: list[ContentPart] = []
    for index, part in enumerate(message.content):
        stored_part, size = await _stored_part(gateway, index, part)
        parts.append(stored_part)
        if size:
            part_details = details.get(str(index)) or PartDetails()
            details[str(index)] = part_details.model_copy(update={"size": size})
    if not details:
        return message
    with_files = message.model_copy(update={"content": tuple(parts)})
    return with_bridge_metadata(with_files, additions.model_copy(update={"parts": details}))


async def _stored_part(gateway: Gateway, index: int, part: ContentPart) -> tuple[ContentPart, int]:
    """The part with its inline file stored, and the file's size. Raises Problem for parts that only
    the bridge and its agents may write."""
    if is_hidden(part) or (isinstance(part, StructuredDataPart) and part.schema_id == INTERACTION):
        raise Problem(
            422,
            f"content.{index}: only the bridge and its agents may write this part",
            value=getattr(part, "schema_id", part.type),
            todo="press buttons with POST /v1/rooms/{room}/interactions",
        )
    source = getattr(part, "source", None)
    if source is None:
        return part, 0
    if source.file_id is not None:
        raise Problem(
            422,
            f"content.{index}.source: file ids are set by the bridge",
            value=source.file_id,
            todo="send the bytes as `base64`, or an https `url`",
        )
    if source.url is not None:
        if not source.url.lower().startswith("https://"):
            raise Problem(
                422, f"content.{index}.source.url: only https is accepted", value=source.url
            )
        return part, 0
    return await _with_bytes(gateway, index, part, source.base64 or "")


async def _with_bytes(
    gateway: Gateway, index: int, part: ContentPart, text: str
) -> tuple[ContentPart, int]:
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Problem(422, f"content.{index}.source.base64: {error}", value=text) from None
    if not content:
        raise Problem(422, f"content.{index}.source.base64: the file is empty")

    async def pieces() -> AsyncIterator[bytes]:
        yield content

    blob = await gateway.blobs.put(pieces(), limit=len(content))
    media_type = agreed_type(str(getattr(part, "media_type", "")), blob.media_type)
    source = MediaSource(file_id=blob.file_id)
    if part.type == "file" or media_type.startswith(f"{part.type}/"):
        return part.model_copy(update={"source": source, "media_type": media_type}), blob.size
    # Its bytes are not of the part's type.
    return FilePart(source=source, media_type=media_type), blob.size


def _key_of(post_body: Post, key: str | None) -> str:
    if post_body.message_id is not None and key is not None and post_body.message_id != key:
        raise Problem(
            422, "message_id and Idempotency-Key differ", value=key, todo="give one of them"
        )
    message_key = post_body.message_id if post_body.message_id is not None else key
    return uuid4().hex if message_key is None else _checked_key(message_key)


def _checked_key(key: str) -> str:
    if not key or len(key) > _LONGEST_KEY or not key.isprintable():
        raise Problem(
            422,
            f"A key has 1 to {_LONGEST_KEY} printable characters",
            value=key,
            todo="give a new UUID for each message",
        )
    return key


async def _thread_and_reply(
    gateway: Gateway, caller: Caller, room: RoomView, post_body: Post
) -> tuple[str | None, str | None]:
    """The ids of the thread's root and of the message that it replies to."""
    root = None
    if post_body.reply_to is not None:
        root = (await visible_message(gateway, caller, room, post_body.reply_to)).root
    if post_body.thread is not None:
        stored = await visible_message(gateway, caller, room, post_body.thread)
        root = stored.root or MessageId(post_body.thread)
    return root, post_body.reply_to


async def _own_message(
    gateway: Gateway, caller: Caller, room: RoomView, message: str
) -> StoredMessage:
    stored = await visible_message(gateway, caller, room, message)
    in_this_room = stored.place is not None and stored.place.channel == outside_channel(room.id)
    if not is_of(caller, stored.author.id) or not in_this_room or stored.native_id is None:
        raise Problem(
            403,
            "The token did not post this message",
            value=message,
            todo="only your own messages can be changed",
        )
    return stored


# --- outcomes -----------------------------------------------------------------------------------


async def _outcome(gateway: Gateway, event: Event, key: str) -> str | None:
    try:
        async with asyncio.timeout(_OUTCOME_TIMEOUT):
            return await gateway.process_event(event, key)
    except TimeoutError:
        raise Problem(
            503,
            f"The message is stored, but its outcome is not known after {_OUTCOME_TIMEOUT:g} s",
            todo="repeat the request with the same message_id or Idempotency-Key",
            headers={"Retry-After": "5"},
        ) from None


async def _outcome_of_change(gateway: Gateway, event: Event, message: str, done: str) -> Changed:
    outcome = await _outcome(gateway, event, f"change {uuid4().hex}")
    if outcome is None or not outcome.startswith((done, "kept: ")):
        raise _refusal(outcome)
    return Changed(message_id=message, outcome=outcome)


def _refusal(outcome: str | None, value: str | None = None) -> BridgeError:
    text = outcome or "heard before"
    if text.startswith("not admitted: "):
        return Problem(
            409,
            f"The room does not admit it: {text.removeprefix('not admitted: ')}",
            todo="the room's options decide what it admits",
        )
    if text.startswith("press: wrong input: "):
        return Problem(
            422,
            f"The form was not sent: {text.removeprefix('press: wrong input: ')}",
            value=value,
            todo="give `values` that the inputs of the card take",
        )
    if text.startswith("press: "):
        return Problem(
            422,
            f"The press was rejected: {text.removeprefix('press: ')}",
            value=value,
            todo="give the id of a button or input of the card, as in the message",
        )
    if text.startswith("failed: "):
        return StoreError("The message is stored, but could not be processed; see the bridge's log")
    return Problem(409, f"It was rejected: {text}")


async def _repeated_post(
    gateway: Gateway, room: RoomView, earlier: StoredMessage, message: Message
) -> Posted:
    """The answer for a message that was posted before. Raises Problem if its content differs."""
    if earlier.state == "complete" and _texts(earlier.message) != _texts(message):
        raise Problem(
            409,
            "Another message was posted under this id",
            value=earlier.message.message_id,
            todo="give a new message_id or Idempotency-Key; to change it, PUT the message",
        )
    goes_to = await _goes_to(gateway, MessageId(earlier.message.message_id))
    return Posted(message_id=earlier.message.message_id, room=room.id, goes_to=goes_to, repeat=True)


def _texts(message: Message) -> list[str]:
    """The message's texts without the labels of mentions, which the router may have changed."""
    texts = (part.text for part in message.content if isinstance(part, TextPart))
    return [_LABEL.sub("[@](", text) for text in texts]


async def _goes_to(gateway: Gateway, message: MessageId) -> list[Channel]:
    """The channels that the message is or will be posted in."""
    explanation = await gateway.store.explain(message)
    records = () if explanation is None else explanation.operations
    channels = dict.fromkeys(
        record.operation.channel
        for record in records
        if isinstance(record.operation, PostMessage) and record.state != "cancelled"
    )
    return [
        Channel(platform=channel.platform, name=gateway.name_of(channel)) for channel in channels
    ]
