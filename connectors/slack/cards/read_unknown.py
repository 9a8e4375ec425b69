"""JSON that no reader knows -> a Native node with its texts, images and actions.

Total for any JSON: one walk without recursion, in the order of the source.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from pydantic import JsonValue

from bridge.content.cards.json_tree import pointer
from bridge.content.cards.tree import Actions, Image, Native, Node, Prose
from connectors.slack.cards.read_elements import Actionable, read_element
from connectors.slack.cards.read_json import url_at
from connectors.slack.cards.read_media import picture
from connectors.slack.cards.read_texts import RICH, plain_document, prose
from connectors.slack.cards.schemas import BLOCKS, PART
from connectors.slack.json_values import Json

_TEXT_KEYS = frozenset(
    (
        *("text", "title", "subtitle", "label", "description", "summary", "caption", "hint"),
        *("body", "subtext", "alt_text", "placeholder", "fallback", "pretext", "footer"),
        *("author_name", "provider_name", "button_label"),
    )
)
_RICH = RICH | {"rich_text"}
_TEXTS = _RICH | {"plain_text", "mrkdwn", "raw_text"}
_ADDRESSES = ("url", "join_url", "permalink")
_LONGEST = 400  # of a pointer; deeper values get the pointer of their ancestor

_Readable = Prose | Image | Actionable
_Inner = tuple[object, str, bool, bool]  # value, pointer, whether it is text, whether it is mute


def unknown(value: object, at: str, team: str, schema_id: str = "") -> Native:
    """A Native node with the unchanged value; its schema is that of a block if it can be one."""
    is_block = isinstance(value, dict) and isinstance(cast("Json", value).get("type"), str)
    schema = schema_id or (BLOCKS if is_block else PART)
    return Native(schema, cast("JsonValue", value), readable_in(value, at, team), at=at)


def readable_in(value: object, at: str, team: str) -> tuple[Node, ...]:
    """The texts, images and actions in a value; adjacent actions share a row."""
    if not isinstance(value, dict | list) or not value:
        return tuple(_string(value, at)) if isinstance(value, str) else ()
    nodes: list[Node] = []
    row: list[Actionable] = []
    for node in _walk(value, at, team):
        if isinstance(node, Prose | Image):
            nodes += _rows(row, at)
            nodes.append(node)
            row = []
        else:
            row.append(node)
    return (*nodes, *_rows(row, at))


def _rows(row: list[Actionable], at: str) -> list[Node]:
    return [Actions(tuple(row), at=at)] if row else []


def _walk(value: object, at: str, team: str) -> Iterator[_Readable]:
    """Yield the readable parts.

    Rich text is read as a whole: its parts are `mute`, so that they are not read as text again.
    """
    stack = [iter([(value, at, True, False)])]
    while stack:
        inner = next(stack[-1], None)
        if inner is None:
            stack.pop()
            continue
        item, place, is_text, mute = inner
        if isinstance(item, str):
            yield from _string(item, place) if is_text else ()
        elif isinstance(item, list):
            stack.append(_items(cast("list[object]", item), place, is_text=is_text, mute=mute))
        elif isinstance(item, dict):
            members = cast("Json", item)
            nodes = _readable(members, place, team, mute=mute)
            yield from nodes
            if not nodes:
                stack.append(_values(members, place, mute=mute or _is_rich(members)))


def _readable(value: Json, at: str, team: str, *, mute: bool) -> tuple[_Readable, ...]:
    """The node of a value that is an action, an image or a text."""
    if actions := read_element(value, at, team):
        return tuple(actions)
    kind = value.get("type")
    if kind == "image":
        image = picture(value, at, team)
        return (image,) if image is not None else ()
    if isinstance(kind, str) and kind in _TEXTS and not mute:
        text = prose(value, at, team)
        return (text,) if text is not None else ()
    return ()


def _is_rich(value: Json) -> bool:
    kind = value.get("type")
    return isinstance(kind, str) and kind in _RICH


def _items(values: list[object], at: str, *, is_text: bool, mute: bool) -> Iterator[_Inner]:
    for index, item in enumerate(values):
        yield item, _below(at, index), is_text, mute and isinstance(item, dict)


def _values(value: Json, at: str, *, mute: bool) -> Iterator[_Inner]:
    """The members of an object; a text with a URL in the same object becomes a link."""
    url = next((url for key in _ADDRESSES if (url := url_at(value, key))), "")
    for key, member in value.items():
        place = _below(at, key)
        if url and key in _TEXT_KEYS and isinstance(member, str) and member.strip():
            yield {"type": "rich_text", "elements": _link(url, member)}, place, True, False
            url = ""
        else:
            yield member, place, key in _TEXT_KEYS, mute and key == "elements"


def _link(url: str, label: str) -> list[Json]:
    link = {"type": "link", "url": url, "text": label}
    return [{"type": "rich_text_section", "elements": [link]}]


def _string(text: str, at: str) -> Iterator[Prose]:
    if blocks := plain_document(text):
        yield Prose(blocks, at=at)


def _below(at: str, step: str | int) -> str:
    if len(at) > _LONGEST or (isinstance(step, str) and len(step) > _LONGEST):
        return at
    return pointer(at, step)
