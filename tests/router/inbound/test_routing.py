"""What is said in one channel of a room appears in all the others, once, in order."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from uuid import UUID

from bridge.errors import RateLimited, Unavailable, Unsettled
from bridge.model import AccountId, Call, ChannelRef, Echo, Raw, Receipt, RoomId
from bridge.model.inbox_records import InboxRow
from bridge.ports.connector import Inbox
from bridge.ports.store.whole import Store
from bridge.router import Member, Room
from bridge.store import SqliteStore
from bridge.uacs import TextPart
from tests.router.conftest import House
from tests.router.fake_clock import FakeClock
from tests.router.paper import PaperConnector, PaperWithHistory


def connector(house: House, name: str) -> PaperConnector:
    return house.connectors[AccountId(name)]


async def said(store: Store, room: UUID) -> list[str]:
    conversation = await store.conversation(room)
    return [p.text for m in conversation.messages for p in m.content if isinstance(p, TextPart)]


async def test_a_post_appears_in_every_other_channel_under_its_authors_name(house: House) -> None:
    async with house.run():
        await connector(house, "slate").say("s", "hello")
        await house.clock.let_work()

    for name, channel in (("board", "b"), ("wall", "w")):
        (post,) = connector(house, name).channels[channel]
        assert (post.author, post.text, post.thread) == ("Ann of slate", "hello", None)
    assert connector(house, "slate").texts("s") == ["hello"]
    assert await said(house.store, UUID(int=1)) == ["hello"]


async def test_order_is_kept_in_each_channel(house: House) -> None:
    texts = [f"n{n}" for n in range(50)]
    async with house.run():
        for text in texts:
            await connector(house, "slate").say("s", text)
        await house.clock.advance(1)

    assert connector(house, "board").texts("b") == texts
    assert connector(house, "wall").texts("w") == texts
    assert await said(house.store, UUID(int=1)) == texts


async def test_the_same_message_from_two_deliveries_is_carried_once(house: House) -> None:
    slate = connector(house, "slate")
    async with house.run() as router:
        raw = slate.raw("s", "once")
        await router.inbox.accept(raw)
        await router.inbox.accept(raw)
        await router.inbox.accept(raw.model_copy(update={"dedupe_key": "another delivery"}))
        await house.clock.let_work()

    assert connector(house, "board").texts("b") == ["once"]


class SlowToAnswer(SqliteStore):
    """Keeps at once, and says so a moment later."""

    async def accept(self, raw: Raw, *, advance: bool) -> InboxRow | None:
        row = await super().accept(raw, advance=advance)
        await asyncio.sleep(0)
        return row


async def test_what_is_kept_while_its_socket_breaks_is_worked_on(clock: FakeClock) -> None:
    slate, board = PaperConnector("slate", clock), PaperConnector("board", clock)
    house = House(clock, SlowToAnswer.in_memory(clock), (slate, board))
    house.room("all", (slate, "s", "both"), (board, "b", "both"))

    async with house.run() as router:
        raw = slate.raw("s", "once")
        bringing = asyncio.ensure_future(router.inbox.accept(raw))
        while not await house.store.waiting_rows():  # noqa: ASYNC110 - until it is kept
            await asyncio.sleep(0)
        bringing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await bringing
        assert bringing.cancelled()
        assert not await router.inbox.accept(raw)  # told again, since nobody acknowledged it
        await clock.let_work()

    assert board.texts("b") == ["once"]
    assert await house.store.waiting_rows() == []


async def test_our_own_post_coming_back_goes_nowhere(house: House) -> None:
    async with house.run():
        await connector(house, "slate").say("s", "echo", own=True)
        await house.clock.let_work()

    assert connector(house, "board").texts("b") == []


async def test_an_echo_is_no_news_it_is_not_kept_but_tells_how_far_we_have_heard(
    clock: FakeClock,
) -> None:
    slate = PaperWithHistory("slate", clock, echo=True)
    board = PaperConnector("board", clock)
    house = House(clock, SqliteStore.in_memory(clock), (slate, board))
    house.room("plaza", (slate, "s", "both"), (board, "b", "both"))

    async with house.run():
        await clock.advance(10)
        await slate.say("s", "our own words", own=True)
        await clock.advance(10)
        last = await slate.say("s", "our own words again", own=True)
        await clock.let_work()

    assert sum((await house.store.status()).inbox.values()) == 0
    assert await house.store.cursor(slate.account, slate.channel("s")) == last


async def test_an_echo_settles_at_once_the_post_whose_answer_was_lost(clock: FakeClock) -> None:
    slate = PaperConnector("slate", clock)
    board = PaperWithHistory("board", clock, echo=True)
    house = House(clock, SqliteStore.in_memory(clock), (slate, board))
    house.room("plaza", (slate, "s", "both"), (board, "b", "both"))
    board.after_send = _echo_and_break(board)

    async with house.run():
        await slate.say("s", "one")
        await clock.let_work()
        still_open = await house.store.open_lanes()

    assert board.texts("b") == ["one"]
    assert still_open == []


def _echo_and_break(board: PaperConnector) -> Callable[[Call], object]:
    """Nobody hears the answer, but the post comes back at once."""
    echoes: set[asyncio.Task[bool]] = set()

    def harm(call: Call) -> None:
        board.after_send = None
        (post,) = board.channels["b"]
        raw = Raw(
            account=board.account, kind="post", dedupe_key=post.id, order_key=post.id,
            channel=board.channel("b"), payload=b"{}",
            echo=Echo(operation=call.operation, receipt=Receipt(native_id=post.id)),
        )  # fmt: skip
        assert board.inbox
        echoes.add(asyncio.ensure_future(board.inbox.accept(raw)))
        raise Unsettled("the connection broke")

    return harm


async def test_a_channel_outside_every_room_is_not_heard(house: House) -> None:
    async with house.run():
        await connector(house, "slate").say("elsewhere", "secret")
        await house.clock.let_work()

    assert connector(house, "board").texts("b") == []
    status = await house.store.status()
    assert (status.messages, sum(status.inbox.values())) == (0, 0)


async def test_a_member_in_is_heard_and_not_told_a_member_out_is_told_and_not_heard(
    clock: FakeClock,
) -> None:
    ear, mouth = PaperConnector("ear", clock), PaperConnector("mouth", clock)
    house = House(clock, SqliteStore.in_memory(clock), (ear, mouth))
    house.room("one way", (ear, "e", "in"), (mouth, "m", "out"))

    async with house.run():
        await ear.say("e", "from the ear")
        await mouth.say("m", "from the mouth")
        await clock.let_work()

    assert sorted(mouth.texts("m")) == ["from the ear", "from the mouth"]
    assert ear.texts("e") == ["from the ear"]


async def test_a_channel_in_two_rooms_shows_a_message_once_and_both_rooms_remember_it(
    clock: FakeClock,
) -> None:
    one, two = PaperConnector("one", clock), PaperConnector("two", clock)
    house = House(clock, SqliteStore.in_memory(clock), (one, two))
    house.room("first", (one, "a", "both"), (two, "b", "both"))
    house.room("second", (one, "a", "both"), (two, "b", "both"), (two, "c", "both"))

    async with house.run():
        await one.say("a", "to both")
        await clock.let_work()

    assert (two.texts("b"), two.texts("c")) == (["to both"], ["to both"])
    for room in (1, 2):
        assert await said(house.store, UUID(int=room)) == ["to both"]


async def test_an_answer_in_a_thread_stands_under_the_copy_of_its_root(house: House) -> None:
    slate, board = connector(house, "slate"), connector(house, "board")
    async with house.run():
        root = await slate.say("s", "root")
        await house.clock.let_work()
        await slate.say("s", "reply", thread=root)
        await house.clock.let_work()
        copy_of_root = board.channels["b"][0]
        await board.say("b", "reply from the board", thread=copy_of_root.id)
        await house.clock.let_work()

    assert [(p.text, p.thread) for p in board.channels["b"]][:2] == [
        ("root", None),
        ("reply", copy_of_root.id),
    ]
    assert slate.channels["s"][-1].text == "reply from the board"
    assert slate.channels["s"][-1].thread == root


async def test_a_thread_whose_root_never_came_begins_with_its_first_answer(house: House) -> None:
    slate, board = connector(house, "slate"), connector(house, "board")
    async with house.run():
        await slate.say("s", "first", thread="000000")
        await house.clock.let_work()
        await slate.say("s", "second", thread="000000")
        await house.clock.let_work()

    first, second = board.channels["b"]
    assert (first.thread, second.thread) == (None, first.id)


async def test_a_malformed_payload_is_kept_and_the_rest_goes_on(house: House) -> None:
    slate = connector(house, "slate")
    async with house.run() as router:
        bad = slate.raw("s", "x").model_copy(update={"payload": b"{", "dedupe_key": "bad"})
        await router.inbox.accept(bad)
        await slate.say("s", "good")
        await house.clock.let_work()

    assert connector(house, "board").texts("b") == ["good"]
    ((row, error),) = await house.store.failed_rows()
    assert row.raw.payload == b"{"
    assert "paper" in error


async def test_what_was_kept_of_an_account_that_is_gone_says_how_to_go_on(house: House) -> None:
    slate = connector(house, "slate")
    await house.store.accept(slate.raw("s", "before"), advance=False)
    del house.connectors[slate.account]
    async with house.run():
        await house.clock.let_work()

    ((_, error),) = await house.store.failed_rows()
    assert "'slate' is no longer configured; put it back" in error


async def test_what_was_kept_before_a_stop_is_carried_after_it(house: House) -> None:
    slate = connector(house, "slate")
    for number in range(3):
        await house.store.accept(slate.raw("s", f"n{number}"), advance=False)

    async with house.run():
        await house.clock.let_work()

    assert connector(house, "board").texts("b") == ["n0", "n1", "n2"]


async def test_what_was_said_while_nobody_listened_comes_before_what_is_said_now(
    clock: FakeClock,
) -> None:
    slate, board = PaperWithHistory("slate", clock), PaperConnector("board", clock)
    house = House(clock, SqliteStore.in_memory(clock), (slate, board))
    house.room("all", (slate, "s", "both"), (board, "b", "both"))
    async with house.run():
        await slate.say("s", "before")
        await clock.let_work()
    slate.raw("s", "missed 1")
    slate.raw("s", "missed 2")

    async with house.run():
        await slate.say("s", "after")
        await clock.let_work()

    assert board.texts("b") == ["before", "missed 1", "missed 2", "after"]


async def test_nothing_said_before_a_channel_joined_is_carried(clock: FakeClock) -> None:
    slate, board = PaperWithHistory("slate", clock), PaperConnector("board", clock)
    house = House(clock, SqliteStore.in_memory(clock), (slate, board))
    house.rooms.append(
        Room(RoomId("r"), UUID(int=9), (
            Member(slate.account, slate.channel("s")), Member(board.account, board.channel("b")),
        ))
    )  # fmt: skip
    slate.raw("s", "long ago")

    async with house.run():
        await clock.let_work()
    slate.raw("s", "while away")
    async with house.run():
        await clock.let_work()

    assert board.texts("b") == ["while away"]


async def test_rows_kept_before_a_crash_wait_for_what_was_missed_before_them(
    clock: FakeClock,
) -> None:
    slate, board = PaperWithHistory("slate", clock), PaperConnector("board", clock)
    house = House(clock, SqliteStore.in_memory(clock), (slate, board))
    house.room("all", (slate, "s", "both"), (board, "b", "both"))
    async with house.run():
        await slate.say("s", "before")
        await clock.let_work()
    slate.raw("s", "missed")
    await house.store.accept(slate.raw("s", "kept, then the crash"), advance=False)

    async with house.run():
        await clock.advance(1)

    assert board.texts("b") == ["before", "missed", "kept, then the crash"]


async def test_rows_do_not_wait_for_ever_for_an_account_that_cannot_connect(
    clock: FakeClock,
) -> None:
    class Unreachable(PaperWithHistory):
        async def run(self, inbox: Inbox) -> None:
            await asyncio.Event().wait()

    slate, board = Unreachable("slate", clock), PaperConnector("board", clock)
    house = House(clock, SqliteStore.in_memory(clock), (slate, board))
    house.room("all", (slate, "s", "both"), (board, "b", "both"))
    await house.store.accept(slate.raw("s", "kept"), advance=False)

    async with house.run():
        await clock.advance(60)

    assert board.texts("b") == ["kept"]


async def test_catch_up_obeys_a_platform_that_asks_to_wait_however_often(clock: FakeClock) -> None:
    class Busy(PaperWithHistory):
        refusals = 20

        async def read_after(
            self,
            channel: ChannelRef,
            cursor: str,
            threads: Sequence[str],
            *,
            patience: float | None = None,
        ) -> AsyncIterator[Raw]:
            if self.refusals:
                self.refusals -= 1
                raise RateLimited("wait", retry_after=0.007)
            async for raw in super().read_after(channel, cursor, threads):
                yield raw

    slate, board = Busy("slate", clock), PaperConnector("board", clock)
    house = House(clock, SqliteStore.in_memory(clock), (slate, board))
    house.room("all", (slate, "s", "both"), (board, "b", "both"))
    async with house.run():
        await slate.say("s", "before")
        await clock.let_work()
    slate.raw("s", "missed")

    async with house.run() as router:
        await clock.advance(2)
        assert router.operations.catching_up
        await slate.say("s", "live")
        await clock.advance(10)
        assert not router.operations.catching_up

    assert board.texts("b") == ["before", "missed", "live"]


async def test_a_channel_that_cannot_be_read_goes_on_and_is_read_later(clock: FakeClock) -> None:
    class Broken(PaperWithHistory):
        broken = False

        async def read_after(
            self,
            channel: ChannelRef,
            cursor: str,
            threads: Sequence[str],
            *,
            patience: float | None = None,
        ) -> AsyncIterator[Raw]:
            if self.broken:
                raise Unavailable("down")
            async for raw in super().read_after(channel, cursor, threads):
                yield raw

    slate, board = Broken("slate", clock), PaperConnector("board", clock)
    house = House(clock, SqliteStore.in_memory(clock), (slate, board))
    house.room("all", (slate, "s", "both"), (board, "b", "both"))
    async with house.run():
        await slate.say("s", "before")
        await clock.let_work()
    slate.raw("s", "missed")
    slate.broken = True

    async with house.run():
        await slate.say("s", "live")
        await clock.advance(30)
        assert board.texts("b") == ["before", "live"]
        slate.broken = False
        await clock.advance(600)

    assert board.texts("b") == ["before", "live", "missed"]


async def test_a_receiver_may_tidy_up_in_peace_when_the_bridge_stops(clock: FakeClock) -> None:
    tidied: list[str] = []

    class Tidy(PaperConnector):
        async def run(self, inbox: Inbox) -> None:
            try:
                await super().run(inbox)
            finally:
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                tidied.append("in peace")

    slate = Tidy("slate", clock)
    house = House(clock, SqliteStore.in_memory(clock), (slate,))
    house.room("all", (slate, "s", "both"))

    async with house.run():
        await clock.let_work()

    assert tidied == ["in peace"]


async def test_a_missed_reply_is_found_though_its_root_was_kept_just_before_the_crash(
    clock: FakeClock,
) -> None:
    class TellsRepliesOfKnownRoots(PaperWithHistory):
        async def read_after(
            self,
            channel: ChannelRef,
            cursor: str,
            threads: Sequence[str],
            *,
            patience: float | None = None,
        ) -> AsyncIterator[Raw]:
            hidden = {
                p.id for p in self.channels[channel.channel] if p.thread not in (None, *threads)
            }
            async for raw in super().read_after(channel, cursor, threads):
                if raw.order_key not in hidden:
                    yield raw

    slate, board = TellsRepliesOfKnownRoots("slate", clock), PaperConnector("board", clock)
    house = House(clock, SqliteStore.in_memory(clock), (slate, board))
    house.room("all", (slate, "s", "both"), (board, "b", "both"))
    async with house.run():
        await slate.say("s", "before")
        await clock.advance(5)
    root = slate.raw("s", "root")
    await house.store.accept(root, advance=True)
    slate.raw("s", "missed", thread=root.order_key)

    async with house.run():
        await clock.advance(5)

    assert board.texts("b") == ["before", "root", "missed"]


async def test_the_cursor_waits_for_live_events_that_may_be_on_their_way(clock: FakeClock) -> None:
    slate, board = PaperWithHistory("slate", clock), PaperConnector("board", clock)
    house = House(clock, SqliteStore.in_memory(clock), (slate, board))
    house.room("all", (slate, "s", "both"), (board, "b", "both"))
    async with house.run():
        await clock.advance(5)
    before = await house.store.cursor(slate.account, slate.channel("s"))
    slate.raw("s", "missed")

    async with house.run():
        await clock.advance(1)
        assert board.texts("b") == ["missed"]
        assert await house.store.cursor(slate.account, slate.channel("s")) == before
        await clock.advance(2)

    assert await house.store.cursor(slate.account, slate.channel("s")) != before
