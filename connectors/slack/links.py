"""Links to messages as people copy them in Slack <-> channel and ts. Pure."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

from bridge.model import ChannelRef, Receipt
from connectors.slack import ids
from connectors.slack.identity import OwnIdentity
from connectors.slack.ids import Identity

_ARCHIVES = re.compile(r"/archives/([A-Z0-9]{2,24})/p(\d{10,11})(\d{6})/?")


class Links:
    """The links to messages of our workspace; none before our own identity is known."""

    def __init__(self, own_identity: OwnIdentity) -> None:
        self._own_identity = own_identity

    def message_at(self, url: str) -> tuple[ChannelRef, str] | None:
        """The channel and ts that a link names; None for other URLs."""
        identity = self._own_identity.cached
        return message_at(url, identity) if identity and identity.url else None

    def address_of(self, channel: ChannelRef, copy: Receipt) -> str:
        """The link to a copy; "" before our own identity is known."""
        identity = self._own_identity.cached
        return address_of(channel, copy, identity) if identity and identity.url else ""


def message_at(url: str, identity: Identity) -> tuple[ChannelRef, str] | None:
    """The channel and ts that a link into our own workspace names; None for other URLs."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.hostname == urlsplit(identity.url).hostname:
        match = _ARCHIVES.fullmatch(parts.path)
        return (
            (ids.channel_ref(identity.team, match[1]), f"{match[2]}.{match[3]}") if match else None
        )
    query = {key: values[0] for key, values in parse_qs(parts.query).items()}
    team, channel, ts = (query.get(key, "") for key in ("team", "channel", "message_ts"))
    if parts.hostname != "slack.com" or team != identity.team or not channel or not ids.is_ts(ts):
        return None
    return ids.channel_ref(team, channel), ts


def address_of(channel: ChannelRef, copy: Receipt, identity: Identity) -> str:
    thread = f"?thread_ts={copy.thread}&cid={channel.channel}" if copy.thread else ""
    return f"{identity.url}archives/{channel.channel}/p{copy.native_id.replace('.', '')}{thread}"
