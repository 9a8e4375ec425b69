"""What happens to a channel is said in the others, as the room wants it, and once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest

from bridge.model import (
    ChannelRef,
    ChannelRenamed,
    Level,
    MemberJoined,
    MemberLeft,
    Person,
    Place,
    PollEnded,
    Raw,
    ThreadStarted,
    TopicChanged,
    Unknown,
    actor_id_of,
    message_id_of,
)
from bridge.ports.abilities.platform_history import ChannelMetadata
from bridge.router.inbound.channel_metadata import news_of
from bridge.router.rooms.options import ChannelEventKind, RoomOptions
from bridge.router.rooms.rooms import AgentMembership, Member
from bridge.store import SqliteStore
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector
from tests.router.inbound.test_routing import texts_in

Duo = tuple[RouterRig, FakeConnector, FakeConnector]


@pytest.fixture
def duo(clock: FakeClock) -> Duo:
    sales, billing = FakeConnector("sales", clock), FakeConnector("billing", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"))
    return rig, sales, billing


def with_tells(rig: RouterRig, *announce: ChannelEventKind) -> None:
    options = RoomOptions(announce=frozenset(announce))
    rig.rooms = [replace(room, options=options) for room in rig.rooms]


async def test_topics_names_and_threads_are_announced_in_the_other_channels(duo: Duo) -> None:
    rig, sales, billing = duo
    async with rig.run():
        root = await sales.say("s", "lunch?")
        await sales.happen(TopicChanged, "s", topic="Plans for\nfriday")
        await sales.happen(TopicChanged, "s", topic="")
        await sales.happen(ChannelRenamed, "s", name="#plans")
        await sales.happen(ThreadStarted, "s", thread=root, root=root, name="Where to?", by="bea")
        await sales.happen(ChannelRenamed, "s", thread=root, name="Where and when?")
        await rig.clock.let_work()

    assert billing.texts("b") == [
        "lunch?",
        "The topic is now: **Plans for friday**",
        "The topic was taken away",
        "The channel is now called **#plans**",
        "**bea** started a thread: **Where to?**",
        "The thread is now called **Where and when?**",
    ]
    assert sales.texts("s") == ["lunch?"]
    posts = billing.channels["b"]
    assert [post.thread for post in posts] == [None] * 4 + [posts[0].id] * 2
    assert {post.author for post in posts[1:]} == {"Bridge"}


async def test_a_topic_is_announced_although_the_first_comparison_read_it_before_its_event(
    duo: Duo,
) -> None:
    """What stood there before the bridge came is no news, and neither is a topic twice."""
    rig, sales, billing = duo
    async with rig.run():
        channel, now = sales.channel("s"), datetime.fromtimestamp(rig.clock.time(), UTC)
        topic = TopicChanged(
            account=sales.account, place=Place(channel=channel), time=now, topic="Friday"
        )
        read = Raw(
            account=sales.account, kind="event", dedupe_key="read", order_key="read",
            channel=channel, payload=topic.model_dump_json().encode(),
        )  # fmt: skip
        sales.abilities = replace(sales.abilities, channel_metadata=_Stands((read,)))

        async def news() -> Sequence[Raw]:
            return await news_of(rig.store, sales, channel, rig.clock.time())

        assert [*await news(), *await news()] == []
        await sales.happen(TopicChanged, "s", topic="Friday")
        await sales.happen(TopicChanged, "s", topic="Friday")
        await rig.clock.let_work()
        assert [*await news()] == []

    assert billing.texts("b") == ["The topic is now: **Friday**"]


@dataclass
class _Stands:
    """The metadata of a channel; implements `ChannelMetadataReader`."""

    changes: tuple[Raw, ...]

    async def metadata(self, channel: ChannelRef) -> ChannelMetadata:
        return ChannelMetadata(self.changes)

    def unpinned(
        self, channel: ChannelRef, target: str, thread: str | None, since: float, at: float
    ) -> Raw:
        raise AssertionError("nothing is pinned")


async def test_joins_and_leaves_are_announced_in_rooms_with_that_option(duo: Duo) -> None:
    rig, sales, billing = duo
    dan = Person(id=actor_id_of("fake", "sales", "dan"), name="Dan *the* @everyone")
    async with rig.run():
        await sales.happen(MemberJoined, "s", person=dan, by="dan")
        await rig.clock.let_work()
    assert billing.texts("b") == []

    with_tells(rig, "joins")
    async with rig.run():
        await sales.happen(MemberJoined, "s", person=dan, by="dan")
        await sales.happen(MemberLeft, "s", by="dan")
        await sales.happen(TopicChanged, "s", topic="nobody asked for topics")
        await rig.clock.let_work()
    assert billing.texts("b") == [
        r"**Dan \*the\* @everyone** joined (Fake)",
        r"**Dan \*the\* @everyone** left (Fake)",
    ]


async def test_a_poll_result_replies_once_to_its_poll_in_the_polls_order(duo: Duo) -> None:
    rig, sales, billing = duo
    async with rig.run():
        poll = await sales.say("s", "Lunch? Pizza, Soup, Salad")
        counts = (("Pizza", 1), ("Soup", 4), ("*Salad*", 0))
        await sales.happen(PollEnded, "s", target=poll, counts=counts)
        await sales.happen(PollEnded, "s", target=poll, counts=counts)
        await rig.clock.let_work()

    assert billing.texts("b") == [
        "Lunch? Pizza, Soup, Salad",
        "The poll has ended:\n\n- Pizza: 1\n- **Soup: 4**\n- \\*Salad\\*: 0",
    ]
    notice_id_ = message_id_of(sales.channel("s"), f"poll ended {poll}")
    (post,) = await rig.store.posts_of(notice_id_)
    assert post.reply_to == message_id_of(sales.channel("s"), poll)


async def test_it_is_archived_as_words_of_the_system_and_calls_no_agent(duo: Duo) -> None:
    rig, sales, _ = duo
    memberships = (AgentMembership("echo", "always"),)
    rig.rooms = [replace(room, agents=memberships) for room in rig.rooms]
    async with rig.run():
        await sales.happen(TopicChanged, "s", topic="ask @echo")
        await rig.clock.let_work()

    room = rig.rooms[0].conversation
    assert await texts_in(rig.store, room) == ["The topic is now: **ask @echo**"]
    (message,) = (await rig.store.conversation(room)).messages
    assert (message.actor.role, message.actor.name) == ("system", "Bridge")
    assert (await rig.store.status()).turns == {}


async def test_a_thread_named_after_its_first_message_is_not_announced(duo: Duo) -> None:
    rig, sales, billing = duo
    async with rig.run():
        root = await sales.say("s", "Where do we have **lunch**? And when?")
        name = "Where do we have __lunch__"
        await sales.happen(ThreadStarted, "s", thread=root, root=root, name=name)
        await rig.clock.let_work()

    assert billing.texts("b") == ["Where do we have **lunch**? And when?"]


async def test_our_own_threads_and_unnamed_ones_are_not_announced(duo: Duo) -> None:
    rig, sales, billing = duo
    async with rig.run():
        root = await sales.say("s", "hello")
        await sales.happen(ThreadStarted, "s", thread=root, root=root, name="hello", own=True)
        await sales.happen(ThreadStarted, "s", thread="another", root="another", name=" ")
        await sales.happen(ChannelRenamed, "s", name="")
        await rig.clock.let_work()

    assert billing.texts("b") == ["hello"]


async def test_an_answer_to_the_whole_channel_is_in_both_places_where_a_platform_can(
    duo: Duo,
) -> None:
    rig, sales, billing = duo
    able = FakeConnector("able", rig.clock)
    features = {**able.capabilities.features, "broadcast": Level.FULL}
    able.capabilities = able.capabilities.model_copy(update={"features": features})
    rig.connectors[able.account] = able
    rig.rooms = [
        replace(room, members=(*room.members, Member(able.account, able.channel("a"))))
        for room in rig.rooms
    ]
    async with rig.run():
        root = await sales.say("s", "root")
        await sales.say("s", "to all", thread=root, broadcast=True)
        await sales.say("s", "to some", thread=root)
        await rig.clock.let_work()

    first = message_id_of(sales.channel("s"), root)
    posts = await rig.store.posts_of(message_id_of(sales.channel("s"), "000002"))
    notice_id_ = {post.account: (post.root, post.reply_to, post.broadcast) for post in posts}
    assert notice_id_ == {"billing": (None, first, False), "able": (first, None, True)}
    assert [post.thread is None for post in billing.channels["b"]] == [True, True, False]
    assert [post.thread is None for post in able.channels["a"]] == [True, False, False]


async def test_where_a_platform_has_no_threads_an_answer_in_one_names_its_root(duo: Duo) -> None:
    rig, sales, billing = duo
    features = {**billing.capabilities.features, "threads": Level.DROPPED}
    billing.capabilities = billing.capabilities.model_copy(update={"features": features})
    async with rig.run():
        root = await sales.say("s", "root")
        await sales.say("s", "answer", thread=root)
        await rig.clock.let_work()

    first = message_id_of(sales.channel("s"), root)
    (post,) = await rig.store.posts_of(message_id_of(sales.channel("s"), "000002"))
    assert (post.root, post.reply_to) == (None, first)
    assert [post.thread for post in billing.channels["b"]] == [None, None]


async def test_a_whisper_is_archived_for_its_audience_and_shown_in_no_room(duo: Duo) -> None:
    rig, sales, billing = duo
    async with rig.run():
        await sales.say("s", "between us", audience="ann")
        await sales.say("s", "to all")
        await rig.clock.let_work()

    assert billing.texts("b") == ["to all"]
    assert await texts_in(rig.store, rig.rooms[0].conversation) == ["to all"]
    whisper = await rig.store.message(message_id_of(sales.channel("s"), "000001"))
    assert whisper is not None


async def test_an_unknown_event_is_kept_as_it_came(duo: Duo) -> None:
    rig, sales, billing = duo
    async with rig.run() as router:
        await sales.happen(Unknown, "s", kind="huddle_thread", key="the huddle")
        await rig.clock.let_work()
        assert await router.inbox.accept(sales.last) is False  # it is in the inbox, word for word

    assert billing.texts("b") == []
    assert (await rig.store.status()).inbox == {"done": 1}


async def test_events_in_a_channel_of_no_room_are_reported_to_nobody(duo: Duo) -> None:
    rig, sales, billing = duo
    async with rig.run():
        await sales.happen(TopicChanged, "elsewhere", topic="secret")
        await rig.clock.let_work()

    assert billing.texts("b") == []
