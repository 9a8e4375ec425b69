"""What a reader sees of a text tree: its letters and digits in their order, and where it leads."""

from __future__ import annotations

from typing import Any

from bridge.content.text.tree import (
    Broadcast,
    ChannelLink,
    Code,
    CodeBlock,
    Document,
    GroupMention,
    Link,
    List,
    Mention,
    Table,
    Text,
)


def letters(document: Document) -> str:
    """Signs and spaces left out."""
    return "".join(filter(str.isalnum, "".join(_texts(document))))


def addresses(document: Document) -> set[str]:
    """Everybody who is mentioned, and every address that is linked."""
    targets: set[str] = set()
    for node in _nodes(document):
        match node:
            case Link(url=url):
                targets.add(url)
            case Mention(actor=actor):
                targets.add(actor)
            case GroupMention(group=group):
                targets.add(group)
            case Broadcast(range=range_):
                targets.add(range_)
            case ChannelLink(channel=channel):
                targets.add(channel)
            case _:
                pass
    return targets


def _texts(value: Any) -> list[str]:
    return [text for node in _nodes(value) if (text := _own_text(node))]


def _own_text(node: Any) -> str:
    match node:
        case Text(value=value) | Code(value=value) | CodeBlock(value=value):
            return value
        case Mention(name=name) | GroupMention(name=name) | ChannelLink(name=name):
            return name
        case _:
            return ""


def _nodes(value: Any) -> list[Any]:
    if isinstance(value, tuple):
        return [node for item in value for node in _nodes(item)]
    if isinstance(value, Table):
        return _nodes((value.header, value.rows))
    if isinstance(value, List):
        return _nodes(value.items)
    inner = [getattr(value, name, ()) for name in ("children", "blocks")]
    return [value, *_nodes(tuple(inner))]
