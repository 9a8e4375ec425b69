"""Links to messages, as people copy them in Teams <-> channel and message id. Pure."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, unquote, urlsplit

from bridge.model import ChannelRef, Receipt
from connectors.teams import ids
from connectors.teams.content import origin_of

_MESSAGE = re.compile(r"/l/message/(19:[^/]{1,400})/(\d{10,20})/?")


def message_at(url: str) -> tuple[ChannelRef, str] | None:
    """Return channel and message id of a link; None for other addresses.

    A link without `tenantId` is ambiguous, so it gives None.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    match = _MESSAGE.fullmatch(unquote(parts.path))
    tenant = parse_qs(parts.query).get("tenantId", [""])[0]
    if parts.hostname != "teams.microsoft.com" or match is None or not tenant:
        return None
    return ids.channel_ref(tenant, match[1]), match[2]


def address_of(channel: ChannelRef, copy: Receipt) -> str:
    """Return the link to a posted copy."""
    parent = f"&parentMessageId={copy.thread}" if copy.thread else ""
    return origin_of(channel.channel, copy.native_id, channel.workspace) + parent
