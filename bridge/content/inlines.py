"""Small questions about runs of inline nodes. Pure, and safe for nesting of any depth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from bridge.content.text import (
    Break,
    Broadcast,
    ChannelLink,
    Code,
    Emoji,
    Emphasis,
    GroupMention,
    Inline,
    Link,
    Mention,
    Spoiler,
    Strike,
    Strong,
    Text,
    Timestamp,
    Underline,
)

Style = Strong | Emphasis | Strike | Underline | Spoiler
STYLES: frozenset[type[Inline]] = frozenset((Strong, Emphasis, Strike, Underline, Spoiler))


def merge_texts(nodes: Iterable[Inline]) -> tuple[Inline, ...]:
    """Neighbouring texts become one; empty ones go."""
    merged: list[Inline] = []
    for is_text, group in groupby(nodes, lambda node: isinstance(node, Text)):
        if not is_text:
            merged.extend(group)
        elif value := "".join(node.value for node in group if isinstance(node, Text)):
            merged.append(Text(value))
    return tuple(merged)


def plain_inlines(nodes: Iterable[Inline]) -> str:
    """What a run of inlines says, without any formatting."""
    return "".join(_plain(node) for node in leaves(nodes))


def leaves(nodes: Iterable[Inline]) -> Iterator[Inline]:
    """The nodes that hold no other nodes, in order."""
    stack = [iter(nodes)]
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
        elif isinstance(node, Strong | Emphasis | Strike | Underline | Spoiler | Link):
            stack.append(iter(node.children))
        else:
            yield node


def _plain(node: Inline) -> str:
    match node:
        case Text(value) | Code(value):
            return value
        case Break():
            return "\n"
        case Mention(name=name) | GroupMention(name=name):
            return f"@{name}"
        case Broadcast(range=range_):
            return f"@{range_}"
        case ChannelLink(name=name):
            return f"#{name}"
        case Emoji(name, unicode):
            return unicode or f":{name}:"
        case Timestamp(unix, _, fallback):
            return fallback if fallback.strip() else str(unix)
        case _:
            return ""
