"""The Slack connector type that the entry point names; only `build` imports the SDK."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, JsonValue

from bridge.content.cards.codec import Codec
from bridge.model import AccountId
from bridge.ports.connector import Connector, ConnectorTools, SetupOption, SetupStep, Starter
from bridge.ports.exports import ExportFormat
from bridge.ports.installs import InstallableType
from bridge.ports.secret_shapes import SecretShape
from connectors.slack.home import without_read_only
from connectors.slack.ids import PLATFORM, ids_in
from connectors.slack.installs import SlackInstalls
from connectors.slack.secrets import SECRET_SHAPES
from connectors.slack.settings import SlackSettings
from connectors.slack.setup import OPTIONS, steps


class SlackType:
    """The factory of Slack accounts, and what the commands know of Slack without an account."""

    platform: str = PLATFORM
    settings: type[BaseModel] = SlackSettings
    starter = Starter(keys=("bot_token", "app_token"), channel="#general")

    def build(self, account: AccountId, settings: Any, tools: ConnectorTools) -> Connector:
        from connectors.slack.connector import SlackConnector  # the SDK takes a second to import

        return SlackConnector(account, settings, tools)

    def verify(self, account: AccountId, settings: Any) -> None:
        """Check nothing: any settings that can be parsed can be used."""

    def codec(self) -> Codec:
        from connectors.slack import cards  # readers, writers and tables that few commands need

        return cards

    def home(self, native: JsonValue) -> JsonValue:
        return without_read_only(native)

    def setup(self, settings: Mapping[str, str]) -> Sequence[SetupStep]:
        return steps(settings)

    def setup_options(self) -> Sequence[SetupOption]:
        return OPTIONS

    def installs(self) -> InstallableType:
        return SlackInstalls()

    def secret_shapes(self) -> Sequence[SecretShape]:
        return SECRET_SHAPES

    def ids_in(self, word: str) -> Sequence[str]:
        return ids_in(word)

    def local_platform(self) -> object:
        from connectors.slack.sandbox import LOCAL  # a production bridge imports no twin

        return LOCAL

    def export_formats(self) -> Sequence[ExportFormat]:
        from connectors.slack.exports import FORMATS  # few commands need them

        return FORMATS

    def sandbox_settings(self, app: Mapping[str, Any], base_url: str) -> Mapping[str, Any]:
        names = {
            key: f"SANDBOX_{app['app_id']}_{key.upper()}"
            for key in ("bot_token", "app_token", "signing_secret")
        }
        return {
            **{key: {"env": name} for key, name in names.items()},
            "receive": "socket",
            "api_url": f"{base_url}/slack/api/",
            "environment": {name: app[key] for key, name in names.items()},
        }


connector_type = SlackType()

__all__ = ["SlackType", "connector_type"]
