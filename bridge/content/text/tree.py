"""The text tree: what formatted text says, whatever dialect it is written in. Pure values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeVar, dataclass_transform

from bridge.model import ActorId

_Node = TypeVar("_Node")


@dataclass_transform(frozen_default=True)
def _node(kind: type[_Node]) -> type[_Node]:
    """A value that nobody changes: the type checker sees to that, because a class that is frozen
    at run time takes twice as long to make, and a message is hundreds of nodes."""
    return dataclass(slots=True, unsafe_hash=True)(kind)


# --- inline ---------------------------------------------------------------------------------


@_node
class Text:
    """Characters as they are; never markup, never a line break."""

    value: str


@_node
class Break:
    """A line break inside a paragraph."""


BREAK = Break()


@_node
class Strong:
    children: tuple[Inline, ...]


@_node
class Emphasis:
    children: tuple[Inline, ...]


@_node
class Strike:
    children: tuple[Inline, ...]


@_node
class Underline:
    children: tuple[Inline, ...]


@_node
class Spoiler:
    children: tuple[Inline, ...]


@_node
class Code:
    """Code in a line; nothing inside is markup."""

    value: str


@_node
class Link:
    """`url` is http, https or mailto; a bare URL has itself as its only child."""

    url: str
    children: tuple[Inline, ...]


@_node
class Mention:
    """A person; `name` without the @. Elsewhere it is readable text, never a ping by itself."""

    actor: ActorId
    name: str


@_node
class GroupMention:
    """A role or user group: `group` is its key, as made by `join_key`."""

    group: str
    name: str


@_node
class Broadcast:
    """Everybody in the channel (or everybody who is there now)."""

    range: Literal["everyone", "channel", "here"]


@_node
class ChannelLink:
    """A channel: `channel` is its ChannelRef's key; `name` without the #."""

    channel: str
    name: str


@_node
class Emoji:
    """`unicode` where there is one, else a custom emoji of the platform with its picture."""

    name: str
    unicode: str | None = None
    url: str | None = None


@_node
class Timestamp:
    """A moment shown in the reader's own time zone; `style` is one of t T d D f F R."""

    unix: int
    style: str = "f"
    fallback: str = ""


# What is meant for real at the destination: made from a Delivery's counterparts and never read from
# text, so nobody can write one. Writers that know nothing of them write the readable name.


@_node
class Ping(Mention):
    """A mention of somebody there: `actor` is their account at the destination."""


@_node
class GroupPing(GroupMention):
    """A mention of a role or user group of the destination."""


@_node
class BroadcastPing(Broadcast):
    """Everybody there, where the channel's options allow it."""


@_node
class ChannelThere(ChannelLink):
    """A channel of the destination's workspace."""


Inline = (
    Text
    | Break
    | Strong
    | Emphasis
    | Strike
    | Underline
    | Spoiler
    | Code
    | Link
    | Mention
    | GroupMention
    | Broadcast
    | ChannelLink
    | Emoji
    | Timestamp
)

# --- blocks ---------------------------------------------------------------------------------


@_node
class Paragraph:
    """`subtle` ones are small print."""

    children: tuple[Inline, ...]
    subtle: bool = False


@_node
class Heading:
    """`level` 1 to 6."""

    level: int
    children: tuple[Inline, ...]


@_node
class Quote:
    blocks: tuple[Block, ...]


@_node
class CodeBlock:
    """`value` has no line break at its end."""

    value: str
    language: str = ""


@_node
class ListItem:
    """`checked` is None for an item without a box."""

    blocks: tuple[Block, ...]
    checked: bool | None = None


@_node
class List:
    """`start` is the first number of an ordered list, None for bullets."""

    items: tuple[ListItem, ...]
    start: int | None = None


@_node
class Table:
    """Rows of cells; every row is as long as `header`."""

    header: tuple[tuple[Inline, ...], ...]
    rows: tuple[tuple[tuple[Inline, ...], ...], ...]
    align: tuple[Literal["left", "center", "right"] | None, ...] = ()


@_node
class Rule:
    """A thematic break."""


Block = Paragraph | Heading | Quote | CodeBlock | List | Table | Rule
Document = tuple[Block, ...]
