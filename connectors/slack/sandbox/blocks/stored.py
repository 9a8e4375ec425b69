"""Checked blocks -> blocks as Slack returns them: with ids and default members."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

Json = dict[str, Any]

_FIRST_ID = 0x10000  # the smallest number with five hexadecimal digits
_IDS = 0x100000 - _FIRST_ID
NO_PREVIEW = "[no preview available]"
_COLOURS = {"good": "2eb886", "warning": "daa038", "danger": "a30200"}
_SWITCHES = {"plain_text": ("emoji", True), "mrkdwn": ("verbatim", False)}
# Interactive elements: each has an action_id.
INTERACTIVE = frozenset(
    {
        "button", "workflow_button", "overflow", "static_select", "external_select",
        "users_select", "conversations_select", "channels_select", "multi_static_select",
        "multi_external_select", "multi_users_select", "multi_conversations_select",
        "multi_channels_select", "checkboxes", "radio_buttons", "datepicker", "timepicker",
        "datetimepicker", "plain_text_input", "rich_text_input", "number_input",
        "email_text_input", "url_text_input", "file_input", "feedback_buttons", "icon_button",
    }
)  # fmt: skip


_counted = count(1)


def new_id() -> str:
    """Five characters, as Slack makes them: not secret, and unique within about sixty million."""
    return f"{next(_counted) * 39_916_801 % _IDS + _FIRST_ID:x}"


def stored_blocks(blocks: list[Json]) -> list[Json]:
    """The same blocks, completed in place."""
    for node in objects_in(blocks):
        _complete(node)
    return [_with_id(block) for block in blocks]


def objects_in(value: list[Any]) -> Iterator[Json]:
    """All objects in the value, which may be changed meanwhile."""
    waiting = list(value)
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict):
            yield node
            waiting += [inner for inner in node.values() if isinstance(inner, list | dict)]


def stored_attachments(attachments: list[Json]) -> list[Json]:
    return [_attachment(number, attachment) for number, attachment in enumerate(attachments, 1)]


def _complete(node: Json) -> None:
    kind = node.get("type")
    if kind in _SWITCHES:
        name, value = _SWITCHES[kind]
        node.setdefault(name, value)
    elif kind in INTERACTIVE and not node.get("action_id"):
        node["action_id"] = new_id()
    if "child_blocks" in node:
        node["child_blocks"] = [_with_id(child) for child in node["child_blocks"]]
    elif kind == "carousel":
        node["elements"] = [_with_id(card) for card in node["elements"]]


def _with_id(block: Json) -> Json:
    if block.get("block_id"):
        return block
    members = {name: value for name, value in block.items() if name not in ("type", "block_id")}
    return {"type": block["type"], "block_id": new_id(), **members}


def _attachment(number: int, attachment: Json) -> Json:
    stored: Json = {**attachment, "id": number}
    if colour := attachment.get("color"):
        stored["color"] = _COLOURS.get(colour, colour.removeprefix("#"))
    if attachment.get("blocks"):
        stored["blocks"] = stored_blocks(attachment["blocks"])
    if not stored.get("fallback"):
        stored["fallback"] = attachment.get("text") or attachment.get("title") or NO_PREVIEW
    return stored
