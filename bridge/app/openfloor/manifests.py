"""The manifests of the bridge's rooms and agents. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

from bridge.app.api.gateway import RoomView
from bridge.app.settings.manifest import ManifestSettings
from bridge.openfloor.envelope import Capability, Identification, Manifest
from bridge.openfloor.identity import speaker_uri

_LAYERS = ("text", "html", "image", "audio", "video")
_NOWHERE = "uacs-bridge.invalid"
_MAX_NAMES = 5  # agents that the synopsis of a room names


@dataclass(frozen=True)
class Home:
    """Where the bridge is, and how its agents describe themselves.

    - `public_url`: its address for others; "" without one.
    - `agents`: settings by the name of the agent.
    """

    public_url: str = ""
    agents: Mapping[str, ManifestSettings] = field(default_factory=dict[str, ManifestSettings])

    @property
    def authority(self) -> str:
        """The host in the URIs of its people, rooms and agents."""
        return urlsplit(self.public_url).hostname or _NOWHERE

    def service_url(self, room: str) -> str:
        """The address of a room's endpoint."""
        return f"{self.public_url}/openfloor/{quote(room, safe='')}"

    def uri(self, actor: str) -> str:
        """The `speakerUri` of an actor."""
        return speaker_uri(actor, self.authority)

    def uri_of_room(self, room: str) -> str:
        """The `speakerUri` of a room as a whole."""
        return self.uri(f"room:{room}")

    def uri_of_agent(self, agent: str) -> str:
        """The `speakerUri` of an agent of the bridge."""
        return self.uri(f"agent:{agent}")


def manifest_of_room(home: Home, room: RoomView) -> Manifest:
    """Return the manifest of a room: its people and agents answer under one address."""
    agents = ", ".join(room.agents[:_MAX_NAMES])
    own = [home.agents.get(agent, ManifestSettings()) for agent in room.agents]
    return Manifest(
        identification=Identification(
            speaker_uri=home.uri_of_room(room.id),
            service_url=home.service_url(room.id),
            organization=home.authority,
            conversational_name=room.id,
            synopsis=f"A room of people{f' and the agents {agents}' if agents else ''}",
            roles={"convener": False, "discovery": False},
        ),
        capabilities=tuple(_capability(settings) for settings in own)
        or (Capability(inputs=_LAYERS, outputs=_LAYERS),),
    )


def manifest_of_agent(home: Home, room: RoomView, agent: str) -> Manifest:
    """Return the manifest of an agent of a room."""
    settings = home.agents.get(agent, ManifestSettings())
    return Manifest(
        identification=Identification(
            speaker_uri=home.uri_of_agent(agent),
            service_url=home.service_url(room.id),
            organization=settings.organization or home.authority,
            conversational_name=agent,
            synopsis=settings.synopsis or f"The agent {agent}",
            department=settings.department or None,
            role=settings.role or None,
            roles={"convener": False, "discovery": False},
        ),
        capabilities=(_capability(settings),),
    )


def _capability(settings: ManifestSettings) -> Capability:
    return Capability(
        keyphrases=settings.keyphrases,
        descriptions=settings.descriptions,
        languages=settings.languages,
        inputs=_LAYERS,
        outputs=_LAYERS,
    )
