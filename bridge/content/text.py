"""The text tree: what formatted text says, whatever dialect it is written in. Pure values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bridge.model import ActorId

# --- inline ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Text:
    """Characters as they are; never markup, never a line break."""

    value: str


@dataclass(frozen=True, slots=True)
class Break:
    """A line break inside a paragraph."""


@dataclass(frozen=True, slots=True)
class Strong:
    children: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Emphasis:
    children: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Strike:
    children: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Underline:
    children: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Spoiler:
    children: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """Code in a line; nothing inside is markup."""

    value: str


@dataclass(frozen=True, slots=True)
class Link:
    """`url` is http, https or mailto; a bare URL has itself as its only child."""

    url: str
    children: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Mention:
    """A person; `name` without the @. Elsewhere it is readable text, never a ping by itself."""

    actor: ActorId
    name: str


@dataclass(frozen=True, slots=True)
class GroupMention:
    """A role or user group: `group` is its key, as made by `join_key`."""

    group: str
    name: str


@dataclass(frozen=True, slots=True)
class Broadcast:
    """Everybody in the channel (or everybody who is there now)."""

    range: Literal["everyone", "channel", "here"]


@dataclass(frozen=True, slots=True)
class ChannelLink:
    """A channel: `channel` is its ChannelRef's key; `name` without the #."""

    channel: str
    name: str


@dataclass(frozen=True, slots=True)
class Emoji:
    """`unicode` where there is one, else a custom emoji of the platform with its picture."""

    name: str
    unicode: str | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Timestamp:
    """A moment shown in the reader's own time zone; `style` is one of t T d D f F R."""

    unix: int
    style: str = "f"
    fallback: str = ""


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


@dataclass(frozen=True, slots=True)
class Paragraph:
    children: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """`level` 1 to 6."""

    level: int
    children: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Quote:
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """`value` has no line break at its end."""

    value: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class ListItem:
    """`checked` is None for an item without a box."""

    blocks: tuple[Block, ...]
    checked: bool | None = None


@dataclass(frozen=True, slots=True)
class List:
    """`start` is the first number of an ordered list, None for bullets."""

    items: tuple[ListItem, ...]
    start: int | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells; every row is as long as `header`."""

    header: tuple[tuple[Inline, ...], ...]
    rows: tuple[tuple[tuple[Inline, ...], ...], ...]
    align: tuple[Literal["left", "center", "right"] | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """A thematic break."""


Block = Paragraph | Heading | Quote | CodeBlock | List | Table | Rule
Document = tuple[Block, ...]
