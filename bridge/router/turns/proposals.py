"""Agents that an agent proposes for a room: a card asks people whether one of them shall come, on
every platform."""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from bridge.content.cards.tree import Button
from bridge.content.markdown import text_to_markdown
from bridge.content.messages.agent_parts import ProposedAgent
from bridge.content.text.tree import Block, Inline, Link, Paragraph, Strong, Text
from bridge.model import MessageId
from bridge.model.archive_records import StoredMessage
from bridge.model.refs import split_key
from bridge.router.outbound.notices import Notices, notice_id
from bridge.router.rooms.rooms import Room

log = structlog.get_logger()

INVITE = "bridge.invite"  # the id of a button; its value is whom it invites
NO_THANKS = "bridge.no_thanks"
_MOST = 3  # agents that one card offers


class ProposalCards:
    """Shows what an agent proposes."""

    def __init__(self, notices: Notices) -> None:
        self._notices = notices

    async def offer(
        self, room: Room, by: str, proposed: Sequence[ProposedAgent], answer: MessageId,
        origin: StoredMessage,
    ) -> None:  # fmt: skip
        """Ask the room, in the thread of the question. Raises StoreError."""
        offered = proposed[:_MOST]
        head: list[Inline] = [Text("🤝 "), Strong((Text(by),)), Text(" proposes to invite:")]
        words: list[Block] = [Paragraph(tuple(head))]
        words += [Paragraph(_described(one)) for one in offered]
        buttons = [
            Button((Text(f"Invite {one.name}"),), id=INVITE, value=one.who, style="good")
            for one in offered
        ]
        question = MessageId(origin.message.message_id)
        await self._notices.post(
            proposal_id(answer, question),
            text_to_markdown(tuple(words)),
            room.id,
            room.listeners(),
            timeline=room.timeline,
            root=origin.root,
            reply_to=question,
            buttons=[*buttons, Button((Text("No thanks"),), id=NO_THANKS)],
        )
        log.info("agents_proposed", room=room.id, by=by, agents=[one.name for one in offered])


def proposal_id(answer: MessageId, question: MessageId) -> MessageId:
    """Return the id of the card for what an answer proposes for a question."""
    return notice_id("proposal", answer, question)


def question_of(card: MessageId) -> MessageId:
    """Return the question that the proposal of a card is about."""
    return MessageId(split_key(card)[-1])


def _described(agent: ProposedAgent) -> tuple[Inline, ...]:
    name: Inline = Strong((Text(agent.name),))
    if agent.url:
        name = Link(agent.url, (name,))
    about = f" — {agent.synopsis}" if agent.synopsis else ""
    return (name, Text(about))
