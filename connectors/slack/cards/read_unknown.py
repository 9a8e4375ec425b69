"""JSON that no reader knows -> a Native node, with the words, pictures and actions found in it.

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

_SAID = frozenset(
    (
        *("text", "title", "subtitle", "label", "description", "summary", "caption", "hint"),
        *("body", "subtext", "alt_text", "placeholder", "fallback", "pretext", "footer"),
        *("author_name", "provider_name", "button_label"),
    )
)
_RICH = RICH | {"rich_text"}
_TEXTS = _RICH | {"plain_text", "mrkdwn", "raw_text"}
_ADDRESSES = ("url", "join_url", "permalink")
_LONGEST = 400  # of a pointer: what lies deeper stands where its ancestor stands

_Found = Prose | Image | Actionable
_Inner = tuple[object, str, bool, bool]  # a value, its place, whether it is said, whether mute


def unknown(value: object, at: str, team: str, schema_id: str = "") -> Native:
    """The value as it is; its schema is that of a block if it could be one."""
    is_block = isinstance(value, dict) and isinstance(cast("Json", value).get("type"), str)
    known = schema_id or (BLOCKS if is_block else PART)
    return Native(known, cast("JsonValue", value), found_in(value, at, team), at=at)


def found_in(value: object, at: str, team: str) -> tuple[Node, ...]:
    """All that can be read in it; neighbouring actions share a row."""
    if not isinstance(value, dict | list) or not value:
        return tuple(_string(value, at)) if isinstance(value, str) else ()
    nodes: list[Node] = []
    row: list[Actionable] = []
    for one in _walk(value, at, team):
        if isinstance(one, Prose | Image):
            nodes += _rows(row, at)
            nodes.append(one)
            row = []
        else:
            row.append(one)
    return (*nodes, *_rows(row, at))


def _rows(row: list[Actionable], at: str) -> list[Node]:
    return [Actions(tuple(row), at=at)] if row else []


def _walk(value: object, at: str, team: str) -> Iterator[_Found]:
    """Rich text is read with all that lies in it: where it says nothing, what lies in it is `mute`
    and not read as text again, level by level."""
    stack = [iter([(value, at, True, False)])]
    while stack:
        inner = next(stack[-1], None)
        if inner is None:
            stack.pop()
            continue
        one, place, said, mute = inner
        if isinstance(one, str):
            yield from _string(one, place) if said else ()
        elif isinstance(one, list):
            stack.append(_items(cast("list[object]", one), place, said=said, mute=mute))
        elif isinstance(one, dict):
            found = cast("Json", one)
            known = _known(found, place, team, mute=mute)
            yield from known
            if not known:
                stack.append(_values(found, place, mute=mute or _is_rich(found)))


def _known(value: Json, at: str, team: str, *, mute: bool) -> tuple[_Found, ...]:
    """What stands for itself: an action, a picture, a text."""
    if actions := read_element(value, at, team):
        return tuple(actions)
    kind = value.get("type")
    if kind == "image":
        found = picture(value, at, team)
        return (found,) if found is not None else ()
    if isinstance(kind, str) and kind in _TEXTS and not mute:
        said = prose(value, at, team)
        return (said,) if said is not None else ()
    return ()


def _is_rich(value: Json) -> bool:
    kind = value.get("type")
    return isinstance(kind, str) and kind in _RICH


def _items(values: list[object], at: str, *, said: bool, mute: bool) -> Iterator[_Inner]:
    for index, one in enumerate(values):
        yield one, _below(at, index), said, mute and isinstance(one, dict)


def _values(value: Json, at: str, *, mute: bool) -> Iterator[_Inner]:
    """Words with an address beside them are a link."""
    url = next((url for key in _ADDRESSES if (url := url_at(value, key))), "")
    for key, one in value.items():
        place = _below(at, key)
        if url and key in _SAID and isinstance(one, str) and one.strip():
            yield {"type": "rich_text", "elements": _link(url, one)}, place, True, False
            url = ""
        else:
            yield one, place, key in _SAID, mute and key == "elements"


def _link(url: str, label: str) -> list[Json]:
    link = {"type": "link", "url": url, "text": label}
    return [{"type": "rich_text_section", "elements": [link]}]


def _string(text: str, at: str) -> Iterator[Prose]:
    if said := plain_document(text):
        yield Prose(said, at=at)


def _below(at: str, step: str | int) -> str:
    if len(at) > _LONGEST or (isinstance(step, str) and len(step) > _LONGEST):
        return at
    return pointer(at, step)
