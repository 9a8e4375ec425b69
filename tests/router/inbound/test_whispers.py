"""A whisper, which only some people may see, enters no room's timeline, and no channel shows it.

`Received.is_whisper` decides once; each guard that asks it is tested by itself: `PlaceInTimelines`
keeps whispers out of the rooms' timelines, `Route` shows them in no channel and lets no agent
answer them. Messages made of presses and of channel events have the audience of their event, and
`Notices` keeps a notice `to` one person out of a timeline. The store shows no whisper to readers of
a conversation besides (`bridge/testing/store_contract.py`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from bridge.content.cards.interactions import action_token
from bridge.model import ActorId, Event, Raw, TopicChanged, actor_id_of
from bridge.router import AgentMembership
from bridge.router.outbound.notices import notice_id
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.inbound.test_presses import KEY, PressedFake, card_of, fakes, rig
from tests.router.turns.test_selection import Club

__all__ = ["rig"]  # a fixture

ANN = actor_id_of("fake", "sales", "ann")


class WhisperedPresses(PressedFake):
    """Only the person who pressed sees the card of a press."""

    def decode(self, raw: Raw) -> list[Event]:
        events = super().decode(raw)
        if raw.kind != "press":
            return events
        return [event.model_copy(update={"audience": (ANN,)}) for event in events]


Post = Callable[[], Awaitable[object]]


async def a_message(rig: RouterRig) -> Post:
    sales, _ = fakes(rig)
    return lambda: sales.say("s", "between us", audience="ann")


async def a_channel_event(rig: RouterRig) -> Post:
    sales, _ = fakes(rig)
    return lambda: sales.happen(TopicChanged, "s", topic="between us", audience=(ANN,))


async def a_press(rig: RouterRig) -> Post:
    _, billing = fakes(rig)
    copy, message = await card_of(rig)
    billing.__class__ = WhisperedPresses
    return lambda: billing.press("b", copy, action_token(KEY, message, "/content/0/data/nodes/1"))


async def entries(rig: RouterRig) -> int:
    """How many messages the timeline of the room holds; readers are shown no whisper among them."""
    return (await rig.store.position(rig.rooms[0].conversation)).posted


@pytest.mark.parametrize("whisper", [a_message, a_channel_event, a_press])
async def test_a_whisper_enters_no_rooms_timeline(
    rig: RouterRig, whisper: Callable[[RouterRig], Awaitable[Post]]
) -> None:
    sales, _ = fakes(rig)
    async with rig.run():
        await sales.say("s", "to all")
        post = await whisper(rig)
        await rig.clock.advance(5)
        rig.agents.clear()  # an answer would enter the timeline
        before = await entries(rig)

        await post()
        await rig.clock.advance(5)

        assert await entries(rig) == before > 0


async def test_a_notice_to_one_person_enters_no_rooms_timeline(rig: RouterRig) -> None:
    room = rig.rooms[0]
    async with rig.run() as router:
        notices = router.parts.outbound.notices
        for number, recipient in enumerate((ActorId(ANN), None)):
            await notices.post(
                notice_id("test", str(number)), f"notice {number}", room.id, room.listeners(),
                timeline=room.timeline, to=recipient,
            )  # fmt: skip
        await rig.clock.advance(5)

    assert await entries(rig) == 1


async def test_no_other_channel_shows_a_whisper(rig: RouterRig) -> None:
    sales, billing = fakes(rig)
    rig.agents = {}
    async with rig.run():
        await sales.say("s", "between us", audience="ann")
        await sales.say("s", "to all")
        await rig.clock.let_work()

    assert "between us" not in billing.texts("b")
    assert "to all" in billing.texts("b")


async def test_no_agent_answers_a_whisper(clock: FakeClock) -> None:
    club = Club(clock, AgentMembership("front", "always"))
    async with club.rig.run():
        await club.say("to all")
        await club.say("between us", audience="ann")

    assert club.answered() == {"front": 1}
