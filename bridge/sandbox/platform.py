"""The port of a local platform: routes for apps, and what its people do and see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel
from starlette.responses import Response
from starlette.routing import BaseRoute

from bridge.sandbox.demo_side import DemoSide
from bridge.sandbox.faults import Faults
from bridge.sandbox.feed import Feed, Shown
from bridge.sandbox.files import FileStore
from bridge.sandbox.limits import Limits


@dataclass(frozen=True)
class SandboxContext:
    """What the local platforms share: one set of faults and limits, one feed, files, an address."""

    base_url: str  # "http://127.0.0.1:8080", no slash at the end
    channels: int = 3  # channels per workspace, guild and team
    faults: Faults = field(default_factory=Faults)
    limits: Limits = field(default_factory=Limits)
    feed: Feed = field(default_factory=Feed)
    files: FileStore = field(default_factory=FileStore)


class SeededPlace(BaseModel):
    """A channel of the seeded world."""

    workspace: str
    workspace_name: str
    channel: str
    channel_name: str


class SeededPerson(BaseModel):
    """A person of the seeded world."""

    workspace: str
    id: str
    name: str


class World(BaseModel):
    """What a platform was seeded with: `apps` hold the tokens and ids that a client needs."""

    platform: str
    apps: list[dict[str, Any]]
    places: list[SeededPlace]
    people: list[SeededPerson]


class LocalPlatform(Protocol):
    """One local platform. Its routes live under `/<platform>/...`."""

    name: str

    def routes(self) -> list[BaseRoute]: ...

    def world(self) -> World: ...

    async def post_as(
        self, workspace: str, channel: str, person: str, text: str, thread: str | None = None
    ) -> Shown:
        """A person says something; apps hear of it as they would from the real platform."""
        ...

    async def edit_as(
        self, workspace: str, channel: str, person: str, message: str, text: str
    ) -> Shown:
        """A person changes the words of a message of theirs; `Refused` if it is another's.

        `channel` as in `post_as`; the message may stand in one of its threads.
        """
        ...

    async def delete_as(self, workspace: str, channel: str, person: str, message: str) -> None:
        """A person deletes a message of theirs, or, where they may, one of somebody else."""
        ...

    async def react_as(
        self, workspace: str, channel: str, person: str, message: str, emoji: str
    ) -> None:
        """A person reacts: `emoji` in Unicode, or `:name:` of a custom one."""
        ...

    async def unreact_as(
        self, workspace: str, channel: str, person: str, message: str, emoji: str
    ) -> None:
        """A person takes a reaction of theirs back; nothing where there is none."""
        ...

    async def pin_as(
        self, workspace: str, channel: str, person: str, message: str, *, pinned: bool = True
    ) -> None:
        """A person pins a message, or takes its pin away."""
        ...

    async def typing_as(self, workspace: str, channel: str, person: str) -> None:
        """A person begins to write; apps hear of it where the platform tells them."""
        ...

    def messages(self, workspace: str, channel: str) -> list[Shown]:
        """Everything that stands in a channel, its threads included, in the order of time."""
        ...

    async def disconnect(self, reason: str = "") -> None:
        """Close every app's socket, as the platforms do now and then."""
        ...

    async def close(self) -> None:
        """Stop deliveries and leave nothing running."""
        ...


@runtime_checkable
class Starts(Protocol):
    """A local platform that listens on an address of its own, beside the sandbox's web server."""

    async def start(self) -> None:
        """Called once, before `world`; `close` ends it."""
        ...


@runtime_checkable
class CallsBridge(Protocol):
    """A local platform that calls the bridge over HTTP, and needs to know where."""

    def set_account_url(self, url: str) -> None:
        """`url` is where the bridge serves the account of the platform's first app: its public
        address and the account's name, without a slash at the end."""
        ...


@runtime_checkable
class ShowsFiles(Protocol):
    """A local platform whose files have addresses that ask for an app's token."""

    def file_as_seen(self, file: str) -> Response | None:
        """A file as the browser of a signed-in person gets it; None where there is none."""
        ...


@runtime_checkable
class TakesNewcomers(Protocol):
    """A local platform on which people appear who were not seeded."""

    def add_person(self, name: str) -> None:
        """Somebody of this name joins the first workspace and all its channels."""
        ...


@dataclass(frozen=True)
class LocalPlatformType:
    """What `local_platform` of a connector type returns: how its twin is named, built and drawn.

    `order`: platforms stand in this order in the sandbox's configuration and on the demo's page.
    `demo`: None leaves the platform out of the demo. `sdk_loggers`: loggers of the SDK that the
    connector uses; the demo switches them off.
    """

    label: str  # as people write the platform's name
    build: Callable[[SandboxContext], LocalPlatform]
    order: int = 100
    demo: DemoSide | None = None
    sdk_loggers: tuple[str, ...] = ()
