"""The installation steps of the bot: portal pages, intents, invite link. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from bridge.errors import ConfigError
from bridge.ports.connector import SetupOption, SetupStep
from bridge.runtime.setup import refuse_unknown
from connectors.discord.capabilities import INTENTS, PERMISSIONS, SCOPES

_SNOWFLAKE = re.compile(r"[0-9]{17,20}\Z")

OPTIONS = (SetupOption("client_id", ("--client-id",), "Discord: the Application ID"),)


def setup_steps(settings: Mapping[str, str]) -> Sequence[SetupStep]:
    """Return the installation steps.

    `settings` may hold `name` and `client_id` (the Application ID). Raises ConfigError for an
    unknown key or an invalid id.
    """
    refuse_unknown(settings, {"name", "account", "client_id", "public_url"}, "Discord")
    own_id = settings.get("client_id")
    if own_id is not None and not _SNOWFLAKE.match(own_id):
        raise ConfigError(
            f"--client-id {own_id!r} is not an Application ID; copy the number of 17 to 20 digits "
            "from the page General Information"
        )
    name = settings.get("name") or "UACS Bridge"
    client = settings.get("client_id") or "APPLICATION_ID"
    later = "" if settings.get("client_id") else " Put the Application ID in its place."
    return [
        SetupStep(
            "Create the application",
            "Open https://discord.com/developers/applications, New Application, and call it"
            f" {name!r} (Discord refuses names with its own). Note the Application ID on the page"
            " General Information.",
        ),
        SetupStep(
            "Switch on the intent",
            "Page Bot, Privileged Gateway Intents: switch on MESSAGE CONTENT INTENT and save. The"
            " other two stay off. In a bot of more than 10,000 users Discord reviews it.",
            artifact=_intents(),
        ),
        SetupStep(
            "Take the token",
            "Page Bot, Reset Token. Put it into the environment variable or file that bot_token"
            " names, never into the configuration itself.",
        ),
        SetupStep(
            "Invite the bot",
            f"Open this link as somebody who manages the server, and choose it.{later} It asks for"
            f" the scopes {' and '.join(SCOPES)} and these permissions: {', '.join(PERMISSIONS)}.",
            artifact=invite_link(client),
        ),
        SetupStep(
            "Name the channels",
            "User Settings, Advanced: switch on Developer Mode; then right click a channel, Copy"
            " Channel ID, and the server, Copy Server ID. Put both into a room, then run"
            " `uacs-bridge check`.",
        ),
    ]


def _intents() -> str:
    lines = [f"{name}: {'switch it on' if name == 'MESSAGE_CONTENT' else 'not privileged'}"
             for name in INTENTS]  # fmt: skip
    return "\n".join([*lines, f"sum of their bits: {sum(INTENTS.values())}"])


def invite_link(client_id: str) -> str:
    """Return the link that invites the bot with exactly the permissions that the bridge uses."""
    total = sum(PERMISSIONS.values())
    scopes = "+".join(SCOPES)
    address = "https://discord.com/oauth2/authorize"
    return f"{address}?client_id={client_id}&permissions={total}&scope={scopes}"
