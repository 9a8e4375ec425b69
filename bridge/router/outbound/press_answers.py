"""What somebody who pressed a button is told: alone, or in their channel under their name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bridge.content.markdown import text_to_markdown
from bridge.content.text.tree import Block, Inline, Paragraph, Strong, Text
from bridge.model import AccountId, ActionPressed, Level, MessageId
from bridge.ports.connector import Connector
from bridge.router.outbound.notices import Notices, notice_id
from bridge.router.rooms.people import People
from bridge.router.rooms.rooms import Room


@dataclass(frozen=True)
class PressAnswers:
    """Says once for each press what came of it."""

    connectors: Mapping[AccountId, Connector]
    people: People
    notices: Notices

    async def say(
        self,
        event: ActionPressed,
        key: str,
        room: Room,
        about: MessageId,
        line: tuple[Inline, ...],
        *more: Block,
    ) -> None:
        """To the one who pressed alone; in their channel, as an answer to the message that it is
        `about`, where nobody can be whispered to. `key` is that of the press. Nothing where the
        room does not have the channel: programs are told by the outcome."""
        member = room.member(event.place.channel)
        if member is None:
            return
        connector = self.connectors.get(member.account)
        features = connector.capabilities.features if connector else {}
        whispers = features.get("whispers", Level.DROPPED) in (Level.FULL, Level.PARTIAL)
        alone = whispers or event.answers is not None
        if not alone:
            name = await self.people.stored_name(event.actor)
            line = (Strong((Text(name),)), Text(": "), *line)
        await self.notices.say(
            notice_id("press", event.place.channel.key, key),
            text_to_markdown((Paragraph(line), *more)),
            room.id,
            [member],
            reply_to=None if alone else about,
            to=event.actor if alone else None,
            answers=event.answers,
        )
