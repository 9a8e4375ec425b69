"""A native message or a card <-> a UACS Message with the same content, which keeps it. Pure."""

from __future__ import annotations

import json
import re
from ast import literal_eval
from collections.abc import Iterator, Set
from hashlib import sha256
from typing import cast

from pydantic import JsonValue

from bridge.app.translation.json_text import write_json
from bridge.content.cards.codec import Codec
from bridge.content.cards.json import SCHEMA_ID, card_from_json
from bridge.content.cards.json_tree import check_nesting, pointer
from bridge.content.cards.messages import Content, content_of
from bridge.content.cards.native_home import at_place, with_payloads, without_payloads
from bridge.content.cards.rendering import Payload
from bridge.content.messages.metadata import read_bridge_metadata, with_bridge_metadata
from bridge.errors import CodecError, InvalidUacs
from bridge.model import Loss
from bridge.uacs import Actor, Message, StructuredDataPart, TextPart, read_message, write

_DEEPEST_HOME = 120  # UACS permits 128 levels of free JSON, and this value is inside others
_STEP = re.compile(r"\.(\w+)|\[(\d+|'[^']*'|\"[^\"]*\")\]")


# --- into UACS ------------------------------------------------------------------------------


def native_to_message(
    platform: str, codec: Codec, native: JsonValue
) -> tuple[JsonValue, tuple[Loss, ...]]:
    """The message's payloads with their fallbacks, and the remaining fields in the metadata
    `home`."""
    payloads = codec.payloads(native)
    content = content_of((payload, codec.read_payload(payload)) for payload in payloads)
    remainder = without_payloads(native, _exact_places(native, payloads))
    home: JsonValue = {"platform": platform, "message": remainder}
    return _as_message(platform, native, content, home)


def card_to_message(card: JsonValue) -> tuple[JsonValue, tuple[Loss, ...]]:
    """A UACS Message of a card in JSON, with its fallback."""
    content = content_of([(Payload(SCHEMA_ID, card), card_from_json(card))])
    return _as_message("card", card, content, None)


def _exact_places(native: JsonValue, payloads: tuple[Payload, ...]) -> Iterator[str]:
    """The places of the native message whose value is exactly the payload's data."""
    for payload in payloads:
        value = at_place(native, payload.at)
        # As JSON, because comparing values of 1,000 levels raises RecursionError.
        if payload.schema_id and (
            value is payload.data or write_json(value) == write_json(payload.data)
        ):
            yield payload.at


def _as_message(
    name: str, source: JsonValue, content: Content, home: JsonValue
) -> tuple[JsonValue, tuple[Loss, ...]]:
    """A Message of these parts; its author and time are placeholders."""
    message = Message(
        message_id=f"{name}:{sha256(write_json(source)).hexdigest()[:32]}",
        timestamp="1970-01-01T00:00:00Z",
        actor=Actor(id=f"{name}:translate", role="assistant"),
        content=content.parts or (TextPart(text=""),),
    )
    losses = content.losses
    whole = with_bridge_metadata(message, content.additions)
    if home is not None:
        try:
            check_nesting(home, _DEEPEST_HOME)
        except CodecError as error:
            problem = f"{name}: {error.reason}"
            losses += (Loss(path="", kind="home_not_kept", what=problem, shown_as="the parts"),)
        else:
            additions = content.additions.model_copy(update={"home": home})
            whole = with_bridge_metadata(message, additions)
    return json.loads(write(whole)), losses


# --- out of UACS ----------------------------------------------------------------------------


def json_to_message(payload: JsonValue) -> Message:
    """The Message in a JSON value.

    Raises:
        CodecError: The value is not valid UACS; has the JSON pointer of the error.
    """
    try:
        return read_message(write_json(payload))
    except InvalidUacs as error:
        raise as_codec_error(error) from None


def as_codec_error(error: InvalidUacs) -> CodecError:
    """The error as a CodecError with a JSON pointer."""
    return CodecError(_as_pointer(error.path), error.rule)


def _as_pointer(path: str) -> str:
    """`$.content[0]['a b']` -> `/content/0/a b`."""
    steps = [name or literal_eval(other) for name, other in _STEP.findall(path)]
    return pointer("", *steps)


def message_to_native(platform: str, codec: Codec, message: Message) -> JsonValue:
    """The native message that this one was made from, if it is unchanged; or the platform's payload
    if it is the message's only part; else None."""
    additions, _ = read_bridge_metadata(message)
    match additions.home:
        case {"platform": str() as home, "message": remainder} if home == platform:
            native = with_payloads(remainder, dict(_placed(message)))
            return native if _says(codec, native, message) else None
        case _:
            return _only_payload(codec.SCHEMA_IDS, message)


def message_to_card(message: Message) -> JsonValue:
    """The neutral card if it is the message's only part, else None."""
    card = _only_payload({SCHEMA_ID}, message)
    try:
        card_from_json(card)
    except CodecError:
        return None
    return card


def _placed(message: Message) -> Iterator[tuple[str, JsonValue]]:
    additions, _ = read_bridge_metadata(message)
    for index, part in enumerate(message.content):
        if isinstance(part, StructuredDataPart):
            details = additions.parts.get(str(index))
            yield (details and details.path) or "", cast("JsonValue", part.data)


def _says(codec: Codec, native: JsonValue, message: Message) -> bool:
    try:
        content = content_of(
            (payload, codec.read_payload(payload)) for payload in codec.payloads(native)
        )
    except CodecError:
        return False
    return (content.parts or (TextPart(text=""),)) == message.content


def _only_payload(schema_ids: Set[str], message: Message) -> JsonValue:
    additions, _ = read_bridge_metadata(message)
    first, *others = message.content
    if not isinstance(first, StructuredDataPart) or first.schema_id not in schema_ids:
        return None
    if len(additions.fallbacks.get("0", ())) != len(others):
        return None
    return cast("JsonValue", first.data)
