"""The installation steps for Teams, with the app package as a zip file."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from uuid import NAMESPACE_URL, UUID, uuid5

import orjson

from bridge.errors import ConfigError
from bridge.ports.connector import SetupOption, SetupStep
from bridge.runtime.setup import refuse_unknown
from connectors.teams.settings import GUID

_SCHEMA = "https://developer.microsoft.com/json-schemas/teams/v1.16/MicrosoftTeams.schema.json"
_ACCENT = (0x5B, 0x5F, 0xC7)
# A zip file contains times: a fixed time makes packages reproducible.
_ZIP_TIME = (2026, 1, 1, 0, 0, 0)
_PLACEHOLDER_ID = "00000000-0000-0000-0000-000000000000"

OPTIONS = (
    SetupOption("client_id", ("--app-id",), "Teams: the bot's Microsoft App ID"),
    SetupOption("tenant_id", ("--tenant-id",), "Teams: the tenant of a single-tenant bot"),
)


def setup_steps(settings: Mapping[str, str]) -> Sequence[SetupStep]:
    """Return the installation steps.

    `settings` may have name, account, client_id (the bot's app id), tenant_id, public_url. Raises
    ConfigError for other keys and for ids that are no GUID.
    """
    _check(settings)
    name, account = settings.get("name", "UACS Bridge"), settings.get("account", "teams")
    public_url = settings.get("public_url", "https://bridge.example.com").rstrip("/")
    app_id = settings.get("client_id", _PLACEHOLDER_ID)
    return [
        SetupStep(
            "Register a bot",
            "In the Azure portal create an 'Azure Bot' (or, in the Teams Developer Portal, Tools > "
            "Bot management > New bot) of type Single Tenant. Note its Microsoft App ID and your "
            "tenant's ID, and add a client secret: its value is shown only once.",
        ),
        SetupStep(
            "Say where the bridge listens",
            "Enter this as the bot's messaging endpoint, and add the Microsoft Teams channel to "
            "the bot:",
            artifact=f"{public_url}/{account}/messages",
        ),
        SetupStep(
            "Configure the account",
            "Put the secret into the environment, never into the file:",
            artifact=_yaml(account, app_id, settings.get("tenant_id", _PLACEHOLDER_ID)),
        ),
        SetupStep(
            "Upload the app",
            "In Teams: Apps > Manage your apps > Upload an app > this file; then add it to each "
            "team and chat. Its consent lets the bot hear every message there, not only mentions. "
            + (_WITHOUT_ID if app_id == _PLACEHOLDER_ID else ""),
            artifact=app_package(name, app_id, public_url),
            filename="uacs-bridge-teams.zip",
        ),
        SetupStep(
            "Let it hear once",
            "A bot may speak where it was heard from: after adding it, mention it once in each "
            "channel that a room names, then run `uacs-bridge check`.",
        ),
    ]


_WITHOUT_ID = "This package has no app id yet: run setup again with --app-id."
_TAKEN = {"name", "account", "public_url", "client_id", "tenant_id"}


def _check(settings: Mapping[str, str]) -> None:
    """Raises ConfigError."""
    refuse_unknown(settings, _TAKEN, "Teams")
    for key, flag in (("client_id", "--app-id"), ("tenant_id", "--tenant-id")):
        value = settings.get(key)
        if value is not None and not GUID.match(value):
            raise ConfigError(
                f"{flag} {value!r} is not a GUID; copy it from the Azure portal: "
                "00000000-0000-0000-0000-000000000000"
            )


def _yaml(account: str, app_id: str, tenant_id: str) -> str:
    return (
        f"accounts:\n  {account}:\n    platform: teams\n    app_id: {app_id}\n"
        f"    app_password: {{env: TEAMS_APP_PASSWORD}}\n    tenant_id: {tenant_id}\n"
    )


# --- the app package ----------------------------------------------------------------------------


def app_package(name: str, app_id: str, public_url: str) -> bytes:
    """Return a zip file with the manifest and two icons; the same input gives the same bytes."""
    files = {
        "manifest.json": orjson.dumps(
            _manifest(name, app_id, public_url), option=orjson.OPT_INDENT_2
        ),
        "color.png": _png(192, _color_pixel),
        "outline.png": _png(32, _outline_pixel),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as package:
        for file_name, content in files.items():
            package.writestr(zipfile.ZipInfo(file_name, _ZIP_TIME), content)
    return buffer.getvalue()


# Commands that Teams offers when people mention the bot (at most ten).
_COMMANDS = [
    {"title": "help", "description": "What you may ask for"},
    {"title": "status", "description": "What this channel is bridged to"},
    {"title": "optout", "description": "Have nothing of yours carried"},
    {"title": "optin", "description": "Take that back"},
]


def _manifest(name: str, app_id: str, public_url: str) -> dict[str, object]:
    short = name[:30]
    return {
        "$schema": _SCHEMA,
        "manifestVersion": "1.16",
        "version": "1.0.0",
        # The id of the app, not of the bot; it is the same in every package.
        "id": str(uuid5(_namespace(app_id), "uacs-bridge")),
        "packageName": "org.uacs.bridge",
        "developer": {
            "name": short,
            "websiteUrl": public_url,
            "privacyUrl": f"{public_url}/privacy",
            "termsOfUseUrl": f"{public_url}/terms",
        },
        "name": {"short": short, "full": name[:100]},
        "description": {
            "short": "Joins this conversation with other platforms and agents."[:80],
            "full": "Carries messages between Slack, Discord and Teams, and lets AI agents answer.",
        },
        "icons": {"color": "color.png", "outline": "outline.png"},
        "accentColor": "#{:02X}{:02X}{:02X}".format(*_ACCENT),
        "bots": [
            {
                "botId": app_id,
                "scopes": ["team", "groupchat", "personal"],
                "supportsFiles": True,
                "isNotificationOnly": False,
                "commandLists": [{"scopes": ["team", "groupchat"], "commands": _COMMANDS}],
            }
        ],
        "permissions": ["identity", "messageTeamMembers"],
        "validDomains": [],
        # Without these consents a bot receives only messages that mention it.
        "webApplicationInfo": {"id": app_id, "resource": "https://RscBasedStoreApp"},
        "authorization": {
            "permissions": {
                "resourceSpecific": [
                    {"name": "ChannelMessage.Read.Group", "type": "Application"},
                    {"name": "ChatMessage.Read.Chat", "type": "Application"},
                ]
            }
        },
    }


def _namespace(app_id: str) -> UUID:
    try:
        return UUID(app_id)
    except ValueError:
        return NAMESPACE_URL


# --- icons: a bridge of two piers and an arch, drawn pixel by pixel -------------------------------

Rgba = tuple[int, int, int, int]


def _color_pixel(x: float, y: float) -> Rgba:
    return (255, 255, 255, 255) if _is_bridge(x, y) else (*_ACCENT, 255)


def _outline_pixel(x: float, y: float) -> Rgba:
    return (255, 255, 255, 255 if _is_bridge(x, y) else 0)


def _is_bridge(x: float, y: float) -> bool:
    """Return whether a point is part of the picture; `x` and `y` are from 0 to 1."""
    deck = 0.40 <= y <= 0.50 and 0.12 <= x <= 0.88
    pier = 0.50 <= y <= 0.75 and (0.20 <= x <= 0.30 or 0.70 <= x <= 0.80)
    radius = ((x - 0.5) ** 2 + (y - 0.70) ** 2) ** 0.5
    arch = 0.20 <= radius <= 0.27 and 0.45 <= y <= 0.70
    return deck or pier or arch


def _png(size: int, pixel: Callable[[float, float], Rgba]) -> bytes:
    """Return a square RGBA picture as PNG (PNG specification, section 5)."""
    rows = b"".join(
        b"\0"
        + bytes(value for x in range(size) for value in pixel((x + 0.5) / size, (y + 0.5) / size))
        for y in range(size)
    )
    header = struct.pack(">IIBBBBB", size, size, 8, 6, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(rows, 9))
        + _chunk(b"IEND", b"")
    )


def _chunk(kind: bytes, content: bytes) -> bytes:
    return (
        struct.pack(">I", len(content))
        + kind
        + content
        + struct.pack(">I", zlib.crc32(kind + content))
    )
