"""The text tree: the content of formatted text, in whatever dialect it is written. Pure values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeVar, dataclass_transform

from bridge.model import ActorId

_Node = TypeVar("_Node")


@dataclass_transform(frozen_default=True)
def _node(kind: type[_Node]) -> type[_Node]:
    """A value that nobody changes: the type checker enforces that. A class that is frozen at run
    time takes twice as long to create, and a message has hundreds of nodes."""
    return dataclass(slots=True, unsafe_hash=True)(kind)


# --- inline ---------------------------------------------------------------------------------


@_node
class Text:
    """Literal characters: no markup and no line break."""

    value: str


@_node
class Break:
    """A line break inside a paragraph."""


BREAK = Break()


@_node
class Strong:
    """Bold text."""

    children: tuple[Inline, ...]


@_node
class Emphasis:
    """Italic text."""

    children: tuple[Inline, ...]


@_node
class Strike:
    """Struck-through text."""

    children: tuple[Inline, ...]


@_node
class Underline:
    """Underlined text."""

    children: tuple[Inline, ...]


@_node
class Spoiler:
    """Text that is hidden until a reader opens it."""

    children: tuple[Inline, ...]


@_node
class Code:
    """Code in a line; nothing inside is markup."""

    value: str


@_node
class Link:
    """A link: `url` is http, https or mailto; a bare URL has itself as its only child."""

    url: str
    children: tuple[Inline, ...]


@_node
class Mention:
    """A person; `name` is without the @. On other platforms it is readable text and never a ping by
    itself."""

    actor: ActorId
    name: str


@_node
class GroupMention:
    """A role or user group; `group` is its key, as made by `join_key`."""

    group: str
    name: str


@_node
class Broadcast:
    """Everybody in the channel, or everybody who is online in it."""

    range: Literal["everyone", "channel", "here"]


@_node
class ChannelLink:
    """A channel; `channel` is its ChannelRef's key, `name` is without the #."""

    channel: str
    name: str


@_node
class Emoji:
    """An emoji: its `unicode` characters, or a custom emoji of the platform with its picture."""

    name: str
    unicode: str | None = None
    url: str | None = None


@_node
class Timestamp:
    """A moment shown in the reader's own time zone; `style` is one of t T d D f F R."""

    unix: int
    style: str = "f"
    fallback: str = ""


# Real references at the destination: made from a Delivery's counterparts and never read from
# text, so that nobody can write one. Writers without support for them write the readable name.


@_node
class Ping(Mention):
    """A mention of a person at the destination: `actor` is their account there."""


@_node
class GroupPing(GroupMention):
    """A mention of a role or user group of the destination."""


@_node
class BroadcastPing(Broadcast):
    """A broadcast at the destination, if the channel's options allow it."""


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
    """A paragraph; a `subtle` one is small print."""

    children: tuple[Inline, ...]
    subtle: bool = False


@_node
class Heading:
    """A heading of `level` 1 to 6."""

    level: int
    children: tuple[Inline, ...]


@_node
class Quote:
    """A quote of blocks."""

    blocks: tuple[Block, ...]


@_node
class CodeBlock:
    """A block of code; `value` has no line break at its end."""

    value: str
    language: str = ""


@_node
class ListItem:
    """An item of a list; `checked` is None for an item without a box."""

    blocks: tuple[Block, ...]
    checked: bool | None = None


@_node
class List:
    """A list; `start` is the first number of an ordered list, None for bullets."""

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
