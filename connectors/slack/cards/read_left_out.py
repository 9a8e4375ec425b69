"""What a Slack payload has and a card cannot represent: the audience of a button, invalid links.

Total; one walk without recursion.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import cast

from pydantic import JsonValue

from bridge.content.cards.json_tree import check_nesting, pointer
from bridge.content.cards.rendering import Payload
from bridge.content.text.urls import safe_url
from bridge.errors import CodecError
from bridge.model import Loss

_MAX_LOSSES = 100
_LONGEST = 2000
_KINDS = {
    "agent_prompt": "prompt_of_button",
    "customizable_input_parameters": "workflow_inputs",
    "provider_icon_url": "icon",
    "timezone": "time_zone",
    "visible_to_user_ids": "audience",
}
_ADDRESSES = frozenset(
    (
        *("author_icon", "author_link", "footer_icon", "image_url", "service_url", "thumb_url"),
        *("thumbnail_url", "title_link", "title_url", "url", "video_url"),
    )
)


def left_out(payload: Payload) -> tuple[Loss, ...]:
    """Up to a hundred losses, in the order of the payload."""
    try:
        check_nesting(payload.data)
    except CodecError:
        return ()
    return tuple(islice(_losses(payload.data, payload.at), _MAX_LOSSES))


def unexpanded(_payload: Payload) -> tuple[str, ...]:
    """None: Slack has no templates."""
    return ()


def _losses(value: JsonValue, at: str) -> Iterator[Loss]:
    way: list[str | int] = []
    stack = [_members(value)]
    while stack:
        entry = next(stack[-1], None)
        if entry is None:
            stack.pop()
            continue
        step, member = entry
        way[len(stack) - 1 :] = [step]
        if loss := _loss(step, member):
            yield Loss(path=pointer(at, *way), kind=loss[0], what=loss[1])
        elif isinstance(member, dict | list):
            stack.append(_members(member))


def _members(value: object) -> Iterator[tuple[str | int, object]]:
    if isinstance(value, dict):
        return iter(cast("dict[str | int, object]", value).items())
    return enumerate(cast("list[object]", value)) if isinstance(value, list) else iter(())


def _loss(step: str | int, value: object) -> tuple[str, str] | None:
    if step in _KINDS:
        return (_KINDS[str(step)], lost_text) if (lost_text := _text_of(value)) else None
    if step in _ADDRESSES and isinstance(value, str) and value and safe_url(value) is None:
        return "address", value[:_LONGEST]
    return None


def _text_of(value: object) -> str:
    if isinstance(value, str):
        return value[:_LONGEST]
    if not isinstance(value, list):
        return ""
    names = (
        item if isinstance(item, str) else str(cast("dict[str, object]", item).get("name", ""))
        for item in islice(cast("list[object]", value), _MAX_LOSSES)
        if isinstance(item, str | dict)
    )
    return " ".join(names)[:_LONGEST].strip()
