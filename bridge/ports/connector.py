"""What every platform must fill: a life cycle, and a record of its abilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel, JsonValue

from bridge.content.cards.codec import Codec
from bridge.content.cards.reader import NO_CARDS, Cards
from bridge.model import (
    AccountId,
    Call,
    Capabilities,
    Delivery,
    Encoded,
    Event,
    Raw,
    Receipt,
)
from bridge.ports.abilities import Abilities
from bridge.ports.clock import Clock
from bridge.ports.files import Files
from bridge.ports.inbox import Inbox
from bridge.ports.installs import Tenancy
from bridge.ports.key_values import KeyValues
from bridge.ports.secrets import SecretSource


class Connector(Protocol):
    """One account on one platform. `abilities` is built once, and stays as it is."""

    account: AccountId
    capabilities: Capabilities
    abilities: Abilities

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


@dataclass(frozen=True)
class ConnectorTools:
    """What the bridge gives to a connector. `instance` is the id of the bridge's store, for posts
    that can carry it unseen. `tenancy`: for an account that serves workspaces which installed our
    app."""

    clock: Clock
    secrets: SecretSource
    key_values: KeyValues
    public_url: str | None = None
    cards: Cards = NO_CARDS
    files: Files | None = None
    send_deadline: float = 30.0  # seconds; HTTP clients give no request up earlier
    instance: str = ""
    tenancy: Tenancy | None = None


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
