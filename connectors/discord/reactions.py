"""Sends the calls of `marks` to Discord: the bot's reactions and pins, with custom emoji ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from bridge.errors import FormRefused, Refused
from bridge.model import Call, ChannelRef, Receipt
from bridge.ports.clock import Clock
from connectors.discord import ids
from connectors.discord.marks import REACT, TAKE_PIN, UNREACT
from connectors.discord.rest import (
    MISSING_ACCESS,
    MISSING_PERMISSIONS,
    UNKNOWN_MESSAGE,
    Rest,
)
from connectors.discord.unpinned import OwnUnpins

_FRESH_S = 600.0  # a guild's custom emoji are cached for this long
_TOO_MANY_PINS, _TOO_MANY_REACTIONS, _SYSTEM_MESSAGE = "30003", "30010", "50021"
_BLOCKED, _UNKNOWN_EMOJI = "90001", "10014"
# The router posts a note when the bot is not allowed or not able to react.
_NOT_POSSIBLE = frozenset({
    MISSING_ACCESS, MISSING_PERMISSIONS, _TOO_MANY_PINS, _TOO_MANY_REACTIONS, _SYSTEM_MESSAGE,
    _BLOCKED, _UNKNOWN_EMOJI,
})  # fmt: skip


@dataclass(frozen=True)
class _Emoji:
    """A guild's custom emoji: name -> `name:id`."""

    native: Mapping[str, str]
    until: float


class ReactionSender:
    """Adds and removes reactions and pins. A mark that already has the state is no error."""

    def __init__(self, rest: Rest, clock: Clock, own_unpins: OwnUnpins) -> None:
        self._rest = rest
        self._clock = clock
        self._own_unpins = own_unpins
        self._emoji: dict[str, _Emoji] = {}

    async def put(self, call: Call) -> Receipt:
        try:
            await self._request(call)
        except Refused as error:
            if error.code in _NOT_POSSIBLE:
                raise FormRefused(str(error), code=error.code) from error
            if error.code != UNKNOWN_MESSAGE:
                raise
        return Receipt(slot=call.slot, native_id=call.native_id or "", thread=call.thread)

    async def _request(self, call: Call) -> None:
        channel = call.thread or call.channel.channel
        if call.method in (REACT, UNREACT):
            emoji = await self._native(call.channel, str(call.body["emoji"]))
            path = f"/channels/{channel}/messages/{call.native_id}/reactions/{emoji}/@me"
            bucket, doing = f"reactions {channel}", "Reacting in"
        else:
            path = f"/channels/{channel}/messages/pins/{call.native_id}"
            bucket, doing = f"pins {channel}", "Pinning in"
        if call.method == TAKE_PIN and call.native_id:
            self._own_unpins.note(call.native_id)
        await self._rest.request(
            "DELETE" if call.method in (UNREACT, TAKE_PIN) else "PUT", path, bucket=bucket,
            doing=f"{doing} channel {channel!r}",
        )  # fmt: skip

    async def _native(self, channel: ChannelRef, emoji: str) -> str:
        """Return the emoji URL-encoded; raises FormRefused if the guild lacks a custom emoji."""
        if len(emoji) < 3 or not (emoji[0] == emoji[-1] == ":"):
            return quote(emoji, safe="")
        name = emoji[1:-1]
        custom_emoji = {} if ids.is_direct(channel) else await self._of_guild(channel.workspace)
        if name not in custom_emoji:
            text = f"Reacting in channel {channel.channel!r}: the server has no emoji {emoji}"
            raise FormRefused(text, code=_UNKNOWN_EMOJI)
        return quote(custom_emoji[name], safe="")

    async def _of_guild(self, guild: str) -> Mapping[str, str]:
        cached = self._emoji.get(guild)
        if cached is None or cached.until < self._clock.monotonic():
            doing = f"Listing the emoji of server {guild!r}"
            path = f"/guilds/{guild}/emojis"
            answer = await self._rest.request("GET", path, bucket=f"emoji {guild}", doing=doing)
            emoji_list = answer if isinstance(answer, list) else []
            native = {
                str(emoji["name"]): f"{emoji['name']}:{emoji['id']}"
                for emoji in emoji_list
                if isinstance(emoji, dict) and emoji.get("name") and emoji.get("id")
            }
            cached = self._emoji[guild] = _Emoji(native, self._clock.monotonic() + _FRESH_S)
        return cached.native
