"""The manifests of rooms and of the agents in them. Pure."""

from __future__ import annotations

from bridge.app.agent_directory.home import LAYERS, Home, capability_of
from bridge.app.agent_directory.home import manifest_of_agent as manifest_of_own
from bridge.app.api.gateway import RoomView
from bridge.app.settings.manifest import ManifestSettings
from bridge.openfloor.envelope import Capability, Identification, Manifest

_MAX_NAMES = 5  # agents that the synopsis of a room names


def manifest_of_room(home: Home, room: RoomView, *, discovery: bool = False) -> Manifest:
    """Return the manifest of a room: its people and agents answer under one address. `discovery`:
    it also tells of agents elsewhere."""
    agents = ", ".join(room.agents[:_MAX_NAMES])
    own = [home.agents.get(agent, ManifestSettings()) for agent in room.agents]
    return Manifest(
        identification=Identification(
            speaker_uri=home.uri_of_room(room.id),
            service_url=home.service_url(room.id),
            organization=home.authority,
            conversational_name=room.id,
            synopsis=f"A room of people{f' and the agents {agents}' if agents else ''}",
            roles={"convener": False, "discovery": discovery},
        ),
        capabilities=tuple(capability_of(settings) for settings in own)
        or (Capability(inputs=LAYERS, outputs=LAYERS),),
    )


def manifest_of_agent(home: Home, room: RoomView, agent: str) -> Manifest:
    """Return the manifest of an agent of a room."""
    return manifest_of_own(home, agent, home.service_url(room.id))
