"""All routes of the local Discord's REST API, grouped by resource."""

from __future__ import annotations

from connectors.discord.sandbox.call import Routes
from connectors.discord.sandbox.routes.channels import CHANNEL_ROUTES
from connectors.discord.sandbox.routes.commands import COMMAND_ROUTES
from connectors.discord.sandbox.routes.guilds import GUILD_ROUTES
from connectors.discord.sandbox.routes.interactions import INTERACTION_ROUTES
from connectors.discord.sandbox.routes.messages import MESSAGE_ROUTES
from connectors.discord.sandbox.routes.pins import PIN_ROUTES
from connectors.discord.sandbox.routes.reactions import REACTION_ROUTES
from connectors.discord.sandbox.routes.threads import THREAD_ROUTES
from connectors.discord.sandbox.routes.users import USER_ROUTES
from connectors.discord.sandbox.routes.webhooks import WEBHOOK_ROUTES


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
