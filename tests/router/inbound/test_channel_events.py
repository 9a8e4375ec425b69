"""What happens to a channel is said in the others, as the room wants it, and once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.model import (
    ChannelRenamed,
    Level,
    MemberJoined,
    MemberLeft,
    Person,
    PollEnded,
    ThreadStarted,
    TopicChanged,
    Unknown,
    actor_id_of,
    message_id_of,
)
from bridge.router.rooms.options import RoomOptions, Tells
from bridge.router.rooms.rooms import AgentMembership, Member
from bridge.store import SqliteStore
from tests.router.conftest import House
from tests.router.fake_clock import FakeClock
from tests.router.inbound.test_routing import said
from tests.router.paper import PaperConnector

Duo = tuple[House, PaperConnector, PaperConnector]


@pytest.fixture
def duo(clock: FakeClock) -> Duo:
    slate, board = PaperConnector("slate", clock), PaperConnector("board", clock)
    house = House(clock, SqliteStore.in_memory(clock), (slate, board))
    house.room("all", (slate, "s", "both"), (board, "b", "both"))
    return house, slate, board


def telling(house: House, *tells: Tells) -> None:
    options = RoomOptions(tells=frozenset(tells))
    house.rooms = [replace(room, options=options) for room in house.rooms]


async def test_topics_names_and_threads_are_said_where_they_did_not_happen(duo: Duo) -> None:
    house, slate, board = duo
    async with house.run():
        root = await slate.say("s", "lunch?")
        await slate.happen(TopicChanged, "s", topic="Plans for\nfriday")
        await slate.happen(TopicChanged, "s", topic="")
        await slate.happen(ChannelRenamed, "s", name="#plans")
        await slate.happen(ThreadStarted, "s", thread=root, root=root, name="Where to?", by="bea")
        await slate.happen(ChannelRenamed, "s", thread=root, name="Where and when?")
        await house.clock.let_work()

    assert board.texts("b") == [
        "lunch?",
        "The topic is now: **Plans for friday**",
        "The topic was taken away",
        "The channel is now called **#plans**",
        "**bea** started a thread: **Where to?**",
        "The thread is now called **Where and when?**",
    ]
    assert slate.texts("s") == ["lunch?"]
    posts = board.channels["b"]
    assert [post.thread for post in posts] == [None] * 4 + [posts[0].id] * 2
    assert {post.author for post in posts[1:]} == {"Bridge"}


async def test_who_comes_and_goes_is_said_in_rooms_that_want_it(duo: Duo) -> None:
    house, slate, board = duo
    dan = Person(id=actor_id_of("paper", "slate", "dan"), name="Dan *the* @everyone")
    async with house.run():
        await slate.happen(MemberJoined, "s", person=dan, by="dan")
        await house.clock.let_work()
    assert board.texts("b") == []

    telling(house, "joins")
    async with house.run():
        await slate.happen(MemberJoined, "s", person=dan, by="dan")
        await slate.happen(MemberLeft, "s", by="dan")
        await slate.happen(TopicChanged, "s", topic="nobody asked for topics")
        await house.clock.let_work()
    assert board.texts("b") == [
        r"**Dan \*the\* @everyone** joined (Paper)",
        r"**Dan \*the\* @everyone** left (Paper)",
    ]


async def test_a_result_answers_its_poll_in_the_polls_order_and_is_said_once(duo: Duo) -> None:
    house, slate, board = duo
    async with house.run():
        poll = await slate.say("s", "Lunch? Pizza, Soup, Salad")
        counts = (("Pizza", 1), ("Soup", 4), ("*Salad*", 0))
        await slate.happen(PollEnded, "s", target=poll, counts=counts)
        await slate.happen(PollEnded, "s", target=poll, counts=counts)
        await house.clock.let_work()

    assert board.texts("b") == [
        "Lunch? Pizza, Soup, Salad",
        "The poll has ended:\n\n- Pizza: 1\n- **Soup: 4**\n- \\*Salad\\*: 0",
    ]
    told = message_id_of(slate.channel("s"), f"poll ended {poll}")
    (post,) = await house.store.posts_of(told)
    assert post.reply_to == message_id_of(slate.channel("s"), poll)


async def test_it_is_archived_as_words_of_the_system_and_calls_no_agent(duo: Duo) -> None:
    house, slate, _ = duo
    memberships = (AgentMembership("echo", "always"),)
    house.rooms = [replace(room, agents=memberships) for room in house.rooms]
    async with house.run():
        await slate.happen(TopicChanged, "s", topic="ask @echo")
        await house.clock.let_work()

    room = house.rooms[0].conversation
    assert await said(house.store, room) == ["The topic is now: **ask @echo**"]
    (message,) = (await house.store.conversation(room)).messages
    assert (message.actor.role, message.actor.name) == ("system", "Bridge")
    assert (await house.store.status()).turns == {}


async def test_a_thread_that_is_called_as_its_first_message_begins_is_not_told(duo: Duo) -> None:
    house, slate, board = duo
    async with house.run():
        root = await slate.say("s", "Where do we have **lunch**? And when?")
        name = "Where do we have __lunch__"
        await slate.happen(ThreadStarted, "s", thread=root, root=root, name=name)
        await house.clock.let_work()

    assert board.texts("b") == ["Where do we have **lunch**? And when?"]


async def test_our_own_threads_and_those_without_a_name_are_not_told(duo: Duo) -> None:
    house, slate, board = duo
    async with house.run():
        root = await slate.say("s", "hello")
        await slate.happen(ThreadStarted, "s", thread=root, root=root, name="hello", own=True)
        await slate.happen(ThreadStarted, "s", thread="another", root="another", name=" ")
        await slate.happen(ChannelRenamed, "s", name="")
        await house.clock.let_work()

    assert board.texts("b") == ["hello"]


async def test_an_answer_to_the_whole_channel_is_in_both_places_where_a_platform_can(
    duo: Duo,
) -> None:
    house, slate, board = duo
    able = PaperConnector("able", house.clock)
    features = {**able.capabilities.features, "broadcast": Level.FULL}
    able.capabilities = able.capabilities.model_copy(update={"features": features})
    house.connectors[able.account] = able
    house.rooms = [
        replace(room, members=(*room.members, Member(able.account, able.channel("a"))))
        for room in house.rooms
    ]
    async with house.run():
        root = await slate.say("s", "root")
        await slate.say("s", "to all", thread=root, broadcast=True)
        await slate.say("s", "to some", thread=root)
        await house.clock.let_work()

    first = message_id_of(slate.channel("s"), root)
    posts = await house.store.posts_of(message_id_of(slate.channel("s"), "000002"))
    told = {post.account: (post.root, post.reply_to, post.broadcast) for post in posts}
    assert told == {"board": (None, first, False), "able": (first, None, True)}
    assert [post.thread is None for post in board.channels["b"]] == [True, True, False]
    assert [post.thread is None for post in able.channels["a"]] == [True, False, False]


async def test_where_a_platform_has_no_threads_an_answer_in_one_names_its_root(duo: Duo) -> None:
    house, slate, board = duo
    features = {**board.capabilities.features, "threads": Level.DROPPED}
    board.capabilities = board.capabilities.model_copy(update={"features": features})
    async with house.run():
        root = await slate.say("s", "root")
        await slate.say("s", "answer", thread=root)
        await house.clock.let_work()

    first = message_id_of(slate.channel("s"), root)
    (post,) = await house.store.posts_of(message_id_of(slate.channel("s"), "000002"))
    assert (post.root, post.reply_to) == (None, first)
    assert [post.thread for post in board.channels["b"]] == [None, None]


async def test_a_whisper_is_kept_for_whom_it_was_said_to_and_shown_in_no_room(duo: Duo) -> None:
    house, slate, board = duo
    async with house.run():
        await slate.say("s", "between us", audience="ann")
        await slate.say("s", "to all")
        await house.clock.let_work()

    assert board.texts("b") == ["to all"]
    assert await said(house.store, house.rooms[0].conversation) == ["to all"]
    kept = await house.store.message(message_id_of(slate.channel("s"), "000001"))
    assert kept is not None


async def test_what_nobody_understands_is_kept_as_it_came(duo: Duo) -> None:
    house, slate, board = duo
    async with house.run() as router:
        await slate.happen(Unknown, "s", kind="huddle_thread", key="the huddle")
        await house.clock.let_work()
        assert await router.inbox.accept(slate.last) is False  # it is in the inbox, word for word

    assert board.texts("b") == []
    assert (await house.store.status()).inbox == {"done": 1}


async def test_what_happens_in_a_channel_of_no_room_is_told_to_nobody(duo: Duo) -> None:
    house, slate, board = duo
    async with house.run():
        await slate.happen(TopicChanged, "elsewhere", topic="secret")
        await house.clock.let_work()

    assert board.texts("b") == []
