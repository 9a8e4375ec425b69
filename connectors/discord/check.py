"""Checks of an account before the start: token, intents, and permissions of each channel."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bridge.errors import AuthFailed, NotFound, PlatformError
from bridge.model import ChannelRef
from bridge.ports.abilities.health import Health, Use
from bridge.ports.findings import Finding
from connectors.discord import ids
from connectors.discord.capabilities import (
    CHANNEL_KINDS,
    MESSAGE_CONTENT_FLAGS,
    PERMISSIONS,
    REQUIRED_PERMISSIONS,
)
from connectors.discord.channels import guild_facts, permissions_in
from connectors.discord.identity import BotIdentity, Identity
from connectors.discord.rest import Rest
from connectors.discord.setup import invite_link

_RESET_TODO = (
    "Developer portal, your application, page Bot: Reset Token, and put it where the setting"
    " bot_token points to."
)
_INTENT_TODO = (
    "Developer portal, your application, page Bot, Privileged Gateway Intents: switch on MESSAGE"
    " CONTENT INTENT and save; without it Discord does not let the bot connect."
)
_LEAVES_UNREPORTED = (
    "Departures from a server are not relayed: Discord reports them only with the privileged intent"
    " SERVER MEMBERS, which the bridge does not request"
)


@dataclass(frozen=True)
class AccountHealth:
    """The health of one account; `receiving` returns the state of its gateway connection."""

    rest: Rest
    bot: BotIdentity
    receiving: Callable[[], Health]

    def current(self) -> Health:
        return self.rest.credential.health(self.receiving())

    async def check(
        self, channels: Sequence[ChannelRef], uses: Collection[Use] = ()
    ) -> Sequence[Finding]:
        """Return the findings on token, intents and permissions, each with its remedy.

        Errors of the platform become findings; nothing is raised.
        """
        try:
            identity = await self.bot.identity(fresh=True)
        except AuthFailed:
            return [Finding("error", "Discord refuses the bot token", _RESET_TODO)]
        except PlatformError as error:
            return [Finding("error", str(error), "Check the network and api_url, then try again.")]
        findings = [Finding("ok", f"The bot token is that of {identity.name!r}")]
        if identity.flags & MESSAGE_CONTENT_FLAGS:
            findings.append(Finding("ok", "The intent MESSAGE CONTENT is granted"))
        else:
            findings.append(Finding("error", "The intent MESSAGE CONTENT is missing", _INTENT_TODO))
        findings.append(Finding("ok", _LEAVES_UNREPORTED))
        return findings + [
            finding async for finding in _check_channels(self.rest, identity, channels)
        ]


async def _check_channels(
    rest: Rest, identity: Identity, channels: Sequence[ChannelRef]
) -> AsyncIterator[Finding]:
    by_guild: dict[str, list[ChannelRef]] = {}
    for channel in channels:
        if not ids.is_direct(channel):
            by_guild.setdefault(channel.workspace, []).append(channel)
    for guild, refs in by_guild.items():
        try:
            guild_data, member, listed = await guild_facts(rest, guild, identity.user)
        except (NotFound, AuthFailed):
            yield Finding("error", f"The bot is not in server {guild!r}", _invite_todo(identity))
            continue
        except PlatformError as error:
            yield Finding("error", str(error), "Try again later.")
            continue
        channels_by_id = {str(channel.get("id")): channel for channel in listed}
        for channel in refs:
            for finding in _check_channel(
                channel, channels_by_id.get(channel.channel), guild_data, member, identity
            ):
                yield finding


def _check_channel(
    ref: ChannelRef,
    channel: dict[str, Any] | None,
    guild: dict[str, Any],
    member: dict[str, Any],
    identity: Identity,
) -> Iterator[Finding]:
    where = f"{guild.get('name')!r}"
    if channel is None:
        todo = "Check the id (right click, Copy Channel ID); a thread's id is not its channel's."
        yield Finding("error", f"Channel {ref.channel!r} is not in server {where}", todo)
        return
    name = f"#{channel.get('name')} in {where}"
    if channel.get("type") not in CHANNEL_KINDS:
        yield Finding("error", f"{name} is a category, not a channel", "Choose a text channel.")
        return
    granted = permissions_in(guild, member, channel, identity.user)
    missing = [permission for permission in PERMISSIONS if not granted & PERMISSIONS[permission]]
    if needed := [permission for permission in missing if permission in REQUIRED_PERMISSIONS]:
        yield Finding(
            "error", f"{name}: the bot lacks {', '.join(needed)}", _permission_todo(needed)
        )
    elif missing:
        yield Finding("warning", f"{name}: the bot lacks {', '.join(missing)}",
                      _permission_todo(missing))  # fmt: skip
    else:
        yield Finding("ok", f"{name}: no permission is missing")


def _permission_todo(missing: Sequence[str]) -> str:
    names = ", ".join(missing)
    return f"Edit Channel, Permissions: allow the bot's role {names} (or invite the bot again)."


def _invite_todo(identity: Identity) -> str:
    return f"Open {invite_link(identity.application)} and choose the server."
