"""Direct messages between platforms: by both people's wish, and shown to the two of them alone."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.errors import NotFound, RateLimited, Refused
from bridge.model import ActorId, Call, ChannelRef, CommandGiven, Raw, Receipt, actor_id_of
from bridge.model.archive_records import View
from bridge.router.rooms.direct_messages import DirectMessages
from bridge.router.signals import Signal
from bridge.store import SqliteStore
from tests.router.conftest import House
from tests.router.fake_clock import FakeClock
from tests.router.paper import PaperConnector


class WhisperingPaper(PaperConnector):
    """Paper on which our bot may write to everybody but a hermit."""

    slow = False

    async def send(self, call: Call) -> Receipt:
        if self.slow and call.kind == "post" and "alone" in call.channel.channel:
            raise RateLimited("Slower, please", retry_after=60.0)
        return await super().send(call)

    async def direct_channel(self, actor: ActorId) -> ChannelRef:
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
    """Ann on slate, Bob and Cy on board, who have spoken; the wanted may be written to."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.slate, self.board = WhisperingPaper("slate", clock), WhisperingPaper("board", clock)
        self.house = House(clock, SqliteStore.in_memory(clock), (self.slate, self.board))
        self.house.room("garden", (self.slate, "s", "both"), (self.board, "b", "both"))

    async def meet(self, *wanting: str) -> None:
        for paper, name in ((self.slate, "ann"), (self.board, "bob"), (self.board, "cy")):
            await paper.say(paper.account[0], f"{name} is here", author=name, name=name.title())
            if name in wanting:
                await paper.command("dm on", name)
        await self.clock.let_work()

    def answers(self, paper: WhisperingPaper) -> str:
        """What the bridge says in the channel, where papers do not whisper."""
        return " ".join(paper.texts(paper.account[0]))


@pytest.fixture
def garden(clock: FakeClock) -> Garden:
    return Garden(clock)


def on(account: str, name: str) -> ActorId:
    return actor_id_of("paper", account, name)


async def test_what_is_written_reaches_one_person_and_the_answer_comes_back(
    garden: Garden,
) -> None:
    slate, board = garden.slate, garden.board
    async with garden.house.run():
        await garden.meet("ann", "bob", "cy")
        await slate.command("dm Bob the roses are red", "ann")
        await garden.clock.let_work()
        assert board.alone("bob") == slate.alone("ann") == ["the roses are red"]
        copy = board.channels["alone with bob"][-1]
        assert copy.author == "Ann (Paper)"
        await board.write("bob", "and the violets?", reply_to=copy.id)
        await board.write("bob", "well?")  # there is but one whom it could be for
        await garden.clock.let_work()

    assert slate.alone("ann") == ["the roses are red", "and the violets?", "well?"]
    assert board.alone("cy") == []
    assert not any("roses" in text or "violets" in text for text in board.texts("b"))


async def test_what_waits_for_somebody_is_not_sent_once_they_want_nothing_any_more(
    garden: Garden,
) -> None:
    slate, board = garden.slate, garden.board
    async with garden.house.run():
        await garden.meet("ann", "bob")
        await slate.command("dm Bob the roses are red", "ann")
        await garden.clock.let_work()
        copy = board.channels["alone with bob"][-1]
        board.slow = True
        await slate.command("dm Bob the violets are blue", "ann")
        await garden.clock.advance(1)
        await board.command("dm off", "bob")
        await garden.clock.advance(120)
        await slate.command("dm Bob hello?", "ann")
        await garden.clock.let_work()

    assert board.alone("bob") == [copy.text] == ["the roses are red"]
    told = [text for text in slate.alone("ann") if "want no direct messages any more" in text]
    assert len(told) == 1
    assert await garden.house.store.dead_letters() == []
    assert await garden.house.store.head(board.channel("alone with bob").lane) is None


async def test_nobody_else_reads_it_in_the_archive(garden: Garden) -> None:
    store, bob = garden.house.store, on("board", "bob")
    async with garden.house.run():
        await garden.meet("ann", "bob")
        await garden.slate.command("dm Bob secret", "ann")
        await garden.clock.let_work()
        await garden.board.write("bob", "secret, too")
        await garden.clock.let_work()

    read: dict[str, int] = {}
    for timeline, _ in await store.conversations():
        everybody = await store.conversation(timeline.id)
        assert "secret" not in str(everybody.messages)
        assert (await store.conversation(timeline.id, view=View(readers=(on("board", "cy"),)))) == (
            everybody
        )
        theirs = await store.conversation(timeline.id, view=View(readers=(bob,)))
        read[timeline.name.partition(":")[0]] = str(theirs.messages).count("text='secret")
    assert read["between"] == 2
    room = garden.house.rooms[0].conversation
    assert "secret" not in str((await store.conversation(room, view=View(readers=(bob,)))).messages)


async def test_edits_deletions_and_reactions_reach_the_other_one_alone(garden: Garden) -> None:
    slate, board = garden.slate, garden.board
    async with garden.house.run():
        await garden.meet("ann", "bob")
        await slate.command("dm Bob hello", "ann")
        await garden.clock.let_work()
        first = await board.write("bob", "helo")
        second = await board.write("bob", "oh")
        await garden.clock.let_work()
        copy = slate.channels["alone with ann"][1].id
        await board.edit("alone with bob", first, "hello")
        await board.delete("alone with bob", second)
        await slate.react("alone with ann", copy, "👍")
        await garden.clock.let_work()

    assert slate.alone("ann") == ["hello", "hello"]
    assert board.post("alone with bob", first).emoji() == {"👍"}
    assert await garden.house.store.dead_letters() == []


@pytest.mark.parametrize(
    ("wanting", "told"),
    [
        (("bob",), 'Say "dm on" first'),
        (("ann",), "Nobody of that name wants direct messages"),
        ((), 'Say "dm on" first'),
    ],
)
async def test_both_must_want_it(garden: Garden, wanting: tuple[str, ...], told: str) -> None:
    async with garden.house.run():
        await garden.meet(*wanting)
        await garden.slate.command("dm Bob hello", "ann")
        await garden.clock.let_work()

    assert told in garden.answers(garden.slate)
    assert garden.board.alone("bob") == garden.slate.alone("ann") == []


async def test_what_is_said_to_the_bot_by_who_did_not_want_it_is_not_even_kept(
    garden: Garden,
) -> None:
    async with garden.house.run():
        await garden.meet("bob")
        raw: Raw = garden.slate.raw("alone with ann", "hello?", author="ann")
        assert garden.slate.inbox
        assert not await garden.slate.inbox.accept(raw)


async def test_to_several_it_must_be_said_to_whom(garden: Garden) -> None:
    slate, board = garden.slate, garden.board
    async with garden.house.run():
        await garden.meet("ann", "bob", "cy")
        await slate.command("dm Bob hello Bob", "ann")
        await slate.command("dm Cy hello Cy", "ann")
        await garden.clock.let_work()
        await slate.write("ann", "who reads this?")
        await garden.clock.let_work()
        assert "To whom?" in slate.alone("ann")[-1]
        await slate.write("ann", "dm Cy you do")
        await garden.clock.let_work()

    assert board.alone("bob") == ["hello Bob"]
    assert board.alone("cy") == ["hello Cy", "you do"]


async def test_who_does_not_want_it_any_more_is_left_alone(garden: Garden) -> None:
    slate, board = garden.slate, garden.board
    async with garden.house.run():
        await garden.meet("ann", "bob")
        await slate.command("dm Bob hello", "ann")
        await garden.clock.let_work()
        first = await slate.write("ann", "helo")
        await garden.clock.let_work()
        await board.command("dm off", "bob")
        await garden.clock.let_work()
        await slate.write("ann", "are you there?")
        await slate.edit("alone with ann", first, "hello")
        await garden.clock.let_work()

    assert board.alone("bob") == ["hello", "helo"]
    assert "To whom?" in slate.alone("ann")[-1]


async def test_who_is_blocked_in_the_room_writes_to_nobody(garden: Garden) -> None:
    async with garden.house.run() as router:
        await garden.meet("ann", "bob")
        await garden.slate.command("dm Bob one", "ann")
        await garden.clock.let_work()
        await router.parts.rooms.bans.bar(
            on("slate", "ann"), "blocked", "admin", garden.house.rooms[0].id
        )
        await garden.slate.command("dm Bob two", "ann")
        await garden.slate.write("ann", "three")
        await garden.clock.let_work()

    assert garden.board.alone("bob") == ["one"]


async def test_a_command_that_all_can_read_carries_no_words(garden: Garden) -> None:
    async with garden.house.run():
        await garden.meet("ann", "bob")
        said = f"dm {on('board', 'bob')} psst"
        await garden.slate.say("s", said, author="ann", addresses_us=True)
        await garden.clock.let_work()

    assert "Everybody here can read that" in garden.answers(garden.slate)
    assert garden.board.alone("bob") == []
    assert not any("psst" in text for text in garden.board.texts("b"))


async def test_where_our_bot_may_not_write_that_is_told(garden: Garden) -> None:
    async with garden.house.run():
        await garden.slate.command("dm on", "hermit")
        await garden.clock.let_work()

    assert "The hermit takes no messages" in garden.answers(garden.slate)


async def test_it_goes_on_after_a_restart_and_what_came_twice_is_written_once(
    garden: Garden,
) -> None:
    slate, board = garden.slate, garden.board
    async with garden.house.run():
        await garden.meet("ann", "bob")
        await slate.command("dm Bob hello", "ann")
        await garden.clock.let_work()
    async with garden.house.run():
        await board.write("bob", "still here")
        await garden.clock.let_work()

    assert slate.alone("ann") == ["hello", "still here"]


async def test_a_room_of_two_is_no_room_of_the_configuration(garden: Garden) -> None:
    directs = DirectMessages(garden.house.store, garden.house.connectors, garden.clock, Signal())
    async with garden.house.run():
        await garden.meet("ann", "bob")
    await directs.load()

    room = directs.room_of(on("slate", "ann"), on("board", "bob"))
    assert room is not None
    assert directs.find(room.id) == room
    assert directs.find(garden.house.rooms[0].id) is None
    assert room.agents == ()
    assert directs.room_of(on("board", "bob"), on("board", "nobody")) is None


async def test_where_agents_answer_only_answers_to_people_go_to_people(garden: Garden) -> None:
    """The channel in which Bob and our bot are alone is a room of its own, too."""
    slate, board, house = garden.slate, garden.board, garden.house
    house.room("bob and agents", (board, "alone with bob", "both"))
    async with house.run():
        await garden.meet("ann", "bob")
        await slate.command("dm Bob hello", "ann")
        await garden.clock.let_work()
        copy = board.channels["alone with bob"][-1].id
        for_agents = await board.write("bob", "what is the weather?")
        answer = await board.write("bob", "hello, Ann", reply_to=copy)
        await garden.clock.let_work()
        await board.edit("alone with bob", for_agents, "what is the time?")
        await board.edit("alone with bob", answer, "hello Ann")
        await garden.clock.let_work()

    assert slate.alone("ann") == ["hello", "hello Ann"]
    agents = await house.store.conversation(house.rooms[1].conversation)
    assert [message.content[0].text for message in agents.messages] == ["what is the time?"]  # type: ignore[union-attr]


@pytest.mark.parametrize("by_command", [True, False])
async def test_what_did_not_arrive_is_told_to_its_author_alone(
    garden: Garden, by_command: bool
) -> None:
    slate, board = garden.slate, garden.board

    def refuse(call: Call) -> None:
        if call.channel == board.channel("alone with bob"):
            raise Refused("Bob takes nothing")

    async with garden.house.run():
        await garden.meet("ann", "bob")
        await slate.command("dm Bob one", "ann")
        await garden.clock.let_work()
        board.before_send = refuse
        if by_command:
            await slate.command("dm Bob two", "ann")
        else:
            await slate.write("ann", "two")
        await garden.clock.let_work()

    assert "Bob takes nothing" in "".join(slate.alone("ann"))
    assert not any("Bob takes nothing" in text for text in board.texts("b") + slate.texts("s"))
