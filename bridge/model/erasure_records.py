"""Erasures of messages and people, and legal holds that forbid them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bridge.model.refs import AccountId, ActorId, ChannelRef, MessageId, RoomId

ERASED = "[erased]"  # stands in the place of a text
ERASED_NAME = "Erased person"


@dataclass(frozen=True)
class Erasure:
    """What is to be erased: one message, everything of one person, or of one workspace.

    - `workspace`: platform and workspace, as keys begin: what was said in its channels, and what
      the bridge knows of them; its people are among `actors`. `rooms`: rooms of this one alone.
      `account`: the account that served it alone.
    - `actors`: all accounts of the person; empty for a message.
    - `by`, `reason`: who ordered it and why; they are recorded and contain nothing erased.
    - `copies`: whether the copies on the platforms are deleted, too.
    """

    id: str
    by: str
    reason: str
    message: MessageId | None = None
    actors: tuple[ActorId, ...] = ()
    copies: bool = False
    workspace: str = ""
    rooms: tuple[RoomId, ...] = ()
    account: AccountId | None = None


@dataclass(frozen=True)
class ErasureRecord:
    """An erasure that took effect at `at` (seconds since 1970).

    - `counts`: how many things of each kind were erased.
    - `cleaned`: whether files and free space were overwritten since.
    """

    id: str
    at: float
    by: str
    reason: str
    subject: str
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    cleaned: bool = False


@dataclass(frozen=True)
class Retention:
    """How long messages, their native payloads and files are kept, in seconds; None: for ever.

    - `messages`, `payloads`, `files`: by the key of a channel, or by the id of a room's
      Conversation.
    - `messages_else`, `payloads_else`, `files_else`: of all others.
    - `payloads_outside`: of live payloads of channels that are not among `channels`, the channels
      of rooms.
    """

    messages: Mapping[str, float | None] = field(default_factory=dict[str, float | None])
    payloads: Mapping[str, float | None] = field(default_factory=dict[str, float | None])
    files: Mapping[str, float | None] = field(default_factory=dict[str, float | None])
    messages_else: float | None = None
    payloads_else: float | None = None
    files_else: float | None = None
    payloads_outside: float | None = None
    channels: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Pruned:
    """What a step of the retention removed: messages, payloads, files; `last` is where the next
    step goes on, None at the end."""

    messages: int = 0
    payloads: int = 0
    files: int = 0
    last: int | None = None


@dataclass(frozen=True)
class LegalHold:
    """Messages that may not be erased or removed: of a room, a channel or a person, or all if none
    is named; from `since` to before `until` (seconds since 1970)."""

    name: str
    by: str
    reason: str
    at: float
    room: RoomId | None = None
    channel: ChannelRef | None = None
    actor: ActorId | None = None
    since: float | None = None
    until: float | None = None
