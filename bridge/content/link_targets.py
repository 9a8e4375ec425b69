"""Texts and cards whose links say where they lead. Pure.

What a model writes may be somebody else's wish: a link under a harmless name can carry what was
said in the room to a stranger who is clicked on. So people see the whole address.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from bridge.content.inlines import plain_inlines
from bridge.content.markdown import markdown_to_text, text_to_markdown
from bridge.content.text import Link, Text
from bridge.uacs import Message, TextPart

T = TypeVar("T")


def with_targets(value: T) -> T:
    """A text or a card in which each link is followed by its address, unless it is its own name;
    the same object where there is none to be shown."""
    return _with(value)


def with_targets_said(message: Message) -> Message:
    """The same of a message's texts."""
    parts = [_part(part) for part in message.content]
    same = all(one is other for one, other in zip(parts, message.content, strict=True))
    return message if same else message.model_copy(update={"content": tuple(parts)})


def _part(part: Any) -> Any:
    if not isinstance(part, TextPart) or not part.is_markdown or "](" not in part.text:
        return part
    document = markdown_to_text(part.text)
    shown = with_targets(document)
    return part if shown is document else part.model_copy(update={"text": text_to_markdown(shown)})


def _with(value: Any) -> Any:
    if isinstance(value, tuple):
        before: tuple[Any, ...] = value
        items = [new for one in before for new in _several(one)]
        same = len(items) == len(before) and all(map(_is, items, before))
        return value if same else tuple(items)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    changes: dict[str, Any] = {}
    for one in fields(value):
        inner = getattr(value, one.name)
        if (new := _with(inner)) is not inner:
            changes[one.name] = new
    return replace(value, **changes) if changes else value


def _is(one: object, other: object) -> bool:
    return one is other


def _several(one: Any) -> Iterator[Any]:
    if isinstance(one, Link) and not _tells(one):
        yield from one.children
        yield from (Text(" ("), Link(one.url, (Text(one.url),)), Text(")"))
    else:
        yield _with(one)


def _tells(link: Link) -> bool:
    said = plain_inlines(link.children).strip()
    bare = link.url.removeprefix("mailto:")
    return said in (link.url, bare)
