"""Checks of an account before it starts; each finding says what to do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from urllib.parse import urlsplit

from bridge.errors import BridgeError, RateLimited, Unavailable, Unsettled
from bridge.model import ChannelRef
from bridge.ports.abilities.health import Health, Use
from bridge.ports.findings import Finding
from connectors.teams.references import References
from connectors.teams.send import BotToken, Sender
from connectors.teams.settings import LOOPBACK, TeamsSettings


@dataclass(frozen=True)
class AccountHealth:
    """The health of one bot; `receiving` returns the state of its messaging endpoint."""

    settings: TeamsSettings
    public_url: str | None
    token: BotToken
    references: References
    sender: Sender
    receiving: Callable[[], Health]

    def current(self) -> Health:
        return self.sender.credential.health(self.receiving())

    async def check(
        self, channels: Sequence[ChannelRef], uses: Collection[Use] = ()
    ) -> Sequence[Finding]:
        """Check tenant, token, public address, token validation and the reference of each channel.

        Returns a finding for each; failed requests become findings too.
        """
        of_channels = [
            await _check_channel(channel, self.settings, self.references) for channel in channels
        ]
        return [
            *_check_tenant(self.settings),
            await _check_token(self.token),
            _check_public_url(self.public_url),
            *_check_validation(self.settings),
            *of_channels,
            _sdk_note(),
        ]


def _check_tenant(settings: TeamsSettings) -> list[Finding]:
    if settings.tenant_id is not None:
        return []
    text = "tenant_id is not set: the bot answers in every tenant that installs it"
    return [Finding("warning", text, "Set tenant_id unless that is meant")]


async def _check_token(token: BotToken) -> Finding:
    try:
        await token.get()
    except (RateLimited, Unavailable, Unsettled) as error:
        todo = "Check the network and login_url, then try again: the secret was not looked at"
        return Finding("error", f"The identity provider cannot be asked: {error}", todo)
    except BridgeError as error:
        todo = "Check app_id, tenant_id and the secret's value (not its id) and expiry"
        return Finding("error", f"No token for the bot: {error}", todo)
    return Finding("ok", "The identity provider gives the bot a token")


def _check_public_url(public_url: str | None) -> Finding:
    endpoint = "<public_url>/<account>/messages"
    if not public_url:
        todo = f"Set public_url and enter {endpoint} as the bot's messaging endpoint"
        return Finding("error", "public_url is not set, so Teams cannot reach the bot", todo)
    parts = urlsplit(public_url)
    if parts.scheme != "https" and parts.hostname not in LOOPBACK:
        todo = "Put TLS in front of the bridge and write https://"
        return Finding("error", f"public_url {public_url!r} is not https", todo)
    return Finding("ok", f"Teams reaches the bot below {public_url}")


def _check_validation(settings: TeamsSettings) -> list[Finding]:
    if settings.validate_tokens:
        return [Finding("ok", "Activities are taken only with a token of the Bot Framework")]
    problem = "validate_tokens is off: whoever reaches the endpoint can post as anybody"
    return [Finding("warning", problem, "Good for the sandbox only; remove the line otherwise")]


async def _check_channel(
    channel: ChannelRef, settings: TeamsSettings, references: References
) -> Finding:
    if settings.tenant_id and channel.workspace != settings.tenant_id:
        problem = f"Channel {channel} is in tenant {channel.workspace!r}, not in tenant_id"
        return Finding("error", problem, "Correct the tenant of the channel or of the account")
    if await references.get(channel.channel):
        return Finding("ok", f"Channel {channel} was heard from")
    todo = "Install the app in its team or chat, or mention the bot there once"
    if await references.service_url(channel) or settings.default_service_url:
        problem = f"Channel {channel} was not heard from yet; posts go to its tenant's address"
        return Finding("warning", problem, todo)
    problem = f"Channel {channel} was never heard from, so nothing can be posted there"
    return Finding("error", problem, f"{todo}, or set default_service_url")


def _sdk_note() -> Finding:
    try:
        installed = version("botbuilder-core")
    except PackageNotFoundError:
        return Finding(
            "error",
            "botbuilder-core is not installed",
            "run `pip install .` in the folder of the bridge's source",
        )
    label = f"botbuilder-core {installed}; Microsoft ended its support on 2025-12-31"
    return Finding("ok", f"{label}: only receive.py and send.py use it")
