"""Native Slack blocks in a card -> the same blocks, if Slack surely accepts them.

Blocks that no card node represents (feedback buttons, workflows) and plain blocks are checked
against the documented limits; for other blocks their fallback is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import cast

import orjson

from bridge.content.cards.tree import Native
from connectors.slack.cards.schemas import BLOCKS
from connectors.slack.cards.write_pieces import Json, Piece, Writing
from connectors.slack.cards.write_size import size_of
from connectors.slack.cards.write_texts import length

Judge = Callable[[object], bool]
Shape = Mapping[str, tuple[bool, Judge]]

_MAX_CHARACTERS = 9_000
_NEW = frozenset(("context_actions",))  # not allowed in attachments and containers
_PING = re.compile(rb'<(?:@|#|!(?!date\^))|"type":"(?:broadcast|user|usergroup|channel|team)"')
_ACTS = re.compile(rb'"type":"(?:button|workflow_button|icon_button|feedback_buttons)"')
_IDS = ("action_id", "block_id")


def write_native(writing: Writing, node: Native) -> None:
    """The block itself, or its fallback."""
    blocks = _blocks(node.payload) if node.schema_id == BLOCKS else []
    if blocks and all(_is_taken(writing, block) for block in blocks) and _claim(writing, blocks):
        writing.pieces += [Piece(block) for block in blocks]
        return
    writing.lose(node.at, "native_fallback", node.schema_id, "what stands for it")
    writing.write(node.fallback)


def _blocks(payload: object) -> list[Json]:
    several = cast("list[object]", payload) if isinstance(payload, list) else [payload]
    blocks = [cast("Json", value) for value in several if isinstance(value, dict)]
    return blocks if len(blocks) == len(several) else []


def _is_taken(writing: Writing, block: Json) -> bool:
    kind = block.get("type")
    shape = _BLOCKS.get(kind) if isinstance(kind, str) else None
    if shape is None or (kind in _NEW and writing.is_inside) or not _fits(block, shape):
        return False
    try:
        written = orjson.dumps(block)
    except TypeError:  # lone surrogates, numbers beyond 64 bits
        return False
    presses_allowed = writing.accepts_presses or not _ACTS.search(written)
    return presses_allowed and not _PING.search(written) and size_of(block) <= _MAX_CHARACTERS


def _claim(writing: Writing, blocks: list[Json]) -> bool:
    """Reserve the ids of the block; False when another element has one of them."""
    ids = list(_ids(blocks))
    return len(set(ids)) == len(ids) and all(writing.numbered_id(name) == name for name in ids)


def _ids(value: object) -> Iterator[str]:
    stack = [value]
    while stack:
        part = stack.pop()
        if isinstance(part, list):
            stack += cast("list[object]", part)
        elif isinstance(part, dict):
            members = cast("Json", part)
            yield from (members[key] for key in _IDS if isinstance(members.get(key), str))
            stack += members.values()


# --- shapes ---------------------------------------------------------------------------------


def _fits(value: object, shape: Shape) -> bool:
    """Whether all keys are known and valid, and no required key is missing."""
    if not isinstance(value, dict):
        return False
    members = cast("Json", value)
    is_complete = all(key in shape or key in ("type", "block_id") for key in members)
    needed = all(key in members for key, (is_needed, _) in shape.items() if is_needed)
    if not is_complete or not needed or not _is_id(members.get("block_id", "x")):
        return False
    return all(judge(members[key]) for key, (_, judge) in shape.items() if key in members)


def _string(limit: int) -> Judge:
    return lambda value: isinstance(value, str) and bool(value.strip()) and length(value) <= limit


def _text(limit: int, *kinds: str) -> Judge:
    shape: Shape = {
        "text": (True, _string(limit)),
        "emoji": (False, _is_bool),
        "verbatim": (False, _is_bool),
    }
    allowed = kinds or ("plain_text", "mrkdwn")
    return lambda value: _fits(value, shape) and _kind(value) in allowed


def _list(limit: int, judge: Judge) -> Judge:
    return lambda value: (
        isinstance(value, list)
        and 1 <= len(cast("list[object]", value)) <= limit
        and all(judge(value) for value in cast("list[object]", value))
    )


def _one_of(shapes: Mapping[str, Shape]) -> Judge:
    return lambda value: (kind := _kind(value)) in shapes and _fits(value, shapes[kind])


def _kind(value: object) -> str:
    kind = cast("Json", value).get("type") if isinstance(value, dict) else None
    return kind if isinstance(kind, str) else ""


def _is_bool(value: object) -> bool:
    return isinstance(value, bool)


def _is_url(value: object) -> bool:
    return _string(3_000)(value) and bool(re.match(r"https?://[^\s<>]+$", str(value)))


def _is_style(value: object) -> bool:
    return value in ("primary", "danger")


_is_id = _string(255)
_PLAIN = "plain_text"
_HALF: Shape = {
    "text": (True, _text(75, _PLAIN)),
    "value": (True, _string(2_000)),
    "accessibility_label": (False, _string(75)),
}
_PICTURE: Shape = {"image_url": (True, _is_url), "alt_text": (True, _string(2_000))}
_BUTTON: Shape = {
    "text": (True, _text(75, _PLAIN)),
    "action_id": (False, _is_id),
    "value": (False, _string(2_000)),
    "url": (False, _is_url),
    "style": (False, _is_style),
    "accessibility_label": (False, _string(75)),
}
_TRIGGER: Shape = {"trigger": (True, lambda value: _fits(value, {"url": (True, _is_url)}))}
_WORKFLOW: Shape = {
    "text": (True, _text(75, _PLAIN)),
    "action_id": (True, _is_id),
    "workflow": (True, lambda value: _fits(value, _TRIGGER)),
    "style": (False, _is_style),
    "accessibility_label": (False, _string(75)),
}
_FEEDBACK: Shape = {
    "action_id": (False, _is_id),
    "positive_button": (True, lambda value: _fits(value, _HALF)),
    "negative_button": (True, lambda value: _fits(value, _HALF)),
}
_ICON: Shape = {
    "icon": (True, lambda value: value == "trash"),
    "text": (True, _text(75, _PLAIN)),
    "action_id": (False, _is_id),
    "value": (False, _string(2_000)),
    "accessibility_label": (False, _string(75)),
}
_PRESSED = {"button": _BUTTON, "workflow_button": _WORKFLOW}
_BLOCKS: Mapping[str, Shape] = {
    "divider": {},
    "header": {"text": (True, _text(150, _PLAIN))},
    "section": {
        "text": (True, _text(3_000)),
        "fields": (False, _list(10, _text(2_000))),
        "accessory": (False, _one_of({**_PRESSED, "image": _PICTURE})),
        "expand": (False, _is_bool),
    },
    "image": {**_PICTURE, "title": (False, _text(2_000, _PLAIN))},
    "context": {
        "elements": (
            True,
            _list(
                10, lambda element: _one_of({"image": _PICTURE})(element) or _text(3_000)(element)
            ),
        )
    },
    "actions": {"elements": (True, _list(25, _one_of(_PRESSED)))},
    "context_actions": {
        "elements": (
            True,
            _list(5, _one_of({"feedback_buttons": _FEEDBACK, "icon_button": _ICON})),
        )
    },
}
