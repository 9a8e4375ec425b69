"""Discord: gateway in, webhooks out. The entry point names `connector_type`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, JsonValue

from bridge.content.cards.codec import Codec
from bridge.model import AccountId
from bridge.ports.connector import ConnectorTools, SetupOption, SetupStep, Starter
from bridge.ports.exports import ExportFormat
from bridge.ports.installs import InstallableType
from bridge.ports.secret_shapes import SecretShape
from connectors.discord.home import without_read_only
from connectors.discord.ids import ids_in
from connectors.discord.installs import DiscordInstalls
from connectors.discord.secrets import SECRET_SHAPES
from connectors.discord.settings import DiscordSettings

if TYPE_CHECKING:
    from connectors.discord.connector import DiscordConnector


class DiscordType:
    """The connector type of Discord. Cheap to import: `build` imports discord.py."""

    platform = "discord"
    settings: type[BaseModel] = DiscordSettings
    starter = Starter(keys=("bot_token",), channel="general")

    def build(
        self, account: AccountId, settings: DiscordSettings, tools: ConnectorTools
    ) -> DiscordConnector:
        from connectors.discord.connector import DiscordConnector  # the SDK takes a second

        return DiscordConnector(account, settings, tools)

    def verify(self, account: AccountId, settings: DiscordSettings) -> None:
        """Accept the settings: `DiscordSettings` validates all of them."""

    def codec(self) -> Codec:
        from connectors.discord import cards  # readers, writers and tables that few commands need

        return cards

    def home(self, native: JsonValue) -> JsonValue:
        return without_read_only(native)

    def setup(self, settings: Mapping[str, str]) -> Sequence[SetupStep]:
        from connectors.discord.setup import setup_steps

        return setup_steps(settings)

    def setup_options(self) -> Sequence[SetupOption]:
        from connectors.discord.setup import OPTIONS

        return OPTIONS

    def installs(self) -> InstallableType:
        return DiscordInstalls()

    def secret_shapes(self) -> Sequence[SecretShape]:
        return SECRET_SHAPES

    def ids_in(self, word: str) -> Sequence[str]:
        return ids_in(word)

    def export_formats(self) -> Sequence[ExportFormat]:
        from connectors.discord.exports import FORMATS

        return FORMATS

    def local_platform(self) -> object:
        from connectors.discord.sandbox import LOCAL  # a production bridge imports no twin

        return LOCAL

    def sandbox_settings(self, app: Mapping[str, Any], base_url: str) -> Mapping[str, Any]:
        """Settings for an app of the local Discord (`World.apps`: its `token`)."""
        name = f"SANDBOX_DISCORD_TOKEN_{app['application_id']}"
        return {
            "bot_token": {"env": name},
            "api_url": f"{base_url}/discord/api/v10",
            "cdn_url": f"{base_url}/discord",
            "gateway_url": f"{base_url.replace('http', 'ws', 1)}/discord/gateway",
            "environment": {name: app["token"]},
        }


connector_type = DiscordType()

__all__ = ["DiscordSettings", "DiscordType", "connector_type"]
