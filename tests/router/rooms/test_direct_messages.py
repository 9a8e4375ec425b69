"""Direct messages between platforms: by both people's wish, and shown to the two of them alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bridge.errors import NotFound, RateLimited, Refused
from bridge.model import ActorId, Call, ChannelRef, CommandGiven, Raw, Receipt, actor_id_of
from bridge.model.archive_records import View
from bridge.ports.abilities import Abilities
from bridge.router.rooms.direct_messages import DirectMessages
from bridge.router.signals import Signal
from bridge.store import SqliteStore
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector


class WhisperingFake(FakeConnector):
    """A fake platform on which our bot may write to everybody but a hermit."""

    slow = False

    async def send(self, call: Call) -> Receipt:
        if self.slow and call.kind == "post" and "alone" in call.channel.channel:
            raise RateLimited("Slower, please", retry_after=60.0)
        return await super().send(call)

    def own_abilities(self) -> Abilities:
        return replace(super().own_abilities(), direct_messages=self)

    def is_direct(self, channel: ChannelRef) -> bool:
        return False

    async def open(self, actor: ActorId) -> ChannelRef:
        name = actor.split(":")[-1]
        if name == "hermit":
            raise NotFound("The hermit takes no messages")
        return self.channel(f"alone with {name}")

    def alone(self, name: str) -> list[str]:
        return self.texts(f"alone with {name}")

    async def command(self, text: str, by: str, channel: str = "") -> None:
        """`/bridge text`, typed by somebody."""
        await self.happen(
            CommandGiven, channel or self.account[0], by=by, command="/bridge", text=text
        )

    async def write(self, by: str, text: str, **more: Any) -> str:
        """Something that they say to our bot alone."""
        return await self.say(f"alone with {by}", text, author=by, name=by.title(), **more)


class Garden:
    """Ann on sales, Bob and Cy on billing, who have spoken; the wanted may be written to."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.sales, self.billing = WhisperingFake("sales", clock), WhisperingFake("billing", clock)
        self.rig = RouterRig(clock, SqliteStore.in_memory(clock), (self.sales, self.billing))
        self.rig.room("garden", (self.sales, "s", "both"), (self.billing, "b", "both"))

    async def meet(self, *wanting: str) -> None:
        for fake, name in ((self.sales, "ann"), (self.billing, "bob"), (self.billing, "cy")):
            await fake.say(fake.account[0], f"{name} is here", author=name, name=name.title())
            if name in wanting:
                await fake.command("dm on", name)
        await self.clock.let_work()

    def answers(self, fake: WhisperingFake) -> str:
        """What the bridge posts in the channel of a fake connector that cannot whisper."""
        return " ".join(fake.texts(fake.account[0]))


@pytest.fixture
def garden(clock: FakeClock) -> Garden:
    return Garden(clock)


def on(account: str, name: str) -> ActorId:
    return actor_id_of("fake", account, name)


async def test_what_is_written_reaches_one_person_and_the_answer_comes_back(
    garden: Garden,
) -> None:
    sales, billing = garden.sales, garden.billing
    async with garden.rig.run():
        await garden.meet("ann", "bob", "cy")
        await sales.command("dm Bob the roses are red", "ann")
        await garden.clock.let_work()
        assert billing.alone("bob") == sales.alone("ann") == ["the roses are red"]
        copy = billing.channels["alone with bob"][-1]
        assert copy.author == "Ann (Fake)"
        await billing.write("bob", "and the violets?", reply_to=copy.id)
        await billing.write("bob", "well?")  # there is but one whom it could be for
        await garden.clock.let_work()

    assert sales.alone("ann") == ["the roses are red", "and the violets?", "well?"]
    assert billing.alone("cy") == []
    assert not any("roses" in text or "violets" in text for text in billing.texts("b"))


async def test_waiting_direct_messages_are_cancelled_when_the_recipient_opts_out(
    garden: Garden,
) -> None:
    sales, billing = garden.sales, garden.billing
    async with garden.rig.run():
        await garden.meet("ann", "bob")
        await sales.command("dm Bob the roses are red", "ann")
        await garden.clock.let_work()
        copy = billing.channels["alone with bob"][-1]
        billing.slow = True
        await sales.command("dm Bob the violets are blue", "ann")
        await garden.clock.advance(1)
        await billing.command("dm off", "bob")
        await garden.clock.advance(120)
        await sales.command("dm Bob hello?", "ann")
        await garden.clock.let_work()

    assert billing.alone("bob") == [copy.text] == ["the roses are red"]
    notices = [text for text in sales.alone("ann") if "accepts no direct messages any more" in text]
    assert len(notices) == 1
    assert await garden.rig.store.dead_letters() == []
    assert await garden.rig.store.head(billing.channel("alone with bob").lane) is None


async def test_nobody_else_reads_it_in_the_archive(garden: Garden) -> None:
    store, bob = garden.rig.store, on("billing", "bob")
    async with garden.rig.run():
        await garden.meet("ann", "bob")
        await garden.sales.command("dm Bob secret", "ann")
        await garden.clock.let_work()
        await garden.billing.write("bob", "secret, too")
        await garden.clock.let_work()

    read: dict[str, int] = {}
    for timeline, _ in await store.conversations():
        everybody = await store.conversation(timeline.id)
        assert "secret" not in str(everybody.messages)
        assert (
            await store.conversation(timeline.id, view=View(readers=(on("billing", "cy"),)))
        ) == (everybody)
        theirs = await store.conversation(timeline.id, view=View(readers=(bob,)))
        read[timeline.name.partition(":")[0]] = str(theirs.messages).count("text='secret")
    assert read["between"] == 2
    room = garden.rig.rooms[0].conversation
    assert "secret" not in str((await store.conversation(room, view=View(readers=(bob,)))).messages)


async def test_edits_deletions_and_reactions_reach_the_other_one_alone(garden: Garden) -> None:
    sales, billing = garden.sales, garden.billing
    async with garden.rig.run():
        await garden.meet("ann", "bob")
        await sales.command("dm Bob hello", "ann")
        await garden.clock.let_work()
        first = await billing.write("bob", "helo")
        second = await billing.write("bob", "oh")
        await garden.clock.let_work()
        copy = sales.channels["alone with ann"][1].id
        await billing.edit("alone with bob", first, "hello")
        await billing.delete("alone with bob", second)
        await sales.react("alone with ann", copy, "👍")
        await garden.clock.let_work()

    assert sales.alone("ann") == ["hello", "hello"]
    assert billing.post("alone with bob", first).emoji() == {"👍"}
    assert await garden.rig.store.dead_letters() == []


@pytest.mark.parametrize(
    ("wanting", "notices"),
    [
        (("bob",), 'Say "dm on" first'),
        (("ann",), "Nobody of that name wants direct messages"),
        ((), 'Say "dm on" first'),
    ],
)
async def test_a_direct_message_needs_the_consent_of_both_people(
    garden: Garden, wanting: tuple[str, ...], notices: str
) -> None:
    async with garden.rig.run():
        await garden.meet(*wanting)
        await garden.sales.command("dm Bob hello", "ann")
        await garden.clock.let_work()

    assert notices in garden.answers(garden.sales)
    assert garden.billing.alone("bob") == garden.sales.alone("ann") == []


async def test_what_is_said_to_the_bot_by_who_did_not_want_it_is_not_even_kept(
    garden: Garden,
) -> None:
    async with garden.rig.run():
        await garden.meet("bob")
        raw: Raw = garden.sales.raw("alone with ann", "hello?", author="ann")
        assert garden.sales.inbox
        assert not await garden.sales.inbox.accept(raw)


async def test_a_person_with_several_partners_must_name_the_recipient(garden: Garden) -> None:
    sales, billing = garden.sales, garden.billing
    async with garden.rig.run():
        await garden.meet("ann", "bob", "cy")
        await sales.command("dm Bob hello Bob", "ann")
        await sales.command("dm Cy hello Cy", "ann")
        await garden.clock.let_work()
        await sales.write("ann", "who reads this?")
        await garden.clock.let_work()
        assert "To whom?" in sales.alone("ann")[-1]
        await sales.write("ann", "dm Cy you do")
        await garden.clock.let_work()

    assert billing.alone("bob") == ["hello Bob"]
    assert billing.alone("cy") == ["hello Cy", "you do"]


async def test_a_person_who_opts_out_gets_no_more_direct_messages(garden: Garden) -> None:
    sales, billing = garden.sales, garden.billing
    async with garden.rig.run():
        await garden.meet("ann", "bob")
        await sales.command("dm Bob hello", "ann")
        await garden.clock.let_work()
        first = await sales.write("ann", "helo")
        await garden.clock.let_work()
        await billing.command("dm off", "bob")
        await garden.clock.let_work()
        await sales.write("ann", "are you there?")
        await sales.edit("alone with ann", first, "hello")
        await garden.clock.let_work()

    assert billing.alone("bob") == ["hello", "helo"]
    assert "To whom?" in sales.alone("ann")[-1]


async def test_a_person_who_is_banned_in_the_room_sends_no_direct_messages(garden: Garden) -> None:
    async with garden.rig.run() as router:
        await garden.meet("ann", "bob")
        await garden.sales.command("dm Bob one", "ann")
        await garden.clock.let_work()
        await router.parts.rooms.bans.ban(
            on("sales", "ann"), "banned", "admin", garden.rig.rooms[0].id
        )
        await garden.sales.command("dm Bob two", "ann")
        await garden.sales.write("ann", "three")
        await garden.clock.let_work()

    assert garden.billing.alone("bob") == ["one"]


async def test_a_command_that_all_can_read_carries_no_words(garden: Garden) -> None:
    async with garden.rig.run():
        await garden.meet("ann", "bob")
        said = f"dm {on('billing', 'bob')} psst"
        await garden.sales.say("s", said, author="ann", addresses_us=True)
        await garden.clock.let_work()

    assert "Everybody here can read that" in garden.answers(garden.sales)
    assert garden.billing.alone("bob") == []
    assert not any("psst" in text for text in garden.billing.texts("b"))


async def test_a_person_whom_our_bot_cannot_write_to_learns_the_reason(garden: Garden) -> None:
    async with garden.rig.run():
        await garden.sales.command("dm on", "hermit")
        await garden.clock.let_work()

    assert "The hermit takes no messages" in garden.answers(garden.sales)


async def test_direct_messages_survive_a_restart_and_a_repeat_is_written_once(
    garden: Garden,
) -> None:
    sales, billing = garden.sales, garden.billing
    async with garden.rig.run():
        await garden.meet("ann", "bob")
        await sales.command("dm Bob hello", "ann")
        await garden.clock.let_work()
    async with garden.rig.run():
        await billing.write("bob", "still here")
        await garden.clock.let_work()

    assert sales.alone("ann") == ["hello", "still here"]


async def test_a_room_of_two_people_is_not_among_the_configured_rooms(garden: Garden) -> None:
    directs = DirectMessages(garden.rig.store, garden.rig.connectors, garden.clock, Signal())
    async with garden.rig.run():
        await garden.meet("ann", "bob")
    await directs.load()

    room = directs.room_of(on("sales", "ann"), on("billing", "bob"))
    assert room is not None
    assert directs.find(room.id) == room
    assert directs.find(garden.rig.rooms[0].id) is None
    assert room.agents == ()
    assert directs.room_of(on("billing", "bob"), on("billing", "nobody")) is None


async def test_where_agents_answer_only_answers_to_people_go_to_people(garden: Garden) -> None:
    """The channel in which Bob and our bot are alone is a room of its own, too."""
    sales, billing, rig = garden.sales, garden.billing, garden.rig
    rig.room("bob and agents", (billing, "alone with bob", "both"))
    async with rig.run():
        await garden.meet("ann", "bob")
        await sales.command("dm Bob hello", "ann")
        await garden.clock.let_work()
        copy = billing.channels["alone with bob"][-1].id
        for_agents = await billing.write("bob", "what is the weather?")
        answer = await billing.write("bob", "hello, Ann", reply_to=copy)
        await garden.clock.let_work()
        await billing.edit("alone with bob", for_agents, "what is the time?")
        await billing.edit("alone with bob", answer, "hello Ann")
        await garden.clock.let_work()

    assert sales.alone("ann") == ["hello", "hello Ann"]
    agents = await rig.store.conversation(rig.rooms[1].conversation)
    assert [message.content[0].text for message in agents.messages] == ["what is the time?"]  # type: ignore[union-attr]


@pytest.mark.parametrize("by_command", [True, False])
async def test_an_undelivered_direct_message_is_reported_to_its_author_alone(
    garden: Garden, by_command: bool
) -> None:
    sales, billing = garden.sales, garden.billing

    def refuse(call: Call) -> None:
        if call.channel == billing.channel("alone with bob"):
            raise Refused("Bob takes nothing")

    async with garden.rig.run():
        await garden.meet("ann", "bob")
        await sales.command("dm Bob one", "ann")
        await garden.clock.let_work()
        billing.before_send = refuse
        if by_command:
            await sales.command("dm Bob two", "ann")
        else:
            await sales.write("ann", "two")
        await garden.clock.let_work()

    assert "Bob takes nothing" in "".join(sales.alone("ann"))
    assert not any("Bob takes nothing" in text for text in billing.texts("b") + sales.texts("s"))
