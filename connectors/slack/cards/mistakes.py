"""Faults for which Slack refuses blocks and attachments: missing members, members of another type,
unknown types.

Data; the writer checks lengths and counts. Sources: docs.slack.dev "Blocks", "Block elements",
"Composition objects", npm @slack/types 3.2.0 (2026-08).
"""

from __future__ import annotations

from bridge.content.cards.rendering import Payload
from bridge.content.cards.required import (
    NON_EMPTY,
    TEXT,
    Families,
    Family,
    Kind,
    Members,
    Requirement,
    list_of,
    mistakes_in,
    object_of,
)
from bridge.content.cards.shapes import is_list, is_number, is_object
from bridge.errors import CodecError
from connectors.slack.cards.read_blocks import is_block
from connectors.slack.cards.schemas import ATTACHMENTS, BLOCKS


def mistakes(payload: Payload) -> tuple[CodecError, ...]:
    """The faults of a payload of blocks or attachments: a list, a single item, or an object with
    the list."""
    data, at = payload.data, payload.at
    if payload.schema_id == BLOCKS:
        if isinstance(data, dict) and "blocks" in data and not is_block(data.get("type")):
            data, at = data["blocks"], f"{at}/blocks"
        expected = _BLOCK if isinstance(data, dict) else _BLOCKS
    elif payload.schema_id == ATTACHMENTS:
        if isinstance(data, dict) and "attachments" in data:
            data, at = data["attachments"], f"{at}/attachments"
        expected = _ATTACHMENT if isinstance(data, dict) else _ATTACHMENTS
    else:
        return ()
    return mistakes_in(data, expected, _FAMILIES, at)


# --- values ---------------------------------------------------------------------------------

_NUMBER = Requirement("a number", is_number)
_OBJECT = Requirement("an object", is_object)
_TEXT = object_of("text", "an object with type (plain_text or mrkdwn) and text")
_PLAIN = object_of("plain", 'an object {"type": "plain_text", "text": ...}')
_BLOCK = object_of("block", "a block: an object with a type")
_BLOCKS = list_of("block", _BLOCK.description)
_CARDS = list_of("card", "a block of the type card")
_ELEMENT = object_of("element", "an element: an object with a type")
_ELEMENTS = list_of("element", _ELEMENT.description)
_PICTURE = object_of("picture", "an object with image_url (or slack_file) and alt_text")
_RICH = object_of("rich", 'an object {"type": "rich_text", "elements": [...]}')
_PARTS = list_of("part", "an object: rich_text_section, rich_text_list or another part")
_INLINES = list_of("inline", "an object: text, link or another element of rich text")
_ATTACHMENT = object_of("attachment", "an attachment: an object")
_ATTACHMENTS = list_of("attachment", _ATTACHMENT.description)
_OPTIONS = list_of("option", "an object with text and value")
_CELL = Requirement(
    "a cell: an object with a type, or null", lambda cell: cell is None or is_object(cell),
    family="cell",
)  # fmt: skip
_ROWS = Requirement("a list", is_list, Requirement("a list of cells", is_list, _CELL))
_POINTS = list_of("point", "an object with label and value")
_TEXTS = Requirement("a list", is_list, TEXT)

# --- kinds ----------------------------------------------------------------------------------

_ANY = Kind()
_CONFIRM = object_of("confirm", "an object with text")
_COMMON: Members = {"action_id": TEXT, "confirm": _CONFIRM}
_INPUT_COMMON: Members = {**_COMMON, "placeholder": _PLAIN}
_IMAGE = Kind(
    {"alt_text": TEXT},
    {"image_url": TEXT, "slack_file": _OBJECT, "title": _PLAIN},
    one_of=("image_url", "slack_file"),
)
_BOXES = Kind({"options": _OPTIONS}, {**_COMMON, "initial_options": _OPTIONS})
_PICKER = Kind({}, _INPUT_COMMON)
_STATIC = Kind(
    {},
    {
        **_INPUT_COMMON, "options": _OPTIONS, "initial_options": _OPTIONS,
        "option_groups": list_of("group", "an object with label and options"),
    },
    one_of=("options", "option_groups"),
)  # fmt: skip
_WRITTEN = Kind({}, {**_INPUT_COMMON, "initial_value": TEXT})
_HALF = object_of("half", "an object with text and value")
_TASK = Kind(
    {"task_id": TEXT, "title": TEXT},
    {"details": _RICH, "output": _RICH, "sources": list_of("source", "an object with url")},
)
_CARD = Kind(
    {},
    {
        **dict.fromkeys(("title", "subtitle", "body", "subtext"), _TEXT),
        "hero_image": _PICTURE, "icon": _PICTURE, "actions": _ELEMENTS,
    },
    one_of=("hero_image", "title", "body", "actions"),
)  # fmt: skip
_TEXT_KINDS: dict[str | int, Kind] = {
    "plain_text": Kind({"text": NON_EMPTY}),
    "mrkdwn": Kind({"text": NON_EMPTY}),
}
_SERIES = Kind(
    {"series": list_of("series", "an object with name and data"), "axis_config": _OBJECT}
)
_RICH_PART = Kind({"elements": _INLINES})

_FAMILIES: Families = {
    "text": Family("a text", _TEXT_KINDS),
    "plain": Family("a plain text", {"plain_text": Kind({"text": NON_EMPTY})}),
    "block": Family("a block", {
        "section": Kind(
            {},
            {"text": _TEXT, "fields": list_of("text", _TEXT.description), "accessory": _ELEMENT},
            one_of=("text", "fields"),
        ),
        "header": Kind({"text": _PLAIN}),
        "divider": _ANY,
        "image": _IMAGE,
        "context": Kind({"elements": list_of("context", "a text or an image")}),
        "actions": Kind({"elements": _ELEMENTS}),
        "context_actions": Kind({"elements": _ELEMENTS}),
        "input": Kind({"label": _PLAIN, "element": _ELEMENT}, {"hint": _PLAIN}),
        "rich_text": Kind({"elements": _PARTS}),
        "markdown": Kind({"text": NON_EMPTY}),
        "alert": Kind({"text": _TEXT}),
        "video": Kind(
            {"video_url": TEXT, "thumbnail_url": TEXT, "alt_text": TEXT, "title": _PLAIN},
            {"description": _PLAIN},
        ),
        "table": Kind({"rows": _ROWS}),
        "data_table": Kind({"rows": _ROWS}, {"caption": TEXT}),
        "data_visualization": Kind({"title": TEXT, "chart": object_of("chart", "a chart")}),
        "card": _CARD,
        "carousel": Kind({"elements": _CARDS}),
        "container": Kind(
            {"child_blocks": _BLOCKS},
            {"title": _PLAIN, "rich_text_title": _RICH, "subtitle": _TEXT, "icon": _PICTURE},
            one_of=("title", "rich_text_title"),
        ),
        "task_card": _TASK,
        "plan": Kind({"title": TEXT}, {"tasks": list_of("task", "a task card")}),
        # Slack makes these itself; a post may repeat them unchanged.
        "file": _ANY,
        "call": _ANY,
        "share_shortcut": _ANY,
    }),
    "card": Family("an element of a carousel", {"card": _CARD}),
    "task": Family("a task", {"task_card": _TASK}, untyped=_TASK),
    "context": Family("an element of a context", {**_TEXT_KINDS, "image": _IMAGE}),
    "picture": Family("a picture", untyped=_IMAGE),
    "element": Family("an element", {
        "button": Kind({"text": _PLAIN}, {**_COMMON, "url": TEXT, "value": TEXT}),
        "workflow_button": Kind({"text": _PLAIN, "workflow": _OBJECT}),
        "icon_button": Kind({"icon": TEXT, "text": _PLAIN}, _COMMON),
        "feedback_buttons": Kind({"positive_button": _HALF, "negative_button": _HALF}),
        "overflow": Kind({"options": _OPTIONS}, _COMMON),
        "image": _IMAGE,
        "checkboxes": _BOXES,
        "radio_buttons": _BOXES,
        "static_select": _STATIC,
        "multi_static_select": _STATIC,
        **dict.fromkeys(
            (
                *("external_select", "multi_external_select", "users_select"),
                *("multi_users_select", "channels_select", "multi_channels_select"),
                *("conversations_select", "multi_conversations_select"),
                *("datepicker", "timepicker", "datetimepicker", "number_input"),
            ),
            _PICKER,
        ),
        **dict.fromkeys(("plain_text_input", "email_text_input", "url_text_input"), _WRITTEN),
        "rich_text_input": Kind({}, {**_INPUT_COMMON, "initial_value": _RICH}),
        "file_input": Kind({}, {"filetypes": _TEXTS}),
    }),
    "confirm": Family("a confirmation", untyped=Kind(
        {"text": _TEXT}, {"title": _PLAIN, "confirm": _PLAIN, "deny": _PLAIN}
    )),
    "option": Family("an option", untyped=Kind({"text": _TEXT}, {"description": _TEXT})),
    "group": Family("a group of options", untyped=Kind({"label": _PLAIN, "options": _OPTIONS})),
    "half": Family("a button for feedback", untyped=Kind({"text": _PLAIN})),
    "source": Family("a source", untyped=Kind({"url": TEXT})),
    "cell": Family("a cell", {
        "raw_text": Kind({"text": TEXT}),
        "raw_number": Kind({"value": _NUMBER}),
        "rich_text": Kind({"elements": _PARTS}),
    }),
    "rich": Family("a rich text", {"rich_text": Kind({"elements": _PARTS})}),
    "part": Family("a part of rich text", {
        "rich_text_section": _RICH_PART,
        "rich_text_quote": _RICH_PART,
        "rich_text_preformatted": _RICH_PART,
        "rich_text_list": Kind({"elements": _PARTS}),
    }),
    "inline": Family("an element of rich text", {
        "text": Kind({"text": TEXT}),
        "link": Kind({"url": TEXT}, {"text": TEXT}),
        "emoji": Kind({"name": TEXT}),
        "user": Kind({"user_id": TEXT}),
        "channel": Kind({"channel_id": TEXT}),
        "usergroup": Kind({"usergroup_id": TEXT}),
        "team": Kind({"team_id": TEXT}),
        "broadcast": Kind({"range": TEXT}),
        "date": Kind({"timestamp": _NUMBER}),
        "color": Kind({"value": TEXT}),
    }),
    "chart": Family("a chart", {
        "pie": Kind({"segments": _POINTS}),
        **dict.fromkeys(("bar", "line", "area"), _SERIES),
    }),
    "series": Family("a series", untyped=Kind({"name": TEXT, "data": _POINTS})),
    "point": Family("a point", untyped=Kind({"label": TEXT, "value": _NUMBER})),
    "attachment": Family("an attachment", untyped=Kind({}, {
        "blocks": _BLOCKS,
        "fields": list_of("field", "an object with title and value"),
        "actions": list_of("legacy", "an object with type and text"),
        **dict.fromkeys(("fallback", "pretext", "author_name", "title", "text", "footer"), TEXT),
        **dict.fromkeys(("image_url", "thumb_url", "title_link", "color"), TEXT),
    })),
    "field": Family("a field of an attachment", untyped=_ANY),
    "legacy": Family("an action of an attachment", {
        "button": Kind({"text": TEXT}),
        "select": _ANY,
    }, untyped=Kind({"text": TEXT})),
}  # fmt: skip
