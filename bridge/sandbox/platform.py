"""What each local platform is to the sandbox: routes for apps, and a person's hands and eyes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic import BaseModel
from starlette.routing import BaseRoute

from bridge.sandbox.faults import Faults
from bridge.sandbox.feed import Feed, Shown
from bridge.sandbox.files import FileStore
from bridge.sandbox.limits import Limits


@dataclass(frozen=True)
class Surroundings:
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
