"""What a program says and does -> events, through the same gate as everything; what became of it.

Nothing here decides who is admitted: the router's stages do.
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
from bridge.app.api.reading import visible
from bridge.app.api.shapes import Changed, Channel, Post, Posted, Press, Pressed
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
    Person,
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
_PATIENCE = 10.0  # seconds that an answer waits for what became of it
_LONGEST_KEY = 200
_LABEL = re.compile(r"\[@[^\]]*\]\(")


async def post(
    gateway: Gateway, caller: Caller, room: RoomView, body: bytes, key: str | None
) -> Posted:
    """Say it in the room, once for each `message_id` or `key`."""
    post_body = read_body(Post, body)
    own_id = f"{caller.name}/{_key_of(post_body, key)}"
    message_id = message_id_of(outside_channel(room.id), own_id)
    message = await _message(gateway, caller, post_body, message_id)
    if (earlier := await gateway.store.message(message_id)) is not None:
        return await _repeated_post(gateway, room, earlier, message)
    root, reply_to = await _where(gateway, caller, room, post_body)
    event = MessagePosted(
        account=ACCOUNT,
        place=Place(channel=outside_channel(room.id), thread=root),
        time=datetime_of(gateway.clock.time()),
        native_id=own_id,
        message=message,
        author=Person(id=caller.actor, name=caller.name, bot=caller.is_bot),
        reply_to=reply_to,
    )
    outcome = await _outcome(gateway, event, f"post {uuid4().hex}")
    if outcome not in ("routed", "repeat"):
        raise _refused(outcome)
    goes_to = await _goes_to(gateway, message_id)
    return Posted(message_id=message_id, room=room.id, goes_to=goes_to, repeat=outcome == "repeat")


async def edit(
    gateway: Gateway, caller: Caller, room: RoomView, message: str, body: bytes
) -> Changed:
    """Other words for what this token said."""
    stored = await _own(gateway, caller, room, message)
    replacement = read_body(Post, body)
    if replacement.reply_to is not None or replacement.thread is not None:
        raise Problem(
            422, "An edit does not move a message", todo="leave `reply_to` and `thread` out"
        )
    event = MessageEdited(
        account=ACCOUNT,
        place=Place(channel=outside_channel(room.id)),
        time=datetime_of(gateway.clock.time()),
        actor=caller.actor,
        target=stored.native_id or "",
        message=await _message(gateway, caller, replacement, MessageId(message)),
        edited_at=datetime_of(max(gateway.clock.time(), stored.changed + 0.001)),
    )
    return await _change(gateway, event, message, "edited")


async def delete(gateway: Gateway, caller: Caller, room: RoomView, message: str) -> Changed:
    """Take back what this token said, wherever it is shown."""
    stored = await _own(gateway, caller, room, message)
    event = MessageDeleted(
        account=ACCOUNT,
        place=Place(channel=outside_channel(room.id)),
        time=datetime_of(gateway.clock.time()),
        actor=caller.actor,
        target=stored.native_id or "",
    )
    return await _change(gateway, event, message, "deleted")


async def press(
    gateway: Gateway, caller: Caller, room: RoomView, body: bytes, key: str | None
) -> Pressed:
    """A press on a card that stands in the room, with the checks that any press has."""
    press_body = read_body(Press, body)
    await visible(gateway, caller, room, press_body.message_id)
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
        raise _refused(outcome, press_body.action)
    return Pressed(message_id=None, outcome=outcome.removeprefix("press: "))


# --- what comes in ------------------------------------------------------------------------------


def read_body(shape: type[Shape], body: bytes) -> Shape:
    """Raises Problem: what, where, and what it must be."""
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
    """As it is kept: under the token's actor, at our own time."""
    _check_actor(caller, post_body)
    fields: dict[str, Any] = {
        **(post_body.model_extra or {}),
        "message_id": message_id,
        "timestamp": to_timestamp(datetime_of(gateway.clock.time())),
        "actor": {"id": caller.actor, "role": caller.token.role, "name": caller.name},
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
        raise Problem(422, f"The message cannot be kept: {error}") from None
    for fault in gateway.card_faults(message.content):
        raise Problem(
            422,
            f"The card cannot be shown; {fault.pointer}: {fault.reason}",
            value=at_place({"content": fields["content"]}, fault.pointer),
            todo="docs/card.schema.json says what a card of the bridge is; the schema of another "
            "platform's card is that platform's own",
        )
    return gateway.complete(await _with_kept_files(gateway, message))


def _check_actor(caller: Caller, post_body: Post) -> None:
    actor_id = (post_body.actor or {}).get("id", caller.actor)
    if actor_id != caller.actor:
        raise Problem(
            422,
            "actor.id is not the token's own",
            value=actor_id,
            todo=f"leave `actor` out; you speak as {caller.actor}",
        )


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
        raise Problem(422, "`text` is empty", value=post_body.text, todo="say something")
    return [{"type": "text", "text": post_body.text, "format": post_body.format or "markdown"}]


def _metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The bridge's own additions are its own; names and descriptions of files may be given."""
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


async def _with_kept_files(gateway: Gateway, message: Message) -> Message:
    """Each part as it may be said; of files that were sent along the size is noted."""
    additions, _ = read_bridge_metadata(message)
    details = dict(additions.parts)
    parts: list[ContentPart] = []
    for index, part in enumerate(message.content):
        kept, size = await _kept(gateway, index, part)
        parts.append(kept)
        if size:
            part_details = details.get(str(index)) or PartDetails()
            details[str(index)] = part_details.model_copy(update={"size": size})
    if not details:
        return message
    with_files = message.model_copy(update={"content": tuple(parts)})
    return with_bridge_metadata(with_files, additions.model_copy(update={"parts": details}))


async def _kept(gateway: Gateway, index: int, part: ContentPart) -> tuple[ContentPart, int]:
    """The part as it may be said, and the size of a file in it that is kept now. What only the
    bridge and its agents say to one another is refused."""
    if is_hidden(part) or (isinstance(part, StructuredDataPart) and part.schema_id == INTERACTION):
        raise Problem(
            422,
            f"content.{index}: this is said by the bridge and its agents alone",
            value=getattr(part, "schema_id", part.type),
            todo="press buttons with POST /v1/rooms/{room}/interactions",
        )
    source = getattr(part, "source", None)
    if source is None:
        return part, 0
    if source.file_id is not None:
        raise Problem(
            422,
            f"content.{index}.source: ids of files are the bridge's own",
            value=source.file_id,
            todo="send the bytes as `base64`, or an https `url`",
        )
    if source.url is not None:
        if not source.url.lower().startswith("https://"):
            raise Problem(422, f"content.{index}.source.url: only https is taken", value=source.url)
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
    # It is not what it was said to be.
    return FilePart(source=source, media_type=media_type), blob.size


def _key_of(post_body: Post, key: str | None) -> str:
    if post_body.message_id is not None and key is not None and post_body.message_id != key:
        raise Problem(
            422, "message_id and Idempotency-Key say two things", value=key, todo="give one of them"
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


async def _where(
    gateway: Gateway, caller: Caller, room: RoomView, post_body: Post
) -> tuple[str | None, str | None]:
    """The root of its thread, and what it answers, as canonical ids."""
    root = None
    if post_body.reply_to is not None:
        root = (await visible(gateway, caller, room, post_body.reply_to)).root
    if post_body.thread is not None:
        stored = await visible(gateway, caller, room, post_body.thread)
        root = stored.root or MessageId(post_body.thread)
    return root, post_body.reply_to


async def _own(gateway: Gateway, caller: Caller, room: RoomView, message: str) -> StoredMessage:
    stored = await visible(gateway, caller, room, message)
    in_this_room = stored.place is not None and stored.place.channel == outside_channel(room.id)
    if stored.author.id != caller.actor or not in_this_room or stored.native_id is None:
        raise Problem(
            403,
            "The token did not say this message",
            value=message,
            todo="only your own messages can be changed",
        )
    return stored


# --- what became of it --------------------------------------------------------------------------


async def _outcome(gateway: Gateway, event: Event, key: str) -> str | None:
    try:
        async with asyncio.timeout(_PATIENCE):
            return await gateway.hear(event, key)
    except TimeoutError:
        raise Problem(
            503,
            f"It is kept, but nobody knows after {_PATIENCE:g} s what became of it",
            todo="ask again with the same message_id or Idempotency-Key: it is said once",
            headers={"Retry-After": "5"},
        ) from None


async def _change(gateway: Gateway, event: Event, message: str, done: str) -> Changed:
    outcome = await _outcome(gateway, event, f"change {uuid4().hex}")
    if outcome is None or not outcome.startswith((done, "kept: ")):
        raise _refused(outcome)
    return Changed(message_id=message, outcome=outcome)


def _refused(outcome: str | None, value: str | None = None) -> BridgeError:
    text = outcome or "heard before"
    if text.startswith("not admitted: "):
        return Problem(
            409,
            f"The room does not let it in: {text.removeprefix('not admitted: ')}",
            todo="the room's options and `uacs-bridge rooms` tell what it takes",
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
            f"The press was not taken: {text.removeprefix('press: ')}",
            value=value,
            todo="give the id of a button or input of the card, as it stands in the message",
        )
    if text.startswith("failed: "):
        return StoreError("The message is kept, but could not be worked on; see the bridge's log")
    return Problem(409, f"It was not taken: {text}")


async def _repeated_post(
    gateway: Gateway, room: RoomView, earlier: StoredMessage, message: Message
) -> Posted:
    """What was said before under this id; other words under it are an error."""
    if earlier.state == "complete" and _words(earlier.message) != _words(message):
        raise Problem(
            409,
            "Something else was said under this id",
            value=earlier.message.message_id,
            todo="give a new message_id or Idempotency-Key; to change it, PUT the message",
        )
    goes_to = await _goes_to(gateway, MessageId(earlier.message.message_id))
    return Posted(message_id=earlier.message.message_id, room=room.id, goes_to=goes_to, repeat=True)


def _words(message: Message) -> list[str]:
    """Its texts; a mention may have been given the name by which people know its actor."""
    texts = (part.text for part in message.content if isinstance(part, TextPart))
    return [_LABEL.sub("[@](", text) for text in texts]


async def _goes_to(gateway: Gateway, message: MessageId) -> list[Channel]:
    """The channels that show it, or will."""
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
