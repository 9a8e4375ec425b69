"""Where the bridge is, and how its agents describe themselves. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

from bridge.app.settings.manifest import ManifestSettings
from bridge.app.settings.sections import Settings
from bridge.openfloor.envelope import Capability, Identification, Manifest
from bridge.openfloor.identity import speaker_uri

LAYERS = ("text", "html", "image", "audio", "video")
_NOWHERE = "uacs-bridge.invalid"


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


def home_of(settings: Settings) -> Home:
    """Return where the bridge of these settings is, and what its agents say of themselves."""
    return Home(
        (settings.web.public_url or "").rstrip("/"),
        {name: entry.manifest for name, entry in settings.agents.items()},
    )


def manifest_of_agent(home: Home, agent: str, service_url: str = "") -> Manifest:
    """Return the manifest of an agent of the bridge, which others reach at `service_url`."""
    settings = home.agents.get(agent, ManifestSettings())
    return Manifest(
        identification=Identification(
            speaker_uri=home.uri_of_agent(agent),
            service_url=service_url,
            organization=settings.organization or home.authority,
            conversational_name=agent,
            synopsis=settings.synopsis or f"The agent {agent}",
            department=settings.department or None,
            role=settings.role or None,
            roles={"convener": False, "discovery": False},
        ),
        capabilities=(capability_of(settings),),
    )


def capability_of(settings: ManifestSettings) -> Capability:
    """Return what an agent says that it can do."""
    return Capability(
        keyphrases=settings.keyphrases,
        descriptions=settings.descriptions,
        languages=settings.languages,
        inputs=LAYERS,
        outputs=LAYERS,
    )
