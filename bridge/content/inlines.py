"""Small questions about runs of inline nodes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bridge.content.text import (
    Break,
    Broadcast,
    ChannelLink,
    Code,
    Emoji,
    GroupMention,
    Inline,
    Mention,
    Text,
    Timestamp,
)


def merge_texts(nodes: Iterable[Inline]) -> tuple[Inline, ...]:
    """Neighbouring texts become one; empty ones go."""
    merged: list[Inline] = []
    for node in nodes:
        if isinstance(node, Text):
            if not node.value:
                continue
            if merged and isinstance(last := merged[-1], Text):
                merged[-1] = Text(last.value + node.value)
                continue
        merged.append(node)
    return tuple(merged)


def plain_inlines(nodes: Sequence[Inline]) -> str:
    """What a run of inlines says, without any formatting."""
    return "".join(_plain(node) for node in nodes)


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
            return fallback or str(unix)
        case _:
            return plain_inlines(node.children)
