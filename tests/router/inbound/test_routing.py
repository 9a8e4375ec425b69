"""A message in one channel of a room appears in all the others, once, in order."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from itertools import repeat
from uuid import UUID

import pytest

from bridge.errors import PlatformError, RateLimited, Unavailable, Unsettled
from bridge.model import AccountId, Call, ChannelRef, Echo, Raw, Receipt, RoomId
from bridge.model.admission import Admission, AdmittedRow
from bridge.ports.inbox import Inbox
from bridge.ports.store.whole import Store
from bridge.router import Member, Room
from bridge.store import SqliteStore
from bridge.uacs import TextPart
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector, FakeWithHistory


def connector(rig: RouterRig, name: str) -> FakeConnector:
    return rig.connectors[AccountId(name)]


def room_of_two(clock: FakeClock, sales: FakeConnector, billing: FakeConnector) -> RouterRig:
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"))
    return rig


async def run_before(rig: RouterRig, sales: FakeConnector) -> None:
    """A first run that carries one message and stops."""
    async with rig.run():
        await sales.say("s", "before")
        await rig.clock.advance(5)


async def texts_in(store: Store, room: UUID) -> list[str]:
    conversation = await store.conversation(room)
    return [p.text for m in conversation.messages for p in m.content if isinstance(p, TextPart)]


async def test_a_post_appears_in_every_other_channel_under_its_authors_name(rig: RouterRig) -> None:
    async with rig.run():
        await connector(rig, "sales").say("s", "hello")
        await rig.clock.let_work()

    for name, channel in (("billing", "b"), ("web", "w")):
        (post,) = connector(rig, name).channels[channel]
        assert (post.author, post.text, post.thread) == ("Ann of sales", "hello", None)
    assert connector(rig, "sales").texts("s") == ["hello"]
    assert await texts_in(rig.store, UUID(int=1)) == ["hello"]


async def test_order_is_kept_in_each_channel(rig: RouterRig) -> None:
    texts = [f"n{n}" for n in range(50)]
    async with rig.run():
        for text in texts:
            await connector(rig, "sales").say("s", text)
        await rig.clock.advance(1)

    assert connector(rig, "billing").texts("b") == texts
    assert connector(rig, "web").texts("w") == texts
    assert await texts_in(rig.store, UUID(int=1)) == texts


async def test_the_same_message_from_two_deliveries_is_carried_once(rig: RouterRig) -> None:
    sales = connector(rig, "sales")
    async with rig.run() as router:
        raw = sales.raw("s", "once")
        await router.inbox.accept(raw)
        await router.inbox.accept(raw)
        await router.inbox.accept(raw.model_copy(update={"dedupe_key": "another delivery"}))
        await rig.clock.let_work()

    assert connector(rig, "billing").texts("b") == ["once"]


class SlowToAnswer(SqliteStore):
    """Keeps a payload at once, and returns when the test has taken note of it (`kept`)."""

    kept: asyncio.Event

    async def receive(self, raw: Raw, admission: Admission, *, advance: bool) -> AdmittedRow | None:
        received = await super().receive(raw, admission, advance=advance)
        self.kept.set()
        await asyncio.sleep(0)
        return received


async def test_a_payload_that_is_kept_while_its_socket_breaks_is_carried_once(
    clock: FakeClock,
) -> None:
    sales, billing = FakeConnector("sales", clock), FakeConnector("billing", clock)
    store = SlowToAnswer.in_memory(clock)
    store.kept = asyncio.Event()
    rig = RouterRig(clock, store, (sales, billing))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"))

    async with rig.run() as router:
        raw = sales.raw("s", "once")
        bringing = asyncio.ensure_future(router.inbox.accept(raw))
        await store.kept.wait()
        bringing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await bringing
        assert bringing.cancelled()
        assert not await router.inbox.accept(raw)  # sent again, because nobody acknowledged it
        await clock.let_work()

    assert billing.texts("b") == ["once"]
    assert await rig.store.waiting_rows() == []


@pytest.mark.parametrize(
    ("channel", "own", "rows"),
    [
        pytest.param("s", True, 1, id="our own post that comes back"),
        pytest.param("elsewhere", False, 0, id="a post in a channel outside every room"),
    ],
)
async def test_a_post_that_is_not_for_the_room_is_not_carried(
    rig: RouterRig, channel: str, own: bool, rows: int
) -> None:
    async with rig.run():
        await connector(rig, "sales").say(channel, "secret", own=own)
        await rig.clock.let_work()

    assert connector(rig, "billing").texts("b") == []
    status = await rig.store.status()
    assert (status.messages, sum(status.inbox.values())) == (0, rows)


async def test_an_echo_is_not_kept_and_moves_the_cursor(
    clock: FakeClock,
) -> None:
    sales = FakeWithHistory("sales", clock, echo=True)
    billing = FakeConnector("billing", clock)
    rig = room_of_two(clock, sales, billing)

    async with rig.run():
        await clock.advance(10)
        await sales.say("s", "our own words", own=True)
        await clock.advance(10)
        last = await sales.say("s", "our own words again", own=True)
        await clock.let_work()

    assert sum((await rig.store.status()).inbox.values()) == 0
    assert await rig.store.cursor(sales.account, sales.channel("s")) == last


async def test_an_echo_settles_at_once_the_post_whose_answer_was_lost(clock: FakeClock) -> None:
    sales = FakeConnector("sales", clock)
    billing = FakeWithHistory("billing", clock, echo=True)
    rig = room_of_two(clock, sales, billing)
    billing.after_send = _echo_and_break(billing)

    async with rig.run():
        await sales.say("s", "one")
        await clock.let_work()
        still_open = await rig.store.open_lanes()

    assert billing.texts("b") == ["one"]
    assert still_open == []


def _echo_and_break(billing: FakeConnector) -> Callable[[Call], object]:
    """The answer is lost, but the echo of the post comes at once."""
    echoes: set[asyncio.Task[bool]] = set()

    def harm(call: Call) -> None:
        billing.after_send = None
        (post,) = billing.channels["b"]
        raw = Raw(
            account=billing.account, kind="post", dedupe_key=post.id, order_key=post.id,
            channel=billing.channel("b"), payload=b"{}",
            echo=Echo(operation=call.operation, receipt=Receipt(native_id=post.id)),
        )  # fmt: skip
        assert billing.inbox
        echoes.add(asyncio.ensure_future(billing.inbox.accept(raw)))
        raise Unsettled("the connection broke")

    return harm


async def test_an_in_channel_only_sends_and_an_out_channel_only_receives(
    clock: FakeClock,
) -> None:
    ear, mouth = FakeConnector("ear", clock), FakeConnector("mouth", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (ear, mouth))
    rig.room("one way", (ear, "e", "in"), (mouth, "m", "out"))

    async with rig.run():
        await ear.say("e", "from the ear")
        await mouth.say("m", "from the mouth")
        await clock.let_work()

    assert sorted(mouth.texts("m")) == ["from the ear", "from the mouth"]
    assert ear.texts("e") == ["from the ear"]


async def test_a_channel_in_two_rooms_shows_a_message_once_and_both_rooms_remember_it(
    clock: FakeClock,
) -> None:
    one, two = FakeConnector("one", clock), FakeConnector("two", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (one, two))
    rig.room("first", (one, "a", "both"), (two, "b", "both"))
    rig.room("second", (one, "a", "both"), (two, "b", "both"), (two, "c", "both"))

    async with rig.run():
        await one.say("a", "to both")
        await clock.let_work()

    assert (two.texts("b"), two.texts("c")) == (["to both"], ["to both"])
    for room in (1, 2):
        assert await texts_in(rig.store, UUID(int=room)) == ["to both"]


async def test_a_reply_in_a_thread_is_posted_under_the_copy_of_its_root(rig: RouterRig) -> None:
    sales, billing = connector(rig, "sales"), connector(rig, "billing")
    async with rig.run():
        root = await sales.say("s", "root")
        await rig.clock.let_work()
        await sales.say("s", "reply", thread=root)
        await rig.clock.let_work()
        copy_of_root = billing.channels["b"][0]
        await billing.say("b", "reply from the billing", thread=copy_of_root.id)
        await rig.clock.let_work()

    assert [(p.text, p.thread) for p in billing.channels["b"]][:2] == [
        ("root", None),
        ("reply", copy_of_root.id),
    ]
    assert sales.channels["s"][-1].text == "reply from the billing"
    assert sales.channels["s"][-1].thread == root


async def test_a_thread_with_an_unknown_root_begins_with_its_first_reply(rig: RouterRig) -> None:
    sales, billing = connector(rig, "sales"), connector(rig, "billing")
    async with rig.run():
        await sales.say("s", "first", thread="000000")
        await rig.clock.let_work()
        await sales.say("s", "second", thread="000000")
        await rig.clock.let_work()

    first, second = billing.channels["b"]
    assert (first.thread, second.thread) == (None, first.id)


async def test_a_malformed_payload_is_kept_as_failed_and_later_messages_are_carried(
    rig: RouterRig,
) -> None:
    sales = connector(rig, "sales")
    async with rig.run() as router:
        bad = sales.raw("s", "x").model_copy(update={"payload": b"{", "dedupe_key": "bad"})
        await router.inbox.accept(bad)
        await sales.say("s", "good")
        await rig.clock.let_work()

    assert connector(rig, "billing").texts("b") == ["good"]
    ((row, error),) = await rig.store.failed_rows()
    assert row.raw.payload == b"{"
    assert "fake" in error


async def test_a_kept_row_of_a_removed_account_fails_with_the_remedy(rig: RouterRig) -> None:
    sales = connector(rig, "sales")
    await rig.store.accept(sales.raw("s", "before"), advance=False)
    del rig.connectors[sales.account]
    async with rig.run():
        await rig.clock.let_work()

    ((_, error),) = await rig.store.failed_rows()
    assert "'sales' is no longer configured; put it back" in error


async def test_rows_that_were_kept_before_a_stop_are_carried_after_it(rig: RouterRig) -> None:
    sales = connector(rig, "sales")
    for number in range(3):
        await rig.store.accept(sales.raw("s", f"n{number}"), advance=False)

    async with rig.run():
        await rig.clock.let_work()

    assert connector(rig, "billing").texts("b") == ["n0", "n1", "n2"]


@pytest.mark.parametrize("later", ["a live event", "a row that was kept before the crash"])
async def test_missed_messages_are_carried_before_later_ones(clock: FakeClock, later: str) -> None:
    sales, billing = FakeWithHistory("sales", clock), FakeConnector("billing", clock)
    rig = room_of_two(clock, sales, billing)
    await run_before(rig, sales)
    sales.raw("s", "missed 1")
    sales.raw("s", "missed 2")
    if later != "a live event":
        await rig.store.accept(sales.raw("s", later), advance=False)

    async with rig.run():
        if later == "a live event":
            await sales.say("s", later)
        await clock.advance(1)

    assert billing.texts("b") == ["before", "missed 1", "missed 2", later]


async def test_messages_from_before_a_channel_joined_are_not_carried(clock: FakeClock) -> None:
    sales, billing = FakeWithHistory("sales", clock), FakeConnector("billing", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.rooms.append(
        Room(RoomId("r"), UUID(int=9), (
            Member(sales.account, sales.channel("s")),
            Member(billing.account, billing.channel("b")),
        ))
    )  # fmt: skip
    sales.raw("s", "long ago")

    async with rig.run():
        await clock.let_work()
    sales.raw("s", "while away")
    async with rig.run():
        await clock.let_work()

    assert billing.texts("b") == ["while away"]


async def test_rows_of_an_account_that_cannot_connect_go_on_after_a_while(
    clock: FakeClock,
) -> None:
    class Unreachable(FakeWithHistory):
        async def run(self, inbox: Inbox) -> None:
            await asyncio.Event().wait()

    sales, billing = Unreachable("sales", clock), FakeConnector("billing", clock)
    rig = room_of_two(clock, sales, billing)
    await rig.store.accept(sales.raw("s", "kept"), advance=False)

    async with rig.run():
        await clock.advance(60)

    assert billing.texts("b") == ["kept"]


class FailingHistory(FakeWithHistory):
    """Each reading raises the next of `errors` until there is none left."""

    errors: Iterator[PlatformError] = iter(())

    async def read_after(
        self,
        channel: ChannelRef,
        cursor: str,
        threads: Sequence[str],
        *,
        wait_limit: float | None = None,
    ) -> AsyncIterator[Raw]:
        for error in self.errors:
            raise error
        async for raw in super().read_after(channel, cursor, threads):
            yield raw


async def test_catch_up_obeys_a_platform_that_asks_to_wait_however_often(clock: FakeClock) -> None:
    sales, billing = FailingHistory("sales", clock), FakeConnector("billing", clock)
    rig = room_of_two(clock, sales, billing)
    await run_before(rig, sales)
    sales.raw("s", "missed")
    sales.errors = repeat(RateLimited("wait", retry_after=0.007), 20)

    async with rig.run() as router:
        await clock.advance(2)
        assert router.operations.catching_up
        await sales.say("s", "live")
        await clock.advance(10)
        assert not router.operations.catching_up

    assert billing.texts("b") == ["before", "missed", "live"]


async def test_a_channel_whose_history_fails_carries_live_events_and_is_read_later(
    clock: FakeClock,
) -> None:
    sales, billing = FailingHistory("sales", clock), FakeConnector("billing", clock)
    rig = room_of_two(clock, sales, billing)
    await run_before(rig, sales)
    sales.raw("s", "missed")
    sales.errors = repeat(Unavailable("down"))

    async with rig.run():
        await sales.say("s", "live")
        await clock.advance(30)
        assert billing.texts("b") == ["before", "live"]
        sales.errors = iter(())
        await clock.advance(600)

    assert billing.texts("b") == ["before", "live", "missed"]


async def test_a_stop_waits_for_the_clean_up_of_receivers(clock: FakeClock) -> None:
    tidied: list[str] = []

    class Tidy(FakeConnector):
        async def run(self, inbox: Inbox) -> None:
            try:
                await super().run(inbox)
            finally:
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                tidied.append("in peace")

    sales = Tidy("sales", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales,))
    rig.room("all", (sales, "s", "both"))

    async with rig.run():
        await clock.let_work()

    assert tidied == ["in peace"]


async def test_a_missed_reply_is_found_when_its_root_was_kept_just_before_the_crash(
    clock: FakeClock,
) -> None:
    class TellsRepliesOfKnownRoots(FakeWithHistory):
        async def read_after(
            self,
            channel: ChannelRef,
            cursor: str,
            threads: Sequence[str],
            *,
            wait_limit: float | None = None,
        ) -> AsyncIterator[Raw]:
            hidden = {
                p.id for p in self.channels[channel.channel] if p.thread not in (None, *threads)
            }
            async for raw in super().read_after(channel, cursor, threads):
                if raw.order_key not in hidden:
                    yield raw

    sales, billing = TellsRepliesOfKnownRoots("sales", clock), FakeConnector("billing", clock)
    rig = room_of_two(clock, sales, billing)
    await run_before(rig, sales)
    root = sales.raw("s", "root")
    await rig.store.accept(root, advance=True)
    sales.raw("s", "missed", thread=root.order_key)

    async with rig.run():
        await clock.advance(5)

    assert billing.texts("b") == ["before", "root", "missed"]


async def test_the_cursor_waits_for_live_events_that_may_be_on_their_way(clock: FakeClock) -> None:
    sales, billing = FakeWithHistory("sales", clock), FakeConnector("billing", clock)
    rig = room_of_two(clock, sales, billing)
    async with rig.run():
        await clock.advance(5)
    before = await rig.store.cursor(sales.account, sales.channel("s"))
    sales.raw("s", "missed")

    async with rig.run():
        await clock.advance(1)
        assert billing.texts("b") == ["missed"]
        assert await rig.store.cursor(sales.account, sales.channel("s")) == before
        await clock.advance(2)

    assert await rig.store.cursor(sales.account, sales.channel("s")) != before
