"""The type of the Discord app that many guilds install. Cheap to import."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from bridge.ports.installs import InstallableApp, InstallTools
from connectors.discord.app_settings import DiscordAppSettings


class DiscordInstalls:
    """Builds the app; Discord gives one bot one connection, so one account serves all guilds."""

    settings: type[BaseModel] = DiscordAppSettings
    shares_account = True

    def build(self, settings: Any, tools: InstallTools) -> InstallableApp:
        from connectors.discord.installed_app import DiscordApp  # imports the SDK

        return DiscordApp(settings, tools)
