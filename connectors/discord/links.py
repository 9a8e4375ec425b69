"""Links to messages, as people copy them in Discord <-> channel and message id. Pure."""

from __future__ import annotations

import re

from bridge.model import ChannelRef, Receipt
from connectors.discord import ids

_JUMP = re.compile(
    r"https://(?:ptb\.|canary\.)?discord(?:app)?\.com/channels/(\d{1,20})/(\d{1,20})/(\d{1,20})/?"
)


def message_at(url: str) -> tuple[ChannelRef, str] | None:
    """Return the channel and message id of a message link; None for any other URL.

    The channel may be a thread: a link does not name the thread's parent.
    """
    match = _JUMP.fullmatch(url)
    return (ids.channel_ref(match[1], match[2]), match[3]) if match else None


def address_of(channel: ChannelRef, copy: Receipt) -> str:
    return ids.jump_link(channel, copy.thread, copy.native_id)
