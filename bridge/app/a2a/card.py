"""The agent cards of rooms and of the agents in them. Pure JSON (A2A 1.0, with the older interface
beside it)."""

from __future__ import annotations

from urllib.parse import quote

from pydantic import JsonValue

from bridge.agents.codec.json_values import Json
from bridge.app.agent_directory.home import Home
from bridge.app.api.gateway import RoomView
from bridge.app.settings.manifest import ManifestSettings
from bridge.runtime.version import bridge_version

_MODES: list[JsonValue] = [
    "text/plain", "application/json", "image/*", "audio/*", "video/*", "application/octet-stream",
]  # fmt: skip
_SCHEME = "token"


def path_of(room: str, agent: str) -> str:
    """Return the path at which a room, or (`agent`) an agent in it, is served."""
    below = f"/agents/{quote(agent, safe='')}" if agent else ""
    return f"/a2a/{quote(room, safe='')}{below}"


def card_of(home: Home, room: RoomView, agent: str, base_url: str) -> Json:
    """Return the card of a room, or of an agent in it; `base_url` is where the caller found the
    bridge, for a bridge without a public address."""
    own = home.agents.get(agent, ManifestSettings())
    url = f"{home.public_url or base_url}{path_of(room.id, agent)}"
    agents = ", ".join(room.agents)
    about = own.synopsis or f"The agent {agent}" if agent else _about(room, agents)
    interfaces: list[JsonValue] = [
        {"url": url, "protocolBinding": binding, "protocolVersion": version}
        for version in ("1.0", "0.3")
        for binding in ("JSONRPC", "HTTP+JSON")
    ]
    named = (agent,) if agent else room.agents
    skills = [_skill(name, home.agents.get(name, ManifestSettings())) for name in named]
    return {
        "name": agent or room.id,
        "description": about,
        "version": bridge_version() or "0",
        "supportedInterfaces": interfaces,
        "capabilities": {"streaming": True, "pushNotifications": True},
        "defaultInputModes": _MODES,
        "defaultOutputModes": _MODES,
        "skills": list(skills) or [_talk(room)],
        "provider": {
            "organization": own.organization or home.authority, "url": home.public_url or url,
        },
        "securitySchemes": {_SCHEME: {"httpAuthSecurityScheme": {"scheme": "bearer"}}},
        "securityRequirements": [{"schemes": {_SCHEME: {"list": []}}}],
    }  # fmt: skip


def _about(room: RoomView, agents: str) -> str:
    return f"A room of people{f' and the agents {agents}' if agents else ''}"


def _skill(agent: str, own: ManifestSettings) -> Json:
    skill: Json = {
        "id": agent,
        "name": agent,
        "description": "; ".join(own.descriptions) or own.synopsis or f"The agent {agent}",
        "tags": list(own.keyphrases) or ["chat"],
    }
    return skill


def _talk(room: RoomView) -> Json:
    about = "People of the room read the message, and may answer"
    return {"id": room.id, "name": room.id, "description": about, "tags": ["people"]}
