"""The state of a Slack workspace: apps, people, channels, messages, threads. Pure.

Times are whole microseconds (`at`); a message's `ts` is the same number in Slack's notation,
"1700000000.000100", and is the message's id inside its channel.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass, field
from typing import Any, Literal

from bridge.sandbox.files import StoredFile

Json = dict[str, Any]
ChannelKind = Literal["channel", "group", "im"]

_TS = re.compile(r"\d{1,12}(\.\d{1,6})?", re.ASCII)
STATUS_LIFE = 120.0  # seconds
_TICK = 100  # Slack's ts end in two zeros; messages within one tick count upwards


def ts_of(at: int) -> str:
    return f"{at // 1_000_000}.{at % 1_000_000:06d}"


def at_of(ts: str) -> int | None:
    """The microseconds of a ts such as "1700000000.000100" or "1700000000"; None for other text."""
    if not _TS.fullmatch(ts):
        return None
    seconds, _, fraction = ts.partition(".")
    return int(seconds) * 1_000_000 + int(fraction.ljust(6, "0"))


@dataclass(slots=True)
class App:
    """One installation of an app in one workspace."""

    id: str
    name: str
    team: str
    bot_id: str
    bot_user: str
    bot_token: str
    app_token: str
    signing_secret: str
    verification_token: str
    picture: str
    scopes: frozenset[str]
    events: frozenset[str]  # subscriptions: "message.channels", "app_mention" ...
    request_url: str | None = None  # None: Socket Mode
    active: bool = True
    listening: bool = False  # the app has connected once, by a socket or a request URL
    unfurl_domains: frozenset[str] = frozenset()
    commands: frozenset[str] = frozenset()  # apps receive their text with escaped mentions
    updated: int = 0


@dataclass(slots=True)
class Person:
    """A member of a workspace: a human, or the bot user of an app."""

    id: str
    handle: str
    name: str
    picture: str
    email: str | None = None
    app: App | None = None
    updated: int = 0
    guest: bool = False


@dataclass(slots=True)
class Reaction:
    name: str
    users: list[str] = field(default_factory=list)


@dataclass(slots=True)
class File:
    """An uploaded file of a person or an app; `stored` are its bytes once they have arrived.

    `shares`: channel -> the ts of the messages that show it.
    """

    id: str
    team: str
    name: str
    title: str
    user: str
    created: int
    size: int
    address: str  # the URL of its bytes, without the last segment
    permalink: str
    app: App | None = None
    mimetype: str = ""
    alt: str = ""
    stored: StoredFile | None = None
    dimensions: tuple[int, int] | None = None
    completed: bool = False  # the second step of the upload is done
    public: bool = False
    spoken_ms: int | None = None  # the duration of an audio clip
    deleted: bool = False  # deleted: messages show a tombstone in its place
    shares: dict[str, list[str]] = field(default_factory=dict[str, list[str]])


@dataclass(slots=True)
class LiveText:
    """The text streamed into a message so far; `tasks` by their ids."""

    begun: float
    state: Literal["in_progress", "completed", "errored", "stopped"] = "in_progress"
    text: str = ""
    plan: str = ""
    tasks: dict[str, Json] = field(default_factory=dict[str, Json])
    blocks: list[Any] = field(default_factory=list[Any])


@dataclass(slots=True)
class Draft:
    """A message before it is posted; the channel assigns its time.

    Its author is a person, or an app (`app` set, `user` its bot user). `username` and `icons` are
    set when an app posts under another name or picture. `facts` are further members of the subtype.
    """

    user: str
    text: str
    app: App | None = None
    username: str | None = None
    icons: Json | None = None
    blocks: list[Any] | None = None
    attachments: list[Any] | None = None
    metadata: Json | None = None
    parent: int | None = None  # for a reply, the time of its thread's first message
    broadcast: bool = False
    subtype: str | None = None
    client_msg_id: str | None = None
    files: list[File] | None = None
    facts: Json | None = None


@dataclass(slots=True, kw_only=True)
class Message(Draft):
    """A message in a channel."""

    at: int
    edited_at: int | None = None
    edited_by: str | None = None
    audience: str | None = None  # the only person who sees it
    removed: bool = False  # a deleted parent, kept as a tombstone above its replies
    locked: bool = False  # a parent whose thread is locked
    replies: list[int] = field(default_factory=list[int])
    repliers: dict[str, int] = field(default_factory=dict[str, int])  # author -> replies
    reactions: dict[str, Reaction] = field(default_factory=dict[str, Reaction])
    pinned_by: str | None = None
    pinned_at: int = 0
    live: LiveText | None = None  # for a streamed message

    @property
    def ts(self) -> str:
        return ts_of(self.at)

    @property
    def thread(self) -> int | None:
        """The thread of the message, as its parent or as a reply."""
        return self.parent if self.parent is not None else (self.at if self.replies else None)


@dataclass(frozen=True)
class Status:
    """The status of a thread while an app works on an answer, with a name and a picture."""

    text: str
    since: float
    identity: Json


@dataclass(slots=True)
class Channel:
    """A channel, private channel (group) or direct message, with all its messages."""

    id: str
    name: str
    kind: ChannelKind
    team: str
    creator: str
    created: int
    general: bool = False
    archived: bool = False
    connected: bool = False  # with another organisation (Slack Connect)
    topic: str = ""
    purpose: str = ""
    members: dict[str, None] = field(default_factory=dict[str, None])
    messages: dict[int, Message] = field(default_factory=dict[int, Message])
    timeline: list[int] = field(default_factory=list[int])  # shown outside of threads
    whispers: dict[int, Message] = field(default_factory=dict[int, Message])
    last_at: int = 0
    statuses: dict[int, Status] = field(default_factory=dict[int, "Status"])

    def status(self, thread: str, now: float) -> str:
        """The status of a thread; it expires after two minutes."""
        status = self.statuses.get(at_of(thread) or 0)
        return status.text if status and now - status.since < STATUS_LIFE else ""

    def next_at(self, now: float) -> int:
        """A time that no message of this channel has: now, or one tick after the last one."""
        at = int(now * 1_000_000) // _TICK * _TICK
        self.last_at = max(at, self.last_at + _TICK)
        return self.last_at

    def find(self, ts: str) -> Message | None:
        at = at_of(ts)
        return None if at is None else self.messages.get(at)

    def add(self, message: Message) -> None:
        """Add a message; a reply is also added to its parent."""
        self.messages[message.at] = message
        if message.parent is None or message.broadcast:
            insort(self.timeline, message.at)
        if message.parent is not None:
            parent = self.messages[message.parent]
            parent.replies.append(message.at)
            author = _author(message)
            parent.repliers[author] = parent.repliers.get(author, 0) + 1

    def remove(self, message: Message) -> None:
        """Remove a message; a parent with replies stays as a tombstone (Slack, docs)."""
        if message.replies:
            message.removed = True
            return
        del self.messages[message.at]
        _drop(self.timeline, message.at)
        if message.parent is not None:
            self._leave_thread(message, self.messages[message.parent])

    def between(self, oldest: int, latest: int | None, *, inclusive: bool) -> tuple[int, int]:
        """The half-open index range of the timeline between two times."""
        low, high = (bisect_left, bisect_right) if inclusive else (bisect_right, bisect_left)
        end = len(self.timeline) if latest is None else high(self.timeline, latest)
        return low(self.timeline, oldest), end

    def _leave_thread(self, reply: Message, parent: Message) -> None:
        _drop(parent.replies, reply.at)
        author = _author(reply)
        parent.repliers[author] -= 1
        if not parent.repliers[author]:
            del parent.repliers[author]
        if parent.removed and not parent.replies:
            self.remove(parent)


@dataclass(slots=True)
class Workspace:
    """One Slack team."""

    id: str
    name: str
    domain: str
    apps: list[App] = field(default_factory=list[App])
    people: dict[str, Person] = field(default_factory=dict[str, Person])
    channels: dict[str, Channel] = field(default_factory=dict[str, Channel])
    by_name: dict[str, Channel] = field(default_factory=dict[str, Channel])
    files: dict[str, File] = field(default_factory=dict[str, File])
    groups: dict[str, tuple[str, list[str]]] = field(
        default_factory=dict[str, tuple[str, list[str]]]
    )
    """User groups by their id: the handle, and the members."""

    def add_channel(self, channel: Channel) -> Channel:
        self.channels[channel.id] = channel
        if channel.kind != "im":
            self.by_name[channel.name] = channel
        return channel

    def direct(self, first: str, other: str, now: float) -> Channel:
        """The direct messages between two people, opened if they do not exist."""
        name = "-".join(sorted((first, other)))
        channel = self.channels.get(im_id := f"D{abs(_stable_hash(name)):09d}")
        members = dict.fromkeys((first, other))
        return channel or self.add_channel(
            Channel(im_id, name, "im", self.id, first, int(now), members=members)
        )


class Slack:
    """All state: the workspaces, and the owners of the tokens."""

    def __init__(self, workspaces: list[Workspace]) -> None:
        self.workspaces: dict[str, Workspace] = {}
        self.apps: dict[str, App] = {}
        self.bot_tokens: dict[str, App] = {}
        self.app_tokens: dict[str, App] = {}
        self.bots: dict[str, App] = {}
        for workspace in workspaces:
            self.add(workspace)

    def add(self, workspace: Workspace) -> None:
        self.workspaces[workspace.id] = workspace
        for app in workspace.apps:
            self.apps[app.id] = self.bots[app.bot_id] = app
            self.bot_tokens[app.bot_token] = self.app_tokens[app.app_token] = app


def _author(message: Message) -> str:
    return message.app.bot_id if message.app and message.username else message.user


def _drop(ordered: list[int], at: int) -> None:
    index = bisect_left(ordered, at)
    if index < len(ordered) and ordered[index] == at:
        del ordered[index]


def _stable_hash(text: str) -> int:
    number = 0
    for character in text:
        number = (number * 31 + ord(character)) % 1_000_000_007
    return number
