"""Addresses of messages as people copy them in Slack <-> where the messages stand. Pure."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

from bridge.model import ChannelRef, Receipt
from connectors.slack import ids
from connectors.slack.identity import Self
from connectors.slack.ids import Identity

_ARCHIVES = re.compile(r"/archives/([A-Z0-9]{2,24})/p(\d{10,11})(\d{6})/?")


class Links:
    """The addresses of messages in our workspace; none are known before its own address is."""

    def __init__(self, us: Self) -> None:
        self._us = us

    def message_at(self, url: str) -> tuple[ChannelRef, str] | None:
        us = self._us.known
        return message_at(url, us) if us and us.url else None

    def address_of(self, channel: ChannelRef, copy: Receipt) -> str:
        us = self._us.known
        return address_of(channel, copy, us) if us and us.url else ""


def message_at(url: str, us: Identity) -> tuple[ChannelRef, str] | None:
    """Only of our own workspace: another's ids mean nothing here."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.hostname == urlsplit(us.url).hostname:
        found = _ARCHIVES.fullmatch(parts.path)
        return (ids.channel_ref(us.team, found[1]), f"{found[2]}.{found[3]}") if found else None
    given = {key: values[0] for key, values in parse_qs(parts.query).items()}
    team, channel, ts = (given.get(key, "") for key in ("team", "channel", "message_ts"))
    if parts.hostname != "slack.com" or team != us.team or not channel or not ids.is_ts(ts):
        return None
    return ids.channel_ref(team, channel), ts


def address_of(channel: ChannelRef, copy: Receipt, us: Identity) -> str:
    thread = f"?thread_ts={copy.thread}&cid={channel.channel}" if copy.thread else ""
    return f"{us.url}archives/{channel.channel}/p{copy.native_id.replace('.', '')}{thread}"
