"""IRC: one connection to a network, in and out. `connector_type` is what the entry point names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, JsonValue

from bridge.content.cards.codec import Codec
from bridge.model import AccountId
from bridge.ports.connector import ConnectorTools, SetupStep, Starter
from connectors.irc.settings import IrcSettings

if TYPE_CHECKING:
    from bridge.ports.exports import ExportFormat
    from connectors.irc.connector import IrcConnector


class IrcType:
    """Cheap to import: the protocol comes in with `build`."""

    platform = "irc"
    settings: type[BaseModel] = IrcSettings
    starter = Starter(keys=("host", "nick"), channel="#general", lists=False)

    def build(
        self, account: AccountId, settings: IrcSettings, tools: ConnectorTools
    ) -> IrcConnector:
        from connectors.irc.connector import IrcConnector  # parts that few commands need

        return IrcConnector(account, settings, tools)

    def verify(self, account: AccountId, settings: IrcSettings) -> None:
        """Raises ConfigError where a certificate cannot be read."""
        if settings.ca_file is None and settings.client_certificate is None:
            return
        from connectors.irc.link import Endpoint  # brings ssl in

        Endpoint(
            settings.host, settings.port, settings.tls, settings.ca_file,
            settings.client_certificate,
        ).context()  # fmt: skip

    def codec(self) -> Codec:
        from connectors.irc import cards  # readers and writers that few commands need

        return cards

    def home(self, native: JsonValue) -> JsonValue:
        """A message of IRC is its text: `{"text": ...}`."""
        from connectors.irc.capabilities import READ_ONLY

        if isinstance(native, str):
            return {"text": native}
        if not isinstance(native, dict):
            return native
        return {key: value for key, value in native.items() if key not in READ_ONLY}

    def export_formats(self) -> Sequence[ExportFormat]:
        from connectors.irc.exports import FORMATS  # few commands need them

        return FORMATS

    def setup(self, settings: Mapping[str, str]) -> Sequence[SetupStep]:
        from connectors.irc.setup import setup_steps

        return setup_steps(settings)

    def local_platform(self) -> object:
        from connectors.irc.sandbox import LOCAL  # a production bridge imports no twin

        return LOCAL

    def sandbox_settings(self, app: Mapping[str, Any], base_url: str) -> Mapping[str, Any]:
        """Settings for an app of the local IRC (`World.apps`): the `host` and `port` of its
        network and the bot's `nick`. The local server takes long messages quickly."""
        return {
            "host": app["host"],
            "port": app["port"],
            "tls": False,
            "nick": app["nick"],
            "network": app.get("network", "local"),
            "channels": list(app.get("channels", ())),
            "max_lines": 100,
            "burst": 500,
            "lines_per_second": 500.0,
        }


connector_type = IrcType()

__all__ = ["IrcSettings", "IrcType", "connector_type"]
