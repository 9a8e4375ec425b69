"""Documented shapes and limits of every block type. Mostly data.

Sources: docs.slack.dev "Blocks", npm @slack/types 3.2.0, slackapi/slack-skills-plugin (2026-08).
"""

from __future__ import annotations

from typing import Any

from connectors.slack.sandbox.blocks.checks import (
    Check,
    Checks,
    Faults,
    Json,
    anything,
    boolean,
    checked_by_type,
    exactly_one,
    integer,
    items,
    number,
    one_of,
    shape,
    string,
)
from connectors.slack.sandbox.blocks.elements import (
    ACCESSORY,
    ACTION,
    BUTTON,
    CONTEXT_ACTIONS,
    IMAGE,
    input_element,
    plain,
    slack_file,
    text,
    web_address,
)
from connectors.slack.sandbox.blocks.rich_text import PARTS, RICH_TEXT

MAX_MARKDOWN = 12_000
MAX_TABLE_CHARACTERS = 10_000
MAX_DATA_CHARACTERS = 20_000
_KIND: Checks = {"type": anything}
_BLOCK_ID: Checks = {"block_id": string(255)}


def _block(needed: Checks, allowed: Checks | None = None, also: Check | None = None) -> Check:
    return shape({**_KIND, **needed}, {**_BLOCK_ID, **(allowed or {})}, also)


def _only_on(surface: str, name: str, check: Check) -> Check:
    def checked(value: Any, at: str, faults: Faults) -> None:
        if faults.surface != surface:
            faults.say(f"unsupported type: {name}", f"{at}/type")
        else:
            check(value, at, faults)

    return checked


def _text_or_fields(value: Json, at: str, faults: Faults) -> None:
    if not value.get("text") and not value.get("fields"):
        faults.say("must define either `text` or `fields`", f"{at}/type")


def _ids_once(value: Json, at: str, faults: Faults) -> None:
    """An action_id is unique in its block."""
    ids: set[str] = set()
    elements = value.get("elements")
    for index, element in enumerate(elements if isinstance(elements, list) else ()):
        own = element.get("action_id") if isinstance(element, dict) else None
        if not isinstance(own, str):
            continue
        if own in ids:
            block = value.get("block_id", "")
            faults.say(
                f'`action_id` "{own}" already exists for block_id "{block}"',
                f"{at}/elements/{index}/action_id",
            )
        ids.add(own)


def _video(value: Json, at: str, faults: Faults) -> None:
    address = value.get("video_url")
    if isinstance(address, str) and not faults.may_embed(address):
        faults.say("video_url must be in the app's unfurl domains", f"{at}/video_url")


def _enough_of_a_card(value: Json, at: str, faults: Faults) -> None:
    if not any(value.get(name) for name in ("hero_image", "title", "body", "actions")):
        faults.say("must define `hero_image`, `title`, `body` or `actions`", at)


def _table_text(value: Json, at: str, faults: Faults) -> None:
    if _length_of_texts(value.get("rows")) > MAX_TABLE_CHARACTERS:
        faults.say(f"must be less than {MAX_TABLE_CHARACTERS + 1} characters", f"{at}/rows")


def _data_rows(value: Json, at: str, faults: Faults) -> None:
    rows = value.get("rows")
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        return
    if len({len(row) for row in rows}) > 1:
        faults.say("all rows must have the same number of cells", f"{at}/rows")
    for index, cell in enumerate(rows[0] if rows else ()):
        if isinstance(cell, dict) and cell.get("type") == "rich_text":
            faults.say("unsupported type: rich_text", f"{at}/rows/0/{index}/type")
    if _length_of_texts(rows) > MAX_DATA_CHARACTERS:
        faults.say(f"must be less than {MAX_DATA_CHARACTERS + 1} characters", f"{at}/rows")


def _length_of_texts(value: Any) -> int:
    """The characters of all nested `text` fields; without recursion."""
    total, waiting = 0, [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict):
            total += len(node["text"]) if isinstance(node.get("text"), str) else 0
            waiting += [inner for inner in node.values() if isinstance(inner, list | dict)]
    return total


def _one_title(value: Json, at: str, faults: Faults) -> None:
    exactly_one("title", "rich_text_title")(value, at, faults)
    if value.get("has_header_divider") and value.get("is_collapsible"):
        faults.say("must not be used with `is_collapsible`", f"{at}/has_header_divider")


_IMAGE_BLOCK = _block(
    {"alt_text": string(2000)},
    {"image_url": web_address, "slack_file": slack_file, "title": plain(2000)},
    exactly_one("image_url", "slack_file"),
)
_RICH_BLOCK = _block({"elements": items(PARTS, 10_000, 0)})
_CONTEXT = checked_by_type(
    {
        "image": IMAGE,
        "plain_text": text(3000),
        "mrkdwn": text(3000),
    }
)
_CELL = checked_by_type(
    {
        "raw_text": shape({**_KIND, "text": string(MAX_TABLE_CHARACTERS, 1)}),
        "raw_number": shape({**_KIND, "value": number}, {"text": string(1000)}),
        "rich_text": shape(
            {**_KIND, "elements": items(PARTS, 10_000, 0)}, {"block_id": string(255)}
        ),
    }
)
_COLUMN = shape({}, {"align": one_of("left", "center", "right"), "is_wrapped": boolean})


def _cell_or_none(value: Any, at: str, faults: Faults) -> None:
    if value is not None:
        _CELL(value, at, faults)


def _column_or_none(value: Any, at: str, faults: Faults) -> None:
    if value is not None:
        _COLUMN(value, at, faults)


_SERIES = shape(
    {
        "name": string(20, 1),
        "data": items(shape({"label": string(20, 1), "value": number}), 20),
    }
)
_AXES = shape(
    {"categories": items(string(20, 1), 20)}, {"x_label": string(50), "y_label": string(50)}
)
_DRAWN = shape({**_KIND, "series": items(_SERIES, 12), "axis_config": _AXES})
_CHART = checked_by_type(
    {
        "line": _DRAWN,
        "bar": _DRAWN,
        "area": _DRAWN,
        "pie": shape(
            {
                **_KIND,
                "segments": items(shape({"label": string(20, 1), "value": number}), 12),
            }
        ),
    }
)
_ICON = shape({"type": one_of("icon"), "name": string(255, 1)})
_CARD = _block(
    {},
    {
        "hero_image": IMAGE, "icon": IMAGE, "slack_icon": _ICON, "title": text(150),
        "subtitle": text(150), "body": text(200), "subtext": text(200),
        "actions": items(checked_by_type({"button": BUTTON}), 3),
    },
    _enough_of_a_card,
)  # fmt: skip
_SOURCE = checked_by_type(
    {"url": shape({**_KIND, "url": string(3000, 1), "text": string(3000, 1)})}
)


def _task(*states: str) -> Check:
    return _block(
        {"task_id": string(255, 1), "title": string(3000, 1), "status": one_of(*states)},
        {"details": RICH_TEXT, "output": RICH_TEXT, "sources": items(_SOURCE, 100, 0)},
    )


_IN_PLANS = checked_by_type({"task_card": _task("pending", "in_progress", "complete", "error")})
_SECTION = _block(
    {},
    {
        "text": text(3000), "fields": items(text(2000), 10), "accessory": ACCESSORY,
        "expand": boolean,
    },
    _text_or_fields,
)  # fmt: skip
_ALERT = _block(
    {"text": text(200)}, {"level": one_of("default", "info", "warning", "error", "success")}
)
_TABLE = _block(
    {"rows": items(items(_cell_or_none, 20), 100)},
    {"column_settings": items(_column_or_none, 20, 0)},
    _table_text,
)
_PLAIN_KINDS: Checks = {
    "section": _SECTION,
    "header": _block({"text": plain(150)}, {"level": integer(1, 4)}),
    "divider": _block({}),
    "image": _IMAGE_BLOCK,
    "context": _block({"elements": items(_CONTEXT, 10)}),
    "actions": _block({"elements": items(ACTION, 25)}, {}, _ids_once),
    "input": _block(
        {"label": plain(2000), "element": input_element},
        {"hint": plain(2000), "optional": boolean, "dispatch_action": boolean},
    ),
    "rich_text": _RICH_BLOCK,
    "table": _TABLE,
    "video": _block(
        {
            "video_url": web_address, "thumbnail_url": web_address, "alt_text": string(2000, 1),
            "title": plain(199),
        },
        {
            "title_url": web_address, "description": plain(200), "author_name": string(49),
            "provider_name": string(255), "provider_icon_url": web_address,
        },
        _video,
    ),
}  # fmt: skip
_CONTAINER = _block(
    {"child_blocks": items(checked_by_type(_PLAIN_KINDS), 10)},
    {
        "title": plain(150), "rich_text_title": RICH_TEXT, "subtitle": text(150),
        "width": one_of("narrow", "standard", "wide", "full"), "icon": IMAGE,
        "is_collapsible": boolean, "default_collapsed": boolean, "has_header_divider": boolean,
    },
    _one_title,
)  # fmt: skip
BLOCK = checked_by_type(
    {
        **_PLAIN_KINDS,
        "context_actions": _block({"elements": items(CONTEXT_ACTIONS, 5)}, {}, _ids_once),
        "markdown": _block({"text": string(MAX_MARKDOWN, 1)}),
        "data_table": _block(
            {"caption": string(3000, 1), "rows": items(items(_CELL, 20), 201, 2)},
            {"page_size": integer(1, 100), "row_header_column_index": integer(0, 19)},
            _data_rows,
        ),
        "data_visualization": _block({"title": string(50, 1), "chart": _CHART}),
        "card": _CARD,
        "carousel": _block({"elements": items(checked_by_type({"card": _CARD}), 10)}),
        "container": _CONTAINER,
        "alert": _only_on("modal", "alert", _ALERT),
        "task_card": _task("in_progress", "complete", "error"),
        "plan": _block({"title": string(3000, 1)}, {"tasks": items(_IN_PLANS, 50, 0)}),
    }
)
