"""Texts and cards whose links show their addresses. Pure.

A model may write what somebody else injected: a link with a harmless label can send text of the
room to a stranger when somebody clicks it. So people see the whole address. A person may write a
label that looks like one address over a link to another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar
from urllib.parse import urlsplit

from bridge.content.markdown import markdown_to_text, text_to_markdown
from bridge.content.text.inlines import plain_inlines
from bridge.content.text.tree import Inline, Link, Text
from bridge.uacs import Message, TextPart

T = TypeVar("T")
_LIKE_AN_ADDRESS = re.compile(r"https?://|www\.", re.IGNORECASE)
_POSSIBLE_ADDRESS = re.compile(r"\[[^\]]*(?:://|www\.)", re.IGNORECASE)


def with_visible_targets(value: T, *, always: bool = True) -> T:
    """Returns a text or a card in which each link is followed by its address, unless that is its
    label.

    Args:
        value: A document or a card.
        always: False to change only links whose label is another address.

    Returns:
        The new value; the same object if nothing changes.
    """
    return _LinkRewriter(always).value(value)


def message_with_visible_targets(message: Message, *, always: bool = True) -> Message:
    """Returns the message with `with_visible_targets` applied to its texts."""
    parts = [_part(part, always) for part in message.content]
    same = all(after is before for after, before in zip(parts, message.content, strict=True))
    return message if same else message.model_copy(update={"content": tuple(parts)})


def is_misleading(label: Iterable[Inline], url: str) -> bool:
    """Whether the label looks like the address of another host than the URL has."""
    label_text = plain_inlines(tuple(label)).strip()
    if not _LIKE_AN_ADDRESS.match(label_text):
        return False
    address = label_text if "://" in label_text else f"https://{label_text}"
    return _host(address) != _host(url)


def _host(url: str) -> str | None:
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return None


def _part(part: Any, always: bool) -> Any:
    if not isinstance(part, TextPart) or not part.is_markdown or "](" not in part.text:
        return part
    if not always and not _POSSIBLE_ADDRESS.search(part.text):
        return part
    document = markdown_to_text(part.text)
    with_addresses = with_visible_targets(document, always=always)
    return (
        part
        if with_addresses is document
        else part.model_copy(update={"text": text_to_markdown(with_addresses)})
    )


class _LinkRewriter:
    def __init__(self, always: bool) -> None:
        self._always = always

    def value(self, value: Any) -> Any:
        if isinstance(value, tuple):
            before: tuple[Any, ...] = value
            items = [new for item in before for new in self._items(item)]
            same = len(items) == len(before) and all(map(_is, items, before))
            return value if same else tuple(items)
        if not is_dataclass(value) or isinstance(value, type):
            return value
        changes: dict[str, Any] = {}
        for field in fields(value):
            inner = getattr(value, field.name)
            if (new := self.value(inner)) is not inner:
                changes[field.name] = new
        return replace(value, **changes) if changes else value

    def _items(self, item: Any) -> Iterator[Any]:
        if isinstance(item, Link) and self._hides(item):
            yield from item.children
            yield from (Text(" ("), Link(item.url, (Text(item.url),)), Text(")"))
        else:
            yield self.value(item)

    def _hides(self, link: Link) -> bool:
        if not self._always:
            return is_misleading(link.children, link.url)
        label_text = plain_inlines(link.children).strip()
        return label_text not in (link.url, link.url.removeprefix("mailto:"))


def _is(left: object, right: object) -> bool:
    return left is right
