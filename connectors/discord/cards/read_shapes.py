"""The values of a Discord message whose type differs from the documentation. Pure; total.

Source: Discord docs, resources/message, components/reference, resources/poll (2026-08).
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from bridge.content.cards.shapes import OBJECT, OBJECTS, TEXT, Table, shape_losses
from bridge.errors import CodecError
from bridge.model import Loss
from connectors.discord.cards.read import open_envelopes, payloads


def wrong_shapes(native: JsonValue) -> tuple[Loss, ...]:
    """Return a Loss for each such value in the visible parts of a message, modal or payload."""
    try:
        visible = payloads(native)
    except CodecError:
        return ()
    content, at = open_envelopes(native)
    if len(visible) == 1 and visible[0].at == at:
        expected = OBJECTS if isinstance(visible[0].data, list) else OBJECT
        return shape_losses(visible[0].data, expected, _tables, at)
    if not isinstance(content, dict):
        return ()
    return tuple(
        loss
        for key, expected in _MESSAGE.items()
        for loss in shape_losses(content.get(key), expected, _tables, f"{at}/{key}", key)
    )


def _tables(_value: Mapping[str, object], key: str) -> Table:
    return _MESSAGE if key == "message" else _OF_ANY


_MESSAGE: Table = {
    "content": TEXT,
    **dict.fromkeys(("poll", "message_reference"), OBJECT),
    **dict.fromkeys(
        (
            *("attachments", "embeds", "sticker_items", "stickers", "components"),
            "message_snapshots",
        ),
        OBJECTS,
    ),
}
_OF_ANY: Table = {
    **dict.fromkeys(
        ("components", "items", "options", "fields", "answers", "embeds", "default_values"),
        OBJECTS,
    ),
    **dict.fromkeys(
        (
            *("accessory", "component", "media", "file", "emoji", "question", "poll_media"),
            *("footer", "author", "image", "thumbnail", "video", "provider", "message"),
        ),
        OBJECT,
    ),
    **dict.fromkeys(
        (
            *("content", "title", "description", "name", "label", "placeholder", "text", "value"),
            *("url", "icon_url", "filename", "content_type", "custom_id", "timestamp", "expiry"),
            *("channel_id", "message_id", "guild_id"),
        ),
        TEXT,
    ),
}
