"""Presses: `!1` in a channel, as an answer to a card that stands there."""

from __future__ import annotations

import structlog

from bridge.content.cards.reader import Cards
from bridge.errors import BridgeError
from bridge.model import ChannelRef
from bridge.ports.key_values import KeyValues
from connectors.irc.actions import read_press, token_and_values
from connectors.irc.decode import PRESS
from connectors.irc.inbox_writer import InboxWriter
from connectors.irc.key_values import cards_in
from connectors.irc.wire import Line

log = structlog.get_logger()


class Presses:
    """Writes presses to the inbox."""

    def __init__(self, writer: InboxWriter, cards: Cards, key_values: KeyValues) -> None:
        self._writer = writer
        self._cards = cards
        self._key_values = key_values

    async def receive(self, line: Line, channel: ChannelRef, account: str) -> bool:
        """Write the press that the line is. False: it is none, because it names no action of a card
        of this channel."""
        if line.command != "PRIVMSG" or not line.last.lstrip().startswith("!"):
            return False
        try:
            cards = await cards_in(self._key_values, channel)
            press = read_press(line.last, [code for code, _ in cards])
            if press is None or not cards:
                return False
            reply_to = line.tags.get("+reply") or line.tags.get("+draft/reply")
            named = [card for code, card in cards if press.code in ("", code)]
            target = reply_to if reply_to in [card for _, card in cards] else named[-1]
            message = await self._writer.message_shown_as(channel, str(target))
        except BridgeError as error:
            log.warning("press_unreadable", channel=channel.key, error=str(error))
            return False
        if message is None or self._cards.live_tokens(message) is None:
            return False
        card, _ = self._cards.read(message)
        action = token_and_values(card, press, self._cards.tokens(message))
        if action is None:
            return False
        token, values = action
        details = {"token": token, "target": target, "values": values}
        await self._writer.event(line, channel, kind=PRESS, press=details, account=account)
        return True
