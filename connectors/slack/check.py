"""The readiness check of an account: token, scopes, channels and socket token, with advice for
each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from bridge.errors import (
    BridgeError,
    NotFound,
    PlatformError,
    RateLimited,
    Unavailable,
    Unsettled,
)
from bridge.model import ChannelRef
from bridge.ports.abilities.health import Health, Use
from bridge.ports.findings import Finding
from connectors.slack.capabilities import REQUIRED_SCOPES, SCOPES, SCOPES_OF_USES
from connectors.slack.json_values import Json, object_at, text_at
from connectors.slack.send import WebApi
from connectors.slack.settings import SlackSettings

_REINSTALL = "add it under OAuth & Permissions > Bot Token Scopes and install the app again"


@dataclass(frozen=True)
class AccountHealth:
    """The health of one account; `receiving` returns the health of its receiving side."""

    api: WebApi
    app_api: WebApi | None
    settings: SlackSettings
    public_url: str | None
    receiving: Callable[[], Health]

    def current(self) -> Health:
        """The current health: that of the credential, else that of the receiving side."""
        return self.api.credential.health(self.receiving())

    async def check(
        self, channels: Sequence[ChannelRef], uses: Collection[Use] = ()
    ) -> Sequence[Finding]:
        """Check the token, the scopes, the receiving side and the channels, in this order.

        `uses` are the optional features that the configuration uses. Returns one finding for each
        fact; a failing token ends the check. Errors of Slack become findings.
        """
        findings: list[Finding] = []
        try:
            answer = await self.api.ask("auth.test")
        except BridgeError as error:
            return [_token_finding("the bot token does not work", error)]
        team = text_at(answer.body, "team_id")
        handle = text_at(answer.body, "user")
        findings.append(
            Finding("ok", f"bot @{handle} in workspace {text_at(answer.body, 'team')!r} ({team})")
        )
        findings += _scope_findings(answer.scopes, uses)
        # An open socket proves the app token; Slack rate-limits requests for new sockets.
        app_api = None if self.receiving().state == "connected" else self.app_api
        receiving = _receive_findings(app_api, self.settings, self.public_url)
        findings += [finding async for finding in receiving]
        for channel in channels:
            findings.append(await _channel_finding(self.api, channel, team, handle))
        return findings


def _scope_findings(granted: frozenset[str], uses: Collection[Use]) -> Iterator[Finding]:
    if not granted:
        yield Finding("warning", "Slack did not return the token's scopes; they were not checked")
        return
    scopes = {**SCOPES, **dict(SCOPES_OF_USES[use] for use in uses)}
    needed = {*REQUIRED_SCOPES, *(SCOPES_OF_USES[use][0] for use in uses)}
    missing = [scope for scope in scopes if scope not in granted]
    for scope in missing:
        level = "error" if scope in needed else "warning"
        yield Finding(level, f"scope {scope} is missing: needed to {scopes[scope]}", _REINSTALL)
    if not missing:
        yield Finding("ok", "all scopes are granted")


async def _receive_findings(
    app_api: WebApi | None, settings: SlackSettings, public_url: str | None
) -> AsyncIterator[Finding]:
    if settings.receive == "http":
        if public_url is None or not public_url.startswith("https://"):
            yield Finding(
                "error",
                f"receive: http needs a public_url that Slack can reach, not {public_url!r}",
                "set public_url to the https:// address of this bridge, or use receive: socket",
            )
        return
    if app_api is None:
        return
    try:
        await app_api.read("apps.connections.open")
    except BridgeError as error:
        yield _token_finding("the app token opens no socket", error)
    else:
        yield Finding("ok", "the app token opens a socket")


def _token_finding(problem: str, error: BridgeError) -> Finding:
    """The finding for a failed call; without an answer, it says nothing about the token."""
    if isinstance(error, (RateLimited, Unavailable, Unsettled)):
        todo = "check the network and api_url, then try again: the token was not checked"
        return Finding("error", f"Slack cannot be asked: {error}", todo)
    return Finding("error", f"{problem}: {error}", _advice(error))


async def _channel_finding(api: WebApi, channel: ChannelRef, team: str, handle: str) -> Finding:
    if channel.workspace != team:
        return Finding(
            "error",
            f"channel {channel.channel!r} is configured for workspace {channel.workspace!r}, "
            f"but this token is for {team!r}",
            "use the account of that workspace for it",
        )
    try:
        answer = await api.read("conversations.info", channel=channel.channel)
    except NotFound as error:
        todo = f"check the id; in a private channel first say /invite @{handle}"
        return Finding("error", str(error), todo)
    except (RateLimited, Unavailable, Unsettled) as error:
        problem = f"channel {channel.channel!r} was not checked: {error}"
        return Finding("warning", problem, "try again later")
    except PlatformError as error:
        return Finding("error", str(error), _advice(error))
    return _membership(channel, object_at(answer, "channel"), handle)


def _membership(channel: ChannelRef, info: Json, handle: str) -> Finding:
    name = f"#{text_at(info, 'name')}" if text_at(info, "name") else "the direct message"
    label = f"channel {channel.channel!r} ({name})"
    if info.get("is_archived") is True:
        return Finding("error", f"{label} is archived", "unarchive it or take it out of its room")
    if info.get("is_member") is False:
        return Finding("error", f"the bot is not in {label}", f"say /invite @{handle} there")
    return Finding("ok", f"{label} can be read and written")


def _advice(error: BridgeError) -> str:
    """The advice, which is the last part of the error's text."""
    return str(error).rpartition(": ")[2].rpartition("; ")[2]
