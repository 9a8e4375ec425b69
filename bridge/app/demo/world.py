"""The local platforms as the demo shows them, and a configuration that joins them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from bridge.app.local_accounts import local_accounts
from bridge.errors import NotFound
from bridge.sandbox.demo_side import DemoSide
from bridge.sandbox.installed import local_platform_types
from bridge.sandbox.platform import (
    LocalPlatform,
    LocalPlatformType,
    SeededPerson,
    SeededPlace,
    World,
)

ROOMS = ("general", "random")
AGENT = "echo"
DESK = "desk"


class SideChannel(BaseModel):
    """A channel that the demo shows; `room` is the room that it belongs to."""

    model_config = ConfigDict(frozen=True)

    id: str
    name: str
    room: str


class SidePerson(BaseModel):
    """A person whom the user of the page can act as."""

    model_config = ConfigDict(frozen=True)

    id: str
    name: str


class Side(BaseModel):
    """One platform as the demo shows it: one workspace, guild or team of it."""

    model_config = ConfigDict(frozen=True)

    platform: str
    label: str
    workspace: str
    workspace_name: str
    channels: tuple[SideChannel, ...]
    people: tuple[SidePerson, ...]
    writer: str  # id of the person who is selected at first
    names: dict[str, str]  # native id -> name, of people, bots and channels
    bot: str  # the name of the bridge's bot
    channels_heading: str
    people_heading: str
    placeholder: str  # of the empty text box

    def channel_of(self, room: str) -> str:
        return next(channel.id for channel in self.channels if channel.room == room)

    def person_named(self, name: str) -> str:
        for person in self.people:
            if person.name == name:
                return person.id
        raise NotFound(f"Nobody is called {name!r} on the local {self.label}")


def demo_types() -> dict[str, LocalPlatformType]:
    """The local platforms that the demo can show, by name, in the order of the page."""
    return {name: local for name, local in local_platform_types().items() if local.demo}


def sides_of(platforms: Mapping[str, LocalPlatform]) -> dict[str, Side]:
    """The first workspace of each platform, which the demo shows."""
    return _sides({name: platform.world() for name, platform in platforms.items()})


def _sides(worlds: Mapping[str, World]) -> dict[str, Side]:
    return {
        name: _side(worlds[name], local.label, local.demo)
        for name, local in demo_types().items()
        if local.demo and name in worlds
    }


def _side(world: World, label: str, look: DemoSide) -> Side:
    first = world.places[0]
    places = [place for place in world.places if _in_same_workspace(place, first)]
    people = [person for person in world.people if person.workspace == first.workspace]
    channels = [
        SideChannel(id=place.channel, name=place.channel_name, room=place.channel_name.lower())
        for place in places
        if place.channel_name.lower() in ROOMS
    ]
    return Side(
        platform=world.platform,
        label=label,
        workspace=first.workspace,
        workspace_name=first.workspace_name,
        channels=tuple(channels),
        people=tuple(SidePerson(id=person.id, name=person.name) for person in people),
        writer=next((person.id for person in people if person.name == look.writer), people[0].id),
        names=_names(world, places, people),
        bot=str(world.apps[0]["name"]),
        channels_heading=look.channels,
        people_heading=look.people,
        placeholder=look.placeholder,
    )


def _in_same_workspace(place: SeededPlace, first: SeededPlace) -> bool:
    """Whether both places are in one workspace, by id and name."""
    return (place.workspace, place.workspace_name) == (first.workspace, first.workspace_name)


def _names(
    world: World, places: list[SeededPlace], people: list[SeededPerson]
) -> dict[str, str]:  # fmt: skip
    names = {person.id: person.name for person in people}
    names |= {place.channel: place.channel_name for place in places}
    for app in world.apps:
        for key in ("bot_user", "bot_id"):
            if key in app:
                names[str(app[key])] = str(app["name"]).title()
    return names


def configuration(
    worlds: Mapping[str, World], base_url: str, store: Path, pace: float, desk: str, port: int
) -> tuple[dict[str, Any], dict[str, str]]:
    """A whole configuration for the first app of each platform, and its environment.

    `desk` is the URL of the webhook that answers as `@desk`; `port` is the bridge's own, which
    the local platforms are given as its public one, so that files can be shown everywhere.
    """
    accounts, environment = local_accounts(worlds, base_url)
    sides = _sides(worlds)
    settings = {
        "accounts": accounts,
        "agents": {
            AGENT: {"kind": "echo", "pace": pace},
            DESK: {"kind": "webhook", "url": desk, "private_addresses": True},
        },
        "rooms": {room: _room(sides, room) for room in ROOMS},
        "store": {"path": str(store)},
        "web": {"host": "127.0.0.1", "port": port, "public_url": f"http://127.0.0.1:{port}"},
        "files": {"allow_loopback": True},
        "delivery": {"drain": 1.0},
    }
    return settings, environment


def _room(sides: Mapping[str, Side], room: str) -> dict[str, Any]:
    members = [
        {"account": name, "workspace": side.workspace, "channel": side.channel_of(room)}
        for name, side in sides.items()
    ]
    agents = [{"agent": name, "listen": "mentions"} for name in (AGENT, DESK)]
    return {"members": members, "agents": agents}
