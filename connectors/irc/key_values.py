"""Which cards stand in a place, kept across restarts: people answer the newest by a number."""

from __future__ import annotations

import json

from bridge.model import ChannelRef
from bridge.ports.key_values import KeyValues

_MAX_CARDS = 20  # cards of one place


def _key(channel: ChannelRef) -> str:
    return f"cards in {channel.key}"


async def remember_card(
    key_values: KeyValues, channel: ChannelRef, code: str, native_id: str
) -> None:
    """The card is the newest of its place from now on."""
    cards = [card for card in await cards_in(key_values, channel) if card[0] != code]
    await key_values.put(_key(channel), json.dumps([*cards, (code, native_id)][-_MAX_CARDS:]))


async def cards_in(key_values: KeyValues, channel: ChannelRef) -> list[tuple[str, str]]:
    """Code and native id of each card, the newest last."""
    stored = await key_values.get(_key(channel))
    cards = json.loads(stored) if stored else []
    return [(str(code), str(native_id)) for code, native_id in cards]
