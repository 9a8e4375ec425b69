"""The Microsoft Teams connector, which uses the Bot Framework. Importing it loads no SDK."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue

from bridge.content.cards.codec import Codec
from bridge.model import AccountId
from bridge.ports.connector import ConnectorTools, SetupOption, SetupStep, Starter
from bridge.ports.exports import ExportFormat
from bridge.ports.installs import InstallableType
from connectors.teams.home import without_read_only
from connectors.teams.ids import PLATFORM
from connectors.teams.settings import TeamsSettings
from connectors.teams.setup import OPTIONS, setup_steps

if TYPE_CHECKING:
    from connectors.teams.connector import TeamsConnector

__all__ = ["TeamsSettings", "TeamsType", "connector_type"]


class TeamsType:
    """The `ConnectorType` of Teams."""

    platform = PLATFORM
    settings = TeamsSettings
    starter = Starter(
        keys=("app_id", "app_password", "tenant_id"), channel="", lists=False, called=True
    )

    def build(
        self, account: AccountId, settings: TeamsSettings, tools: ConnectorTools
    ) -> TeamsConnector:
        """Return the connector of one account.

        Raises ConfigError if `validate_tokens` is off while `service_hosts` names another machine.
        """
        from connectors.teams.connector import TeamsConnector

        self.verify(account, settings)
        return TeamsConnector(account, settings, tools)

    def verify(self, account: AccountId, settings: TeamsSettings) -> None:
        """Raises ConfigError if `validate_tokens` is off and another machine can call the bot."""
        settings.check_safe(account)

    def codec(self) -> Codec:
        from connectors.teams import cards  # large, and few commands need it

        return cards

    def home(self, native: JsonValue) -> JsonValue:
        return without_read_only(native)

    def setup(self, settings: Mapping[str, str]) -> Sequence[SetupStep]:
        return setup_steps(settings)

    def setup_options(self) -> Sequence[SetupOption]:
        return OPTIONS

    def installs(self) -> InstallableType:
        from connectors.teams.installs import TeamsInstalls  # few configurations have it

        return TeamsInstalls()

    def local_platform(self) -> object:
        from connectors.teams.sandbox import LOCAL  # not imported in production

        return LOCAL

    def export_formats(self) -> Sequence[ExportFormat]:
        from connectors.teams.exports import FORMATS  # few commands need them

        return FORMATS

    def sandbox_settings(self, app: Mapping[str, Any], base_url: str) -> Mapping[str, Any]:
        """Return settings for a local app: only the addresses differ from production."""
        password = f"SANDBOX_TEAMS_{str(app['key']).upper().replace('-', '_')}_PASSWORD"
        return {
            "app_id": app["app_id"],
            "app_password": {"env": password},
            "tenant_id": app["tenant"],
            "validate_tokens": app["auth"],
            "login_url": f"{base_url}/teams/login",
            "openid_url": app["openid_url"],
            "service_hosts": ["127.0.0.1"],
            "drive_hosts": ["127.0.0.1"],
            "default_service_url": app["service_url"],
            "environment": {password: app["app_password"]},
        }


connector_type = TeamsType()
