"""The port of a local platform: routes for apps, and what its people do and see."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel
from starlette.responses import Response
from starlette.routing import BaseRoute

from bridge.sandbox.demo_side import DemoSide
from bridge.sandbox.faults import Faults
from bridge.sandbox.feed import Feed, LocalMessage
from bridge.sandbox.files import FileStore
from bridge.sandbox.limits import Limits


@dataclass(frozen=True)
class SandboxContext:
    """What the local platforms share: faults, limits, the feed, files and the sandbox's address."""

    base_url: str  # "http://127.0.0.1:8080", no slash at the end
    channels: int = 3  # channels per workspace, guild and team
    # Workspaces of a platform, at least two; each after the second has an app "bridge" of its own.
    workspaces: int = 2  # platforms with servers of their own leave it out
    # Ports for servers of the platforms' own, in order of preference; without one of them that is
    # free, the kernel chooses.
    server_ports: Sequence[int] = ()
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
    """What a platform was seeded with; `apps` hold the tokens and ids that a client needs."""

    platform: str
    apps: list[dict[str, Any]]
    places: list[SeededPlace]
    people: list[SeededPerson]


class LocalPlatform(Protocol):
    """A local platform; its routes begin with `/<name>/`."""

    name: str

    def routes(self) -> list[BaseRoute]:
        """Return the routes that the platform serves to apps and browsers."""
        ...

    def world(self) -> World:
        """Return the seeded apps, channels and people."""
        ...

    async def post_as(
        self, workspace: str, channel: str, person: str, text: str, thread: str | None = None
    ) -> LocalMessage:
        """Post a message as a person; apps receive the event as from the real platform.

        Args:
            workspace: id of the workspace.
            channel: id of the channel.
            person: id of the person.
            text: the text as the person types it.
            thread: native id of the thread's root; None for the channel itself.

        Raises:
            NotFound: there is no such workspace, channel, person or thread.
            Refused: the person may not post there.
        """
        ...

    async def edit_as(
        self, workspace: str, channel: str, person: str, message: str, text: str
    ) -> LocalMessage:
        """Edit a message of the person; `channel` is as in `post_as`, also for a message in a
        thread.

        Raises:
            Refused: the message is somebody else's.
        """
        ...

    async def delete_as(self, workspace: str, channel: str, person: str, message: str) -> None:
        """Delete a message of the person, or of somebody else where they may.

        Raises:
            Refused: the person may not delete it.
        """
        ...

    async def react_as(
        self, workspace: str, channel: str, person: str, message: str, emoji: str
    ) -> None:
        """Add a reaction: `emoji` is in Unicode, or `:name:` for a custom one."""
        ...

    async def unreact_as(
        self, workspace: str, channel: str, person: str, message: str, emoji: str
    ) -> None:
        """Remove a reaction of the person; a missing one is no error."""
        ...

    async def pin_as(
        self, workspace: str, channel: str, person: str, message: str, *, pinned: bool = True
    ) -> None:
        """Pin or unpin a message."""
        ...

    async def typing_as(self, workspace: str, channel: str, person: str) -> None:
        """Start typing; apps receive the event where the platform sends one."""
        ...

    def messages(self, workspace: str, channel: str) -> list[LocalMessage]:
        """Return all messages of a channel and its threads, oldest first."""
        ...

    async def disconnect(self, reason: str = "") -> None:
        """Close the socket of every app, as the platforms do now and then."""
        ...

    async def close(self) -> None:
        """End all deliveries and tasks."""
        ...


@runtime_checkable
class Starts(Protocol):
    """A local platform that listens on an address of its own, beside the sandbox's web server."""

    async def start(self) -> None:
        """Start to listen; called once, before `world`. `close` ends it."""
        ...


@runtime_checkable
class CallsBridge(Protocol):
    """A local platform that calls the bridge over HTTP."""

    def set_account_url(self, url: str) -> None:
        """Set where the bridge serves the account of the platform's first app.

        Args:
            url: the bridge's public URL and the account's name, without a slash at the end.
        """
        ...


@runtime_checkable
class ShowsFiles(Protocol):
    """A local platform whose file URLs require an app's token."""

    def file_as_seen(self, file: str) -> Response | None:
        """Return a file as the browser of a signed-in person receives it; None when there
        is none."""
        ...


@runtime_checkable
class TakesNewcomers(Protocol):
    """A local platform to which people can be added."""

    def add_person(self, name: str) -> None:
        """Add a person of this name to the first workspace and all its channels."""
        ...


@dataclass(frozen=True)
class LocalPlatformType:
    """The twin of a platform, as `local_platform` of a connector type returns it.

    `label` is the platform's name as people write it. `order` sorts the platforms in the sandbox's
    configuration and on the demo's page. `demo` is None for a platform that the demo leaves out.
    `sdk_loggers` are loggers of the connector's SDK, which the demo silences.
    """

    label: str  # as people write the platform's name
    build: Callable[[SandboxContext], LocalPlatform]
    order: int = 100
    demo: DemoSide | None = None
    sdk_loggers: tuple[str, ...] = ()
