"""All routes of the local Discord's REST API, by what they are about."""

from __future__ import annotations

from bridge.sandbox.discord.call import Routes
from bridge.sandbox.discord.routes.channels import CHANNEL_ROUTES
from bridge.sandbox.discord.routes.commands import COMMAND_ROUTES
from bridge.sandbox.discord.routes.guilds import GUILD_ROUTES
from bridge.sandbox.discord.routes.interactions import INTERACTION_ROUTES
from bridge.sandbox.discord.routes.messages import MESSAGE_ROUTES
from bridge.sandbox.discord.routes.pins import PIN_ROUTES
from bridge.sandbox.discord.routes.reactions import REACTION_ROUTES
from bridge.sandbox.discord.routes.threads import THREAD_ROUTES
from bridge.sandbox.discord.routes.users import USER_ROUTES
from bridge.sandbox.discord.routes.webhooks import WEBHOOK_ROUTES


def all_routes() -> Routes:
    return Routes(
        USER_ROUTES
        + GUILD_ROUTES
        + CHANNEL_ROUTES
        + MESSAGE_ROUTES
        + PIN_ROUTES
        + REACTION_ROUTES
        + THREAD_ROUTES
        + WEBHOOK_ROUTES
        + INTERACTION_ROUTES
        + COMMAND_ROUTES
    )
