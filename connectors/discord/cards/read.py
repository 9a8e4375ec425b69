"""A Discord message, or a part of one -> its rich payloads and their card. Pure.

Any JSON gives a card or raises CodecError. Nodes hold their JSON pointer (`at`).
"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import JsonValue

from bridge.content.cards.json_tree import check_nesting, pointer
from bridge.content.cards.rendering import Payload
from bridge.content.cards.tree import Card, Container, Context, Form, Node, Nodes, Prose
from bridge.content.text.tree import Inline, Link, Paragraph, Text
from bridge.errors import CodecError
from connectors.discord.cards import schemas
from connectors.discord.cards.read_components import read_components
from connectors.discord.cards.read_embeds import read_embeds
from connectors.discord.cards.read_media import read_attachments, read_stickers
from connectors.discord.cards.read_polls import read_poll
from connectors.discord.cards.read_source import (
    DEEPEST,
    Json,
    Source,
    has_flag,
    kind_of,
    mapping,
    moment,
    source_of,
    source_of_message,
    text,
)
from connectors.discord.cards.read_unknown import unknown, words_as_nodes
from connectors.discord.cards.read_words import read_plain, read_text

# The parts of a message in the order in which Discord shows them.
_PARTS = (
    ("content", schemas.TEXT),
    ("attachments", schemas.ATTACHMENTS),
    ("embeds", schemas.EMBEDS),
    ("sticker_items", schemas.STICKERS),
    ("stickers", schemas.STICKERS),
    ("poll", schemas.POLL),
    ("components", schemas.COMPONENTS),
    ("message_snapshots", schemas.FORWARDS),
)
_MESSAGE = frozenset(key for key, _ in _PARTS) - {"stickers"}  # guilds also have `stickers`
_ONLY_MESSAGE = _MESSAGE - {"content", "components"} | {"author", "channel_id", "flags"}
_EMBED = frozenset((
    "title", "description", "fields", "author", "footer", "image", "thumbnail", "video", "provider",
))  # fmt: skip
_KINDS = 25  # components have types from 1 up to about here
# Keys of Discord's envelopes: their value is the message or the modal.
_ENVELOPES = ("d", "data", "message")
_FORWARD = 1  # the type of a message reference
_JUMP = "https://discord.com/channels"


def payloads(native: JsonValue) -> tuple[Payload, ...]:
    """Return the parts of a message in Discord's order; text has no schema id.

    `native` is a message, an interaction or gateway event with one in it, a modal, an embed, a
    component, a poll, or a list of embeds, components, attachments or stickers. Raises CodecError
    for anything else.
    """
    check_nesting(native)
    return _payloads(native)


def read_payload(payload: Payload, workspace: str = "") -> Card:
    """Return the card of one payload; raises CodecError.

    Mentions show ids: only `read_message` knows the names in the message.
    """
    check_nesting(payload.data)
    return Card(_read(payload, source_of(workspace), "", 0))


def read_message(native: JsonValue, workspace: str = "") -> Card:
    """Return the card of a whole message; raises CodecError."""
    message_payloads = payloads(native)
    message, _ = open_envelopes(native)
    if not isinstance(message, dict):
        source, original = source_of(workspace), ""
    else:
        source = source_of_message(message, workspace or text(message, "guild_id"))
        original = _original(message)
    return Card(
        tuple(node for payload in message_payloads for node in _read(payload, source, original, 0))
    )


def read_form(native: JsonValue, workspace: str = "") -> Form:
    """Return the form of a modal, opened or submitted; raises CodecError."""
    check_nesting(native)
    modal, at = open_envelopes(native)
    if not isinstance(modal, dict) or not isinstance(modal.get("components"), list):
        raise CodecError(at, "is not a modal: it has no list of components")
    nodes = read_components(modal["components"], source_of(workspace), f"{at}/components")
    return Form(text(modal, "title"), nodes, id=text(modal, "custom_id"), at=at)


# --- kinds of payloads ----------------------------------------------------------------------


def _payloads(native: JsonValue) -> tuple[Payload, ...]:
    if isinstance(native, list):
        return (Payload(_schema_of_list(native), native),) if native else ()
    if not isinstance(native, dict):
        raise CodecError("", "is not a Discord message: neither an object nor a list")
    schema = _schema_of(native)
    if schema is not None:
        return (Payload(schema, native),)
    inner, at = open_envelopes(native)
    if isinstance(inner, dict) and _is_modal(inner):
        return (Payload(schemas.COMPONENTS, inner, at),)
    if isinstance(inner, dict) and _MESSAGE & inner.keys():
        return tuple(_parts(inner, at))
    raise CodecError("", "is not a Discord message, embed, component or modal")


def _parts(message: Json, at: str) -> Iterator[Payload]:
    newer = has_flag(message, schemas.COMPONENTS_V2)
    has_stickers = False
    for key, schema in _PARTS:
        value = message.get(key)
        # In a message with V2 components, only the components show its files.
        if not value or (newer and key == "attachments"):
            continue
        if schema == schemas.STICKERS:
            if has_stickers:
                continue
            has_stickers = True
        yield Payload(schema, value, f"{at}/{key}")


def open_envelopes(native: JsonValue) -> tuple[JsonValue, str]:
    """Return the JSON inside Discord's envelopes, and its pointer."""
    at = ""
    for _ in range(4):
        if not isinstance(native, dict) or _MESSAGE & native.keys():
            break
        step = next((key for key in _ENVELOPES if isinstance(native.get(key), dict)), None)
        if step is None:
            break
        content = native[step]
        if step == "data" and isinstance(native.get("message"), dict) and not _is_filled(content):
            step, content = "message", native["message"]
        native, at = content, f"{at}/{step}"
    return native, at


def _is_filled(native: JsonValue) -> bool:
    return isinstance(native, dict) and bool(_MESSAGE & native.keys())


def _is_modal(native: Json) -> bool:
    return (
        "components" in native
        and ("custom_id" in native or "title" in native)
        and not _ONLY_MESSAGE & native.keys()
    )


def _schema_of(native: Json) -> str | None:
    """Return the schema of one bare part; None for a message or an envelope."""
    if _ONLY_MESSAGE & native.keys() - _EMBED:
        return None
    if 0 < (kind_of(native) or 0) <= _KINDS and not {"data", "author"} & native.keys():
        return schemas.COMPONENTS
    if "question" in native and "answers" in native:
        return schemas.POLL
    if "format_type" in native:
        return schemas.STICKERS
    if "filename" in native:
        return schemas.ATTACHMENTS
    if _MESSAGE & native.keys() or any(key in native for key in _ENVELOPES):
        return None
    return schemas.EMBEDS if _EMBED & native.keys() and "id" not in native else None


def _schema_of_list(native: list[JsonValue]) -> str:
    first = next((candidate for candidate in native if isinstance(candidate, dict)), None)
    if first is None:
        raise CodecError("", "is not a list of embeds or components: no item is an object")
    if "message" in first and not _EMBED & first.keys():
        return schemas.FORWARDS
    schema = _schema_of(first)
    if schema is None:
        raise CodecError("/0", "is not an embed, component, attachment or sticker")
    return schema


# --- reading --------------------------------------------------------------------------------


def _read(payload: Payload, source: Source, original: str, depth: int) -> Nodes:
    data, at = payload.data, payload.at
    match payload.schema_id:
        case schemas.TEXT:
            return _text(data, source, at)
        case schemas.EMBEDS:
            return read_embeds(data, source, at, read_components)
        case schemas.COMPONENTS:
            return _components(data, source, at)
        case schemas.ATTACHMENTS:
            return read_attachments(data, at)
        case schemas.STICKERS:
            return read_stickers(data, at)
        case schemas.POLL:
            return (read_poll(data, at),)
        case schemas.FORWARDS:
            return _forwards(data, source, original, at, depth)
        case unread:
            readable = ", ".join(sorted(schemas.SCHEMA_IDS))
            raise CodecError(at, f"has schema {unread!r}; only {readable} can be read")


def _text(data: JsonValue, source: Source, at: str) -> Nodes:
    return read_text(data, source, at) if isinstance(data, str) else words_as_nodes(data, at)


def _components(data: JsonValue, source: Source, at: str) -> Nodes:
    """Return the nodes of components; a modal becomes a container with the form `card`."""
    if not isinstance(data, dict) or not _is_modal(data) or kind_of(data) is not None:
        return read_components(data, source, at)
    nodes = read_components(data["components"], source, f"{at}/components")
    title, name = read_plain(text(data, "title")), text(data, "custom_id")
    return (Container(nodes, form="card", title=title, id=name, at=at),)


def _forwards(data: JsonValue, source: Source, original: str, at: str, depth: int) -> Nodes:
    forwards = data if isinstance(data, list) else [data]
    return tuple(
        _forward(forward, source, original, pointer(at, index), depth)
        for index, forward in enumerate(forwards)
    )


def _forward(native: JsonValue, source: Source, original: str, at: str, depth: int) -> Node:
    """Return a forwarded message as a panel, below Discord's label "Forwarded"."""
    message = native.get("message") if isinstance(native, dict) else None
    if not isinstance(message, dict) or depth >= DEEPEST:
        return unknown(native, schemas.FORWARDS, at)
    sign: tuple[Inline, ...] = (Text("↪ Forwarded"),)
    head = Prose((Paragraph((Link(original, sign),) if original else sign),), at=at)
    files = source_of_message(message, source.names.channel.workspace)
    inner_source = Source(
        files.names if mapping(message, "mentions") else source.names, files.files
    )
    nodes = [
        node
        for part in _parts(message, f"{at}/message")
        for node in _read(part, inner_source, _original(message), depth + 1)
    ]
    return Container(
        (Context((head,), at=at), *nodes), form="panel", time=moment(message, "timestamp"), at=at
    )


def _original(message: Json) -> str:
    """Return the link to the forwarded message, or an empty text."""
    reference = message.get("message_reference")
    if not isinstance(reference, dict) or kind_of(reference) != _FORWARD:
        return ""
    steps = [text(reference, key) for key in ("guild_id", "channel_id", "message_id")]
    if not all(step.isascii() and step.isalnum() for step in steps[1:]):
        return ""
    return "/".join((_JUMP, steps[0] if steps[0].isalnum() else "@me", *steps[1:]))
