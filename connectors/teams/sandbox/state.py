"""The local tenant: people, bots, teams, channels, chats and their messages. Pure: no clock."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from bridge.sandbox.files import StoredFile

Json: TypeAlias = dict[str, Any]
Kind: TypeAlias = Literal["channel", "groupChat", "personal"]

THREAD_MARK = ";messageid="


@dataclass(frozen=True)
class Person:
    """A person of the tenant: bots see `id` (29:...); `aad_id` is the directory's id."""

    id: str
    aad_id: str
    name: str
    email: str
    guest: bool = False


@dataclass
class Bot:
    """A registered bot; `key` is its short name in this sandbox."""

    key: str
    app_id: str
    password: str
    name: str
    hears_all: bool  # resource-specific consent: ChannelMessage.Read.Group, ChatMessage.Read.Chat
    auth: bool = True  # off: no tokens in either direction, as a program without APP_ID expects
    endpoint: str | None = None

    @property
    def id(self) -> str:
        return f"28:{self.app_id}"


@dataclass
class Team:
    """A team: its id is the id of its General channel."""

    id: str
    name: str
    aad_group_id: str
    people: list[Person]
    apps: set[str] = field(default_factory=lambda: set[str]())  # app ids of the bots in it
    channels: list[Conversation] = field(default_factory=lambda: list[Conversation]())


@dataclass
class SharedFile:
    """A file in Teams: a picture in a message, or a document in a drive.

    `id` is a picture id (`0-...`) or a drive id (an upper-case GUID). `stored` is None until the
    upload is complete.
    """

    id: str
    name: str
    content_type: str
    conversation: Conversation
    stored: StoredFile | None = None
    alt: str = ""
    dimensions: tuple[int, int] | None = None

    @property
    def is_picture(self) -> bool:
        return self.id.startswith("0-")

    @property
    def file_type(self) -> str:
        """The extension of its name, in lower case."""
        return self.name.rpartition(".")[2].lower() if "." in self.name else ""


@dataclass
class Message:
    """A message of a person or a bot; `sent` is the JSON that a bot sent, empty for people.

    `text` is the text as a person typed it or a bot sent it. `views` are cards that one person sees
    instead of an attachment, because an app answered their press with it; keys: person id,
    attachment index.
    """

    id: str
    conversation: Conversation
    author: Person | Bot
    root: str | None  # the first message of its reply chain; None for that message
    text: str
    text_format: str = "plain"
    sent: bytes = b""
    edited: bool = False
    reactions: dict[str, list[Person | Bot]] = field(
        default_factory=lambda: dict[str, list[Person | Bot]]()
    )
    deleted: bool = False
    pinned: bool = False
    files: list[SharedFile] = field(default_factory=lambda: list[SharedFile]())
    views: dict[tuple[str, int], Json] = field(
        default_factory=lambda: dict[tuple[str, int], Json]()
    )


@dataclass
class Conversation:
    """A channel, a group chat or the chat of one person with one bot."""

    id: str
    kind: Kind
    name: str
    team: Team | None = None
    membership: Literal["standard", "private", "shared"] = "standard"
    members: list[Person] = field(default_factory=lambda: list[Person]())
    apps: set[str] = field(default_factory=lambda: set[str]())  # of a chat; a team has its own
    blocked: set[str] = field(default_factory=lambda: set[str]())  # bots that may not write
    messages: list[Message] = field(default_factory=lambda: list[Message]())

    @property
    def people(self) -> list[Person]:
        return self.team.people if self.team else self.members

    @property
    def installed(self) -> set[str]:
        return self.team.apps if self.team else self.apps

    def visible(self) -> list[Message]:
        return [message for message in self.messages if not message.deleted]


class Tenant:
    """All data of a local Teams; every lookup is by key."""

    def __init__(self, tenant_id: str, name: str) -> None:
        self.id = tenant_id
        self.name = name
        self.people: dict[str, Person] = {}
        self.bots: dict[str, Bot] = {}
        self.teams: dict[str, Team] = {}
        self.conversations: dict[str, Conversation] = {}
        self.personal: dict[tuple[str, str], Conversation] = {}  # (app id, person id)
        self.bots_react = True  # off: the service as it was before 2026
        self._messages: dict[str, Message] = {}
        self._last_id = 0

    def add_team(self, team: Team, *channels: Conversation) -> None:
        self.teams[team.id] = team
        for channel in channels:
            channel.team = team
            team.channels.append(channel)
            self.conversations[channel.id] = channel

    def add_chat(self, chat: Conversation) -> None:
        self.conversations[chat.id] = chat
        if chat.kind == "personal":
            for app_id in chat.apps:
                self.personal[app_id, chat.members[0].id] = chat

    def bot(self, key_or_app_id: str) -> Bot | None:
        """Return a bot by its app id or its short name."""
        bot = self.bots.get(key_or_app_id)
        return bot or next((b for b in self.bots.values() if b.key == key_or_app_id), None)

    def message(self, conversation: Conversation, message_id: str) -> Message | None:
        """Return a message of this conversation that is not deleted."""
        message = self._messages.get(message_id)
        if message is None or message.deleted or message.conversation is not conversation:
            return None
        return message

    def next_id(self, now: float) -> str:
        """Return a unique message id: milliseconds since 1970."""
        self._last_id = max(self._last_id + 1, int(now * 1000))
        return str(self._last_id)

    def add_message(self, message: Message) -> Message:
        message.conversation.messages.append(message)
        self._messages[message.id] = message
        return message


def split_thread(conversation_id: str) -> tuple[str, str | None]:
    """`19:...@thread.tacv2;messageid=17` -> the channel's id, `17`; other ids -> id, None."""
    bare, _, root = conversation_id.partition(THREAD_MARK)
    return bare, root or None


def rfc3339(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"
