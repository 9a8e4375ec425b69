"""The bridge's webhook of each channel: found or created, and stored encrypted."""

from __future__ import annotations

from dataclasses import dataclass

import orjson
import structlog

from bridge.errors import PlatformError, Refused, Unsettled
from bridge.model import ChannelRef
from bridge.ports.key_values import KeyValues
from bridge.runtime.keyed_locks import KeyedLocks
from connectors.discord import ids
from connectors.discord.identity import BotIdentity
from connectors.discord.rest import Rest

log = structlog.get_logger()

_NAME = "UACS Bridge"  # must not contain "discord" or "clyde" (docs: resources/webhook)


@dataclass(frozen=True)
class Webhook:
    """A webhook's id and token. The token lets anybody post in the channel: it is never logged."""

    id: str
    token: str

    def __repr__(self) -> str:
        return f"Webhook(id={self.id!r})"

    @property
    def path(self) -> str:
        return f"/webhooks/{self.id}/{self.token}"


class Webhooks:
    """Finds, creates and caches the webhook of each channel."""

    def __init__(self, rest: Rest, key_values: KeyValues, bot: BotIdentity) -> None:
        self._rest = rest
        self._key_values = key_values
        self._bot = bot
        self._by_channel: dict[str, Webhook] = {}
        self._of_channel = KeyedLocks[str]()
        self._own_ids: set[str] = set()
        self._strangers: dict[str, bool] = {}

    async def of(self, channel: ChannelRef) -> Webhook:
        """Return the channel's webhook, created if needed.

        Raises AuthFailed if the bot lacks Manage Webhooks, else PlatformError.
        """
        if cached := self._by_channel.get(channel.channel):
            return cached
        async with self._of_channel.hold(channel.channel):
            if cached := self._by_channel.get(channel.channel):
                return cached
            webhook = await self._stored(channel) or await self._find_or_create(channel)
            self._by_channel[channel.channel] = webhook
            self._own_ids.add(webhook.id)
            return webhook

    async def forget(self, channel: ChannelRef, webhook: Webhook) -> None:
        """Drop a webhook that was deleted or whose token is no longer valid."""
        async with self._of_channel.hold(channel.channel):
            if self._by_channel.get(channel.channel) == webhook:
                del self._by_channel[channel.channel]
                await self._key_values.remove(ids.webhook_key(channel.channel))

    def distrust(self, channel: str) -> None:
        """Verify the webhook before the next post: somebody changed the channel's webhooks."""
        self._by_channel.pop(channel, None)

    async def learn(self, channel: ChannelRef, webhook: str) -> None:
        """Look up once who owns a webhook.

        A webhook with our name that another application created carries another bridge's copies.
        """
        if webhook in self._own_ids or webhook in self._strangers:
            return
        path = f"/channels/{channel.channel}/webhooks"
        doing = f"Looking up the owner of webhook {webhook!r}"
        try:
            listed = await self._rest.request("GET", path, bucket=f"GET {path}", doing=doing)
        except Refused:
            listed = []  # without Manage Webhooks Discord does not list them
        except PlatformError as error:
            log.warning(
                "webhook_lookup_failed", channel=channel.key, webhook=webhook, error=str(error)
            )
            return
        self._strangers[webhook] = any(
            candidate.get("id") == webhook
            and candidate.get("name") == _NAME
            and candidate.get("application_id")
            for candidate in listed
        )

    def is_of_a_bridge(self, webhook_id: str) -> bool:
        """Return whether another bridge posts through the webhook, as far as `learn` knows."""
        return self._strangers.get(webhook_id, False)

    def is_ours(self, webhook_id: str) -> bool:
        return webhook_id in self._own_ids

    async def _stored(self, channel: ChannelRef) -> Webhook | None:
        stored = await self._key_values.get(ids.webhook_key(channel.channel))
        if stored is None:
            return None
        webhook = Webhook(*orjson.loads(stored))
        if await self._is_in(channel, webhook):
            return webhook
        await self._key_values.remove(ids.webhook_key(channel.channel))
        return None

    async def _is_in(self, channel: ChannelRef, webhook: Webhook) -> bool:
        """Return whether the webhook still exists and was not moved to another channel."""
        doing = f"Reading the webhook of channel {channel.channel!r}"
        try:
            webhook_data = await self._rest.request(
                "GET", webhook.path, bucket=f"webhook.get {webhook.id}", doing=doing,
                authorised=False,
            )  # fmt: skip
        except Refused:
            return False
        return isinstance(webhook_data, dict) and webhook_data.get("channel_id") == channel.channel

    async def _find_or_create(self, channel: ChannelRef) -> Webhook:
        path = f"/channels/{channel.channel}/webhooks"
        doing = f"Listing webhooks of channel {channel.channel!r} (needs Manage Webhooks)"
        identity = await self._bot.identity()
        listed = await self._rest.request("GET", path, bucket=f"GET {path}", doing=doing)
        own_webhooks = (
            w for w in listed if w.get("application_id") == identity.application and w.get("token")
        )
        webhook_data = next(own_webhooks, None) or await self._create(path, channel)
        try:
            webhook = Webhook(str(webhook_data["id"]), str(webhook_data["token"]))
        except (KeyError, TypeError):
            raise Unsettled(f"{doing}: Discord's answer holds no webhook", code="broken") from None
        key = ids.webhook_key(channel.channel)
        value = orjson.dumps([webhook.id, webhook.token]).decode()
        await self._key_values.put(key, value, sealed=True)
        return webhook

    async def _create(self, path: str, channel: ChannelRef) -> dict[str, str]:
        doing = f"Creating a webhook in channel {channel.channel!r} (needs Manage Webhooks)"
        body = {"name": _NAME}
        return await self._rest.request("POST", path, bucket=f"POST {path}", doing=doing, body=body)
