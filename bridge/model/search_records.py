"""A search over the archive, and what it found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from bridge.model.archive_records import StoredMessage
from bridge.model.refs import ActorId, MessageId

ContentKind = Literal["image", "video", "audio", "file", "link", "card", "code"]
MessageTrait = Literal["edited", "deleted", "reply", "bot", "whisper"]


@dataclass(frozen=True)
class Words:
    """Words that follow one another in the text; `prefix`: the last one may go on."""

    text: str
    prefix: bool = False
    excluded: bool = False


@dataclass(frozen=True)
class Condition:
    """What one of these values must hold for: an author, a conversation, a kind of content, a
    trait, or the root of a thread. Without values it holds for no message."""

    kind: Literal["author", "conversation", "has", "is", "thread"]
    values: tuple[str, ...]
    excluded: bool = False


@dataclass(frozen=True)
class Search:
    """A search whose names are resolved. All words and conditions must hold.

    - `since`, `until`: seconds since 1970, from and before.
    - `conversations`: only messages of these; None for all.
    - `readers`: whispers to one of these are found, too.
    - `deleted`: deleted messages are found, too.
    """

    words: tuple[Words, ...] = ()
    conditions: tuple[Condition, ...] = ()
    since: float | None = None
    until: float | None = None
    conversations: tuple[UUID, ...] | None = None
    readers: tuple[ActorId, ...] = ()
    deleted: bool = False


@dataclass(frozen=True)
class FoundMessage:
    """A message that a search found; `moment` is its place in the order of all messages."""

    moment: int
    stored: StoredMessage
    reply_to: MessageId | None
    conversations: tuple[UUID, ...]


@dataclass(frozen=True)
class Surroundings:
    """The messages before and behind a found one in its conversation, oldest first."""

    before: tuple[FoundMessage, ...] = ()
    behind: tuple[FoundMessage, ...] = ()


@dataclass(frozen=True)
class SearchPage:
    """Found messages, newest first; `more` is the `before` of the next page, None at the end."""

    found: tuple[FoundMessage, ...]
    more: int | None
