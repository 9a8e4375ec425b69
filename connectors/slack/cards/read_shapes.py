"""The values of a Slack message that have another type than Slack's schema says. Pure; total.

Source: npm @slack/types 3.2.0, docs.slack.dev "Blocks" and "Legacy attachments" (2026-08).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from pydantic import JsonValue

from bridge.content.cards.shapes import (
    NUMBER,
    OBJECT,
    OBJECTS,
    SCALAR,
    TEXT,
    TEXTS,
    Expected,
    Table,
    either,
    is_anything,
    is_list,
    shape_losses,
)
from bridge.errors import CodecError
from bridge.model import Loss
from connectors.slack.cards.read import payloads
from connectors.slack.cards.read_blocks import is_block
from connectors.slack.cards.read_elements import is_element
from connectors.slack.cards.read_json import unfolded
from connectors.slack.cards.read_texts import RICH
from connectors.slack.cards.schemas import ATTACHMENTS, BLOCKS, FILES


def wrong_shapes(native: JsonValue) -> tuple[Loss, ...]:
    """The losses of the shown parts of a message, a view or a bare payload."""
    try:
        message_payloads = payloads(native)
    except CodecError:
        return ()
    native = unfolded(native)
    if len(message_payloads) == 1 and not message_payloads[0].at:
        expected = OBJECTS if isinstance(native, list) else OBJECT
        return shape_losses(native, expected, _tables, key=_KEYS[message_payloads[0].schema_id])
    if not isinstance(native, dict):
        return ()
    message = cast("Mapping[str, object]", native)
    return tuple(
        loss
        for key, expected in _MESSAGE.items()
        for loss in shape_losses(message.get(key), expected, _tables, f"/{key}", key)
    )


# --- expected shapes ------------------------------------------------------------------------


def _has_text(value: object) -> bool:
    """Whether the value is a text or a text object."""
    if isinstance(value, str):
        return True
    if not isinstance(value, dict):
        return False
    members = cast("Mapping[str, object]", value)
    kind = members.get("type")
    return "text" in members or (
        isinstance(kind, str) and (kind in RICH or kind.startswith("rich"))
    )


def _tables(value: Mapping[str, object], key: str) -> Table:
    """The tables for a value; all text members of an unknown block are read."""
    kind = value.get("type")
    if not isinstance(kind, str):
        return _AT_KEYS.get(key, _OF_ANY)
    if kind in _TEXTS:
        return _OF_TEXTS
    if kind in _OF_KINDS:
        return _OF_KINDS[kind]
    is_known = is_block(kind) or is_element(value) or kind.startswith("rich_text")
    return _OF_ANY if is_known else {}


_WORDS = Expected(_has_text)
_CELLS = Expected(is_list, Expected(is_anything, Expected(is_anything)))
_MESSAGE: Table = {
    "text": TEXT, "markdown_text": TEXT,
    "blocks": OBJECTS, "attachments": OBJECTS, "files": OBJECTS,
}  # fmt: skip
_KEYS = {BLOCKS: "blocks", ATTACHMENTS: "attachments", FILES: "files"}
_TEXTS = RICH | {"plain_text", "mrkdwn", "raw_text", "markdown"}
_OF_TEXTS: Table = dict.fromkeys(("text", "url", "fallback", "name"), TEXT)
_OF_ANY: Table = {
    **dict.fromkeys(
        (
            *("blocks", "attachments", "files", "elements", "fields", "options", "option_groups"),
            *("child_blocks", "tasks", "sources", "actions", "message_blocks", "segments"),
            *("series", "selected_options", "initial_options"),
        ),
        OBJECTS,
    ),
    **dict.fromkeys(
        (
            *("categories", "initial_users", "initial_channels", "initial_conversations"),
            *("filetypes", "include"),
        ),
        TEXTS,
    ),
    **dict.fromkeys(
        (
            *("accessory", "element", "confirm", "hero_image", "slack_file", "chart", "call", "v1"),
            *("message", "initial_option", "workflow", "trigger", "positive_button", "file"),
            *("negative_button", "transcription", "axis_config", "filter", "icon"),
        ),
        OBJECT,
    ),
    **dict.fromkeys(
        (
            *("text", "title", "subtitle", "label", "placeholder", "hint", "description", "body"),
            *("subtext", "details", "output", "deny", "rich_text_title", "button_label"),
        ),
        _WORDS,
    ),
    **dict.fromkeys(
        (
            *("alt_text", "alt_txt", "fallback", "pretext", "footer", "author_name", "caption"),
            *("author_subname", "author_link", "author_icon", "service_name", "service_link"),
            *("service_url", "service_icon", "footer_icon", "provider_name", "image_url"),
            *("thumb_url", "thumbnail_url", "title_link", "title_url", "video_url", "from_url"),
            *("url", "url_private", "permalink", "join_url", "name", "action_id", "callback_id"),
            *("accessibility_label", "ok_text", "dismiss_text", "x_label", "y_label", "content"),
            *("initial_date", "initial_time", "initial_user", "initial_channel", "user_id"),
            *("initial_conversation", "external_id", "file_id", "mimetype", "mode"),
            *("thumb_video", "preview", "value", "initial_value"),
        ),
        TEXT,
    ),
    **dict.fromkeys(("min_value", "max_value", "initial_date_time", "ts", "id"), SCALAR),
    "rows": _CELLS,
    "data": Expected(is_list, either(OBJECT, NUMBER)),
}
_FLAT: Table = {**_OF_ANY, **dict.fromkeys(("text", "title", "description"), TEXT)}
_NUMBERED: Table = {**_OF_ANY, "value": SCALAR}
_AT_KEYS: Mapping[str, Table] = {
    **dict.fromkeys(("files", "fields", "selected_options"), _FLAT),
    "attachments": {**_FLAT, "preview": either(OBJECT, TEXT)},
    **dict.fromkeys(("data", "segments"), _NUMBERED),
    "confirm": {**_OF_ANY, "confirm": _WORDS},
    "transcription": {"preview": OBJECT},
}
_OF_KINDS: Mapping[str, Table] = {
    **dict.fromkeys(("bar", "line", "area", "pie", "url"), _OF_ANY),
    "raw_number": _NUMBERED,
    "number_input": {**_OF_ANY, "initial_value": SCALAR},
    "rich_text_input": {**_OF_ANY, "initial_value": OBJECT},
    "icon_button": {**_OF_ANY, "icon": TEXT},
    "select": _FLAT,  # a menu of an attachment
}
