"""Which agents of a room answer a message: mentions, threads, always. Pure but for one question."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence

from bridge.content.parts import message_text
from bridge.model import MessageId, MessagePosted
from bridge.router.rooms import AgentSeat, Room

_STOP = frozenset({"stop", "cancel", "halt"})
TakesPart = Callable[[str, MessageId], Awaitable[bool]]


async def agents_asked(
    room: Room, event: MessagePosted, root: MessageId | None, takes_part: TakesPart
) -> Sequence[AgentSeat]:
    """The agents that shall answer; a bot's words never call an agent.

    Our bot's mention means the agents that are named in the text, or the room's first. `takes_part`
    says whether an agent was called in a thread before.
    """
    if event.author.bot or not room.agents:
        return ()
    text, _ = message_text(event.message)
    named = [seat for seat in room.agents if is_named(seat.agent, text)]
    if event.addresses_us and not named:
        named = [room.agents[0]]
    return [
        seat
        for seat in room.agents
        if seat in named
        or seat.listen == "always"
        or (seat.listen == "threads" and root and await takes_part(seat.agent, root))
    ]


def wants_stop(seat: AgentSeat, event: MessagePosted) -> bool:
    """Whether the text is no question but the wish that the agent stops."""
    text, _ = message_text(event.message)
    words = re.sub(rf"@{re.escape(seat.agent)}\b", " ", text, flags=re.IGNORECASE)
    return words.strip(" \n\t,.:!").casefold() in _STOP


def is_named(agent: str, text: str) -> bool:
    """Whether `@agent` stands in the text as a word of its own."""
    return re.search(rf"(?<![\w@])@{re.escape(agent)}(?![\w-])", text, re.IGNORECASE) is not None
