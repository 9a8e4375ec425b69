"""What every platform must fill, and one small Protocol for each further ability."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from pydantic import BaseModel, JsonValue
from starlette.routing import BaseRoute

from bridge.content.cards.rendering import public_url as open_url
from bridge.content.cards.tree import Asset
from bridge.errors import ConfigError
from bridge.model import (
    AccountId,
    ActorId,
    Byline,
    Call,
    Capabilities,
    ChannelRef,
    Delivery,
    Encoded,
    Event,
    Person,
    Raw,
    Receipt,
)
from bridge.model.turns import PlanStep
from bridge.ports.blobs import Blobs
from bridge.ports.cards import NO_CARDS, Cards
from bridge.ports.clock import Clock
from bridge.ports.codec import Codec
from bridge.ports.fetch import Bearer, Fetcher
from bridge.ports.findings import Finding as Finding
from bridge.ports.tokens import TokenSource
from bridge.uacs import Message


class Inbox(Protocol):
    """The connector's way in. When `accept` returns, the payload is on disk: acknowledge then.

    If it raises, do not acknowledge: the platform will send again.
    """

    async def accept(self, raw: Raw) -> bool:
        """Keep a payload. False: the same delivery was kept before; acknowledge it all the same."""
        ...

    def session_began(self, account: AccountId, channel: ChannelRef | None = None) -> None:
        """Events may have been missed before now: the router catches up on all channels, or on
        this one alone."""
        ...

    async def shown(self, channel: ChannelRef, native_id: str) -> Message | None:
        """The canonical message that this native one shows, as it stands now: what a press is
        answered from at once (its form, a question to confirm). None: it is not known."""
        ...


class Shelf(Protocol):
    """Small durable values that a connector keeps for itself: webhooks, references."""

    async def get(self, key: str) -> str | None: ...

    async def put(self, key: str, value: str, *, sealed: bool = False) -> None:
        """`sealed` values are encrypted at rest."""
        ...

    async def remove(self, key: str) -> None: ...


class Connector(Protocol):
    """One account on one platform."""

    account: AccountId
    capabilities: Capabilities

    async def run(self, inbox: Inbox) -> None:
        """Connect and receive until cancelled; reconnects by itself, and leaves nothing running.

        Raises AuthFailed when the credentials are refused: only a person can mend that.
        """
        ...

    def decode(self, raw: Raw) -> Sequence[Event]:
        """What the payload says. Pure. Raises UndecodableEvent, nothing else."""
        ...

    def encode(self, delivery: Delivery) -> Encoded:
        """The native calls that make the operation true. Pure and stable.

        Calls for slots that `delivery.copies` already holds are edits where the operation is an
        edit, and are absent where it is a post: a broken post goes on where it stopped.
        """
        ...

    async def send(self, call: Call) -> Receipt:
        """Make one call. Raises PlatformError: RateLimited, Unavailable, Unsettled or Refused."""
        ...

    async def close(self) -> None:
        """Give connections back; after it nothing of this connector runs."""
        ...


@runtime_checkable
class ServesHttp(Protocol):
    """The platform calls us: routes for the bridge's own web server, below `/<account>/`."""

    def routes(self, inbox: Inbox) -> Sequence[BaseRoute]: ...


@runtime_checkable
class KnowsDirect(Protocol):
    """Some of its channels are between one person and our bot alone."""

    def is_direct(self, channel: ChannelRef) -> bool:
        """Pure."""
        ...


@runtime_checkable
class FindsSent(Protocol):
    """Whether an unsettled post arrived can be read back."""

    async def find_sent(
        self, call: Call, after: str | None, *, since: float | None = None, changed: bool = False
    ) -> Receipt | None:
        """The copy that this post made, looked for among our own posts newer than `after` (the
        native id of the lane's last settled post; None: those since then, in seconds since 1970,
        or of the last hour). None: it is not there. Raises NoHistory where nothing can be read
        back: the post is unproved then.

        `changed`: it may have been sent with other words than the call has now. Only platforms
        that know posts by their words need it.
        """
        ...


@runtime_checkable
class SaysInWords(Protocol):
    """A message that the platform refuses in its form (`FormRefused`) can be said in words."""

    def in_words(self, call: Call) -> Call | None:
        """The same call, in the same slot, with nothing but what it says and its files. None: it
        is words already. Pure."""
        ...


@runtime_checkable
class TakesReactions(Protocol):
    """Our bot can react to messages."""

    def takes_reaction(self, emoji: str) -> bool:
        """Whether the platform has this one (Unicode, or `:name:` of a custom one), as far as can
        be known without asking. Pure."""
        ...


@runtime_checkable
class ShowsTyping(Protocol):
    """It can be shown that somebody is writing."""

    def typing_call(self, channel: ChannelRef) -> Call | None:
        """What shows it for some seconds; None where this channel cannot. Pure."""
        ...


@runtime_checkable
class ShowsWork(Protocol):
    """It can be shown in a thread that somebody works on an answer there, with words for it."""

    def working_call(
        self, account: AccountId, channel: ChannelRef, thread: str, byline: Byline, words: str
    ) -> Call | None:
        """What shows it until the answer comes, at most some minutes; no words: not any more.
        None where this channel cannot. Pure."""
        ...


@runtime_checkable
class Streams(Protocol):
    """A message can be shown while it is written in a way of the platform's own, with a beginning
    and an end. Which streams are open is remembered from `send`, not beyond a restart: there an
    edit of one that was left open must end it all the same."""

    append_pace: float
    """Seconds between two steps of a stream."""

    shows_steps: bool
    """Steps of work have a place of their own (`Delivery.steps`): the text names no tools."""

    def opening(self, delivery: Delivery, call: Call) -> Call | None:
        """The post of a growing message as the beginning of a stream, in the same slot. None: it
        is posted as any other, because of its place, its content or the limits of the moment."""
        ...

    def growing(
        self, delivery: Delivery, call: Call, steps: Sequence[PlanStep]
    ) -> Sequence[Call] | None:
        """The calls by which the open stream that this edit would change shows what is new; none
        where nothing is yet. `steps` are the agent's plan. A stream near its end of life is ended
        by them. None: no stream is open there."""
        ...

    def ending(self, delivery: Delivery, call: Call) -> Sequence[Call]:
        """The calls that end the open stream which this edit changes, and leave the message as the
        edit would. Empty: no stream is open there."""
        ...

    def unstreamed(self, delivery: Delivery, call: Call) -> Call | None:
        """The ordinary post in place of an opening that was refused; None: it is no opening."""
        ...


@runtime_checkable
class LeavesFilesOut(Protocol):
    """A message whose files the platform does not take can be said with their names instead."""

    def without_files(self, call: Call) -> Call | None:
        """The same call, in the same slot, without files. None: it has none. Pure."""
        ...


@dataclass(frozen=True)
class FileAddress:
    """Where the bytes of a file are now, and the token that its host may see."""

    url: str
    bearer: Bearer | None = None


@runtime_checkable
class OwnsFiles(Protocol):
    """Files that people post here need a token, or have addresses that expire: they are fetched
    when their message is admitted."""

    async def file_address(self, asset: Asset, raw: Raw) -> FileAddress | None:
        """None for what is none of this platform's: an open address that everybody may go on
        using. `raw` is what the message came in, with its credentials where they are still kept:
        an address that opens the file for whoever has it is one. Raises PlatformError."""
        ...


@runtime_checkable
class KnowsPeople(Protocol):
    """Names and pictures of people can be looked up."""

    async def person(self, actor: ActorId) -> Person | None:
        """None when the platform does not know them."""
        ...


@runtime_checkable
class KnowsChannelNames(Protocol):
    """The name of a channel can be looked up, also of one that is in no room."""

    async def channel_name(self, channel: ChannelRef) -> str | None:
        """Without the #; None when the platform does not tell it. Raises PlatformError."""
        ...


@runtime_checkable
class KnowsGroups(Protocol):
    """Whether somebody is a guest, and in which groups they are, can be looked up."""

    async def groups_of(self, actor: ActorId, wanted: Sequence[str]) -> frozenset[str]:
        """`guest:PLATFORM:WORKSPACE`, and `group:PLATFORM:WORKSPACE:ID` for each user group or
        role; `wanted` are the globs that somebody asks about: nothing else need be looked up.

        Raises PlatformError where the platform does not tell: then nobody knows."""
        ...


@runtime_checkable
class KnowsOwnName(Protocol):
    """What people of the platform see our bot called is known."""

    @property
    def own_name(self) -> str:
        """Empty until the platform has told it. No network."""
        ...


@runtime_checkable
class LinksMessages(Protocol):
    """Messages have addresses, which people paste. No network."""

    link_marks: tuple[str, ...]
    """Words of which each such address holds one: `chat.example/archives/`."""

    def message_at(self, url: str) -> tuple[ChannelRef, str] | None:
        """Where the address leads: a channel of ours, or a thread in one, and the message's native
        id. None: it is none of this account's."""
        ...

    def address_of(self, channel: ChannelRef, copy: Receipt) -> str:
        """The address of a message that stands there; empty when nobody knows it."""
        ...


@runtime_checkable
class OpensDirect(Protocol):
    """Our bot can write to a person alone."""

    async def direct_channel(self, actor: ActorId) -> ChannelRef:
        """Where it does, opened if they never wrote to one another. Raises PlatformError, which
        says what to do where the bot may not."""
        ...


@runtime_checkable
class KnowsEmails(Protocol):
    """People's e-mail addresses can be asked for, where the installation may know them."""

    async def email(self, actor: ActorId) -> str | None:
        """An address that the workspace vouches for; None where it may not be known. Raises
        PlatformError."""
        ...


@dataclass(frozen=True)
class ChannelInfo:
    """A channel that the account can see; `ours` says that it may read and write there; `group` is
    the name of what the platform shows it under (a category, a team)."""

    ref: ChannelRef
    name: str
    ours: bool = True
    kind: str = "channel"
    workspace_name: str = ""
    group: str = ""


@runtime_checkable
class KnowsChannels(Protocol):
    """Channels can be listed, so that the configuration may name them."""

    async def channels(self) -> Sequence[ChannelInfo]: ...


@runtime_checkable
class TakesChannelIds(Protocol):
    """The list of channels may be incomplete: an id is taken at its word."""

    def channel_with_id(self, channel: str, workspace: str | None) -> ChannelRef | None:
        """The channel, if the text is an id of this platform; no network."""
        ...


@runtime_checkable
class KnowsOutsiders(Protocol):
    """Whether others than those of the workspace read a channel can be asked."""

    async def outsiders(self, channel: ChannelRef) -> Sequence[str]:
        """Who they are, in words for people ("2 guests"); empty where the platform tells of none.
        Raises PlatformError."""
        ...


Use = Literal["groups", "emails"]


@runtime_checkable
class ChecksItself(Protocol):
    """The account can be examined before the start: token, scopes, intents, permissions."""

    async def check(
        self, channels: Sequence[ChannelRef], uses: Collection[Use] = ()
    ) -> Sequence[Finding]:
        """`uses`: what the configuration asks of people beside: `groups` in which they are,
        `emails` by which their accounts are linked."""
        ...


@runtime_checkable
class ListsGroups(Protocol):
    """User groups or roles can be listed."""

    async def groups(self, workspaces: Collection[str]) -> Mapping[str, str]:
        """Of these workspaces: the name by the id. Raises PlatformError where the platform does not
        tell."""
        ...


@dataclass(frozen=True)
class Health:
    """How the receiving side is: `heard` and `connected_since` are Clock.time() seconds."""

    state: Literal["connecting", "connected", "listening", "stopped", "failed"]
    connected_since: float | None = None
    heard: float | None = None
    note: str = ""


@runtime_checkable
class TellsHealth(Protocol):
    """The account says how its connection is; `status`, `/healthz` and `/metrics` show it."""

    def health(self) -> Health: ...


@dataclass(frozen=True)
class SetupStep:
    """One step of `setup`: what to do, and what to paste or download there.

    `artifact` is shown as it is, or written to `filename` when `setup --out` is given.
    """

    title: str
    text: str
    artifact: str | bytes | None = None
    filename: str | None = None


@dataclass(frozen=True)
class SetupOption:
    """An option of `uacs-bridge setup` that a platform needs beside those of all platforms.

    `key` is its name in the `settings` that `ConnectorType.setup` takes. Platforms may share a key:
    the command then takes the flags of all of them. `help` names the platform, and has no full
    stop.
    """

    key: str
    flags: tuple[str, ...]
    help: str


@runtime_checkable
class HasSetupOptions(Protocol):
    """A connector type whose `setup` needs more than name, account and public_url."""

    def setup_options(self) -> Sequence[SetupOption]:
        """The platform's own options. Cheap: they are read for the command's help."""
        ...


def refuse_unknown(given: Mapping[str, str], taken: Collection[str], platform: str) -> None:
    """Raises ConfigError for settings of `setup` that a platform has no use for."""
    for key in given.keys() - set(taken):
        flag = key.replace("_", "-")
        raise ConfigError(f"{platform} has no --{flag}; leave it out")


@dataclass(frozen=True)
class Files:
    """Pictures, films, sounds and files: where they are kept, how they are fetched, and where
    anybody may fetch them again (`url_of`, for `Rendering`)."""

    blobs: Blobs
    fetcher: Fetcher
    url_of: Callable[[Asset], str] = open_url


@dataclass(frozen=True)
class ConnectorTools:
    """What the bridge gives to a connector. `instance` is the id of the bridge's store, for posts
    that can carry it unseen."""

    clock: Clock
    tokens: TokenSource
    shelf: Shelf
    public_url: str | None = None
    cards: Cards = NO_CARDS
    files: Files | None = None
    send_deadline: float = 30.0  # seconds; HTTP clients give no request up earlier
    instance: str = ""


@dataclass(frozen=True)
class Starter:
    """What a first configuration needs of a platform: the keys of an account, in their order, an
    example of a channel, whether channels can be listed, and whether the platform calls us."""

    keys: tuple[str, ...]
    channel: str
    lists: bool = True
    called: bool = False


class ConnectorType(Protocol):
    """What an entry point of the group `uacs_bridge.connectors` names: one per platform.

    Importing it must be cheap: the platform's SDK is imported in `build` and later.
    """

    platform: str
    settings: type[BaseModel]
    starter: Starter

    def build(self, account: AccountId, settings: Any, tools: ConnectorTools) -> Connector:
        """One account; `settings` is an instance of `self.settings`. No network yet."""
        ...

    def verify(self, account: AccountId, settings: Any) -> None:
        """Raises ConfigError where `build` would, without the SDK."""
        ...

    def codec(self) -> Codec:
        """How rich content is read and written. Pure: no SDK, no account."""
        ...

    def home(self, native: JsonValue) -> JsonValue:
        """A native message as it may be sent here again: the same JSON, less what the platform
        fills in itself (`READ_ONLY` in `capabilities.py`); a bare payload becomes a message."""
        ...

    def setup(self, settings: Mapping[str, str]) -> Sequence[SetupStep]:
        """The steps by which a person installs us there; `settings` may hold name, account,
        public_url and the keys of all platforms' `SetupOption`s, as the command was given them.
        Raises ConfigError for a value that cannot be, or a key that the platform has no use for."""
        ...
