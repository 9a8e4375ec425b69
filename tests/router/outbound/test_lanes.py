"""Lanes keep order through failures, settle doubtful posts, and do not delay one another."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from bridge.errors import (
    AuthFailed,
    FormRefused,
    NotFound,
    PlatformError,
    RateLimited,
    Refused,
    StoreError,
    StoreFull,
    Unavailable,
    Unsettled,
)
from bridge.model import (
    AccountId,
    Call,
    Delivery,
    Encoded,
    LaneId,
    MessageId,
    OperationId,
    Rate,
    Receipt,
    Upload,
)
from bridge.model.outbox_records import DeadLetter, OutboxItem, Settlement
from bridge.ports.abilities import Abilities
from bridge.ports.inbox import Inbox
from bridge.store import SqliteStore
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector, FakeWithHistory, Post

Harm = Callable[[Call], object]
BROKEN = "the connection broke"


def fail_once(error: Exception) -> Harm:
    left = [error]

    def harm(_call: Call) -> None:
        if left:
            raise left.pop()

    return harm


def fail_always(error: Exception) -> Harm:
    def harm(_call: Call) -> None:
        raise error

    return harm


def pair(
    clock: FakeClock, kind: type[FakeConnector] = FakeConnector
) -> tuple[RouterRig, FakeConnector, FakeConnector]:
    sales, billing = kind("sales", clock), kind("billing", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"), (billing, "c", "both"))
    return rig, sales, billing


async def carry(
    rig: RouterRig, sales: FakeConnector, *texts: str, seconds: float = 5
) -> list[DeadLetter]:
    """Run while sales posts the texts and for some seconds more; return the dead letters."""
    async with rig.run():
        for text in texts:
            await sales.say("s", text)
        await rig.clock.advance(seconds)
    return list(await rig.store.dead_letters())


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        pytest.param(RateLimited("slow down", retry_after=5), 400, id="a rate limit"),
        pytest.param(Unavailable("gone"), 400, id="an outage"),
        pytest.param(AuthFailed("no token"), 400, id="a refused token"),
        pytest.param(AuthFailed("it is being renewed"), 2, id="a token refused for a moment"),
    ],
)
async def test_a_temporary_failure_is_retried_and_the_order_is_kept(
    clock: FakeClock, error: PlatformError, seconds: float
) -> None:
    rig, sales, billing = pair(clock)
    billing.before_send = fail_once(error)

    await carry(rig, sales, "one", "two", "three", seconds=seconds)

    assert billing.texts("b") == billing.texts("c") == ["one", "two", "three"]


async def test_a_lane_does_not_look_again_at_what_it_sends_because_more_is_queued_behind_it(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig, sales, billing = pair(clock)
    begin, head, looks = rig.store.begin, rig.store.head, list[LaneId]()

    async def begin_while_more_comes(operation: OperationId) -> None:
        monkeypatch.setattr(rig.store, "begin", begin)
        await begin(operation)
        await sales.say("s", "two")

    async def counted(lane: LaneId, *, besides: Sequence[MessageId] = ()) -> OutboxItem | None:
        looks.append(lane)
        return await head(lane, besides=besides)

    monkeypatch.setattr(rig.store, "begin", begin_while_more_comes)
    monkeypatch.setattr(rig.store, "head", counted)
    await carry(rig, sales, "one")

    assert billing.texts("b") == billing.texts("c") == ["one", "two"]
    assert looks.count(billing.channel("b").lane) == 2  # at "two", and at nothing more


async def test_a_refused_post_becomes_a_dead_letter_and_the_lane_goes_on(clock: FakeClock) -> None:
    rig, sales, billing = pair(clock)
    billing.before_send = fail_once(Refused("Channel 'b' is read-only; ask its owner"))

    async with rig.run() as router:
        await sales.say("s", "one")
        await sales.say("s", "two")
        await clock.advance(5)
        (letter,) = await rig.store.dead_letters()
        assert letter.error == "Channel 'b' is read-only; ask its owner"
        assert letter.excerpt == "one"
        router.parts.outbound.lanes.wake(await rig.store.replay(letter.operation.id))
        await clock.advance(5)

    lists = [billing.texts("b"), billing.texts("c")]
    assert sorted(map(sorted, lists)) == [["one", "two"], ["one", "two"]]
    assert await rig.store.dead_letters() == []


async def test_a_lane_that_failed_for_long_goes_on_within_a_minute(clock: FakeClock) -> None:
    rig, sales, billing = pair(clock)
    away = True

    def harm(call: Call) -> None:
        del call
        if away:
            raise Unavailable("gone")

    billing.before_send = harm
    async with rig.run():
        await sales.say("s", "one")
        await clock.advance(1200)
        assert billing.texts("b") == []
        away = False
        await clock.advance(61)

    assert [billing.texts(channel)[:1] for channel in "bc"] == [["one"], ["one"]]


async def test_a_replayed_dead_letter_of_a_deleted_message_posts_nothing(
    clock: FakeClock,
) -> None:
    rig, sales, billing = pair(clock)
    billing.before_send = fail_once(Refused("Channel 'b' is read-only; ask its owner"))

    async with rig.run() as router:
        await sales.delete("s", await sales.say("s", "one"))
        await clock.advance(5)
        for letter in await rig.store.dead_letters():
            router.parts.outbound.lanes.wake(await rig.store.replay(letter.operation.id))
        await clock.advance(5)

    assert billing.texts("b") == billing.texts("c") == []
    assert await rig.store.dead_letters() == []


class FakeInWords(FakeConnector):
    """Takes no post until it is said in words; then in words that shout."""

    def own_abilities(self) -> Abilities:
        return replace(super().own_abilities(), simpler_forms=self)

    def without_files(self, call: Call) -> Call | None:
        return None

    def in_words(self, call: Call) -> Call | None:
        if not call.body["text"] or call.body.get("plain"):
            return None
        words = {**call.body, "text": str(call.body["text"]).upper(), "plain": True}
        return call.model_copy(update={"body": words})


@pytest.mark.parametrize(
    ("refused", "texts", "letters"),
    [
        pytest.param(("one",), ["ONE", "two"], 0, id="the form"),
        pytest.param(("one", "ONE"), ["two"], 2, id="the form and the words"),
    ],
)
async def test_a_refused_form_is_posted_in_words_and_refused_words_become_a_dead_letter(
    clock: FakeClock, refused: tuple[str, ...], texts: list[str], letters: int
) -> None:
    rig, sales, billing = pair(clock, FakeInWords)

    def harm(call: Call) -> None:
        if str(call.body["text"]) in refused:
            raise FormRefused("invalid_blocks")

    billing.before_send = harm

    dead = await carry(rig, sales, "one", "two")

    assert billing.texts("b") == billing.texts("c") == texts
    assert [letter.error for letter in dead] == ["invalid_blocks"] * letters


async def test_a_reply_whose_thread_is_gone_begins_a_new_one(clock: FakeClock) -> None:
    rig, sales, billing = pair(clock)
    gone = {"b": ""}

    def harm(call: Call) -> None:
        if call.thread is not None and call.thread == gone.get(call.channel.channel):
            raise NotFound("the thread is gone")

    billing.before_send = harm

    async with rig.run():
        root = await sales.say("s", "root")
        await clock.advance(5)
        gone["b"] = billing.channels["b"][0].id
        await sales.say("s", "first", thread=root)
        await sales.say("s", "second", thread=root)
        await clock.advance(5)

    assert billing.texts("b") == billing.texts("c") == ["root", "first", "second"]
    old, first, second = billing.channels["b"]
    assert (old.thread, first.thread, second.thread) == (None, None, first.id)
    assert await rig.store.dead_letters() == []


async def test_a_reply_that_is_edited_while_its_thread_is_gone_begins_a_new_one(
    clock: FakeClock,
) -> None:
    slow = {"channel": (Rate(count=1, seconds=60.0),)}
    sales, billing = (
        FakeConnector("sales", clock),
        FakeConnector("billing", clock, rate_limits=slow),
    )
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"))

    def harm(call: Call) -> None:
        if call.kind == "post" and call.thread is not None:
            raise NotFound("the thread is gone")

    billing.before_send = harm
    async with rig.run():
        root = await sales.say("s", "root")
        await clock.advance(5)
        answer = await sales.say("s", "as it was", thread=root)
        await clock.advance(60)  # it is refused, and waits to be said in the channel
        await sales.edit("s", answer, "as it is now")
        await clock.advance(120)

    assert billing.texts("b") == ["root", "as it is now"]
    assert await rig.store.dead_letters() == []


async def test_a_reply_to_a_channel_that_is_gone_becomes_a_dead_letter(
    clock: FakeClock,
) -> None:
    rig, sales, billing = pair(clock)

    async with rig.run():
        root = await sales.say("s", "root")
        await clock.advance(5)
        billing.before_send = fail_always(NotFound("no such channel"))
        await sales.say("s", "answer", thread=root)
        await clock.advance(5)

    letters = await rig.store.dead_letters()
    assert [(letter.error, letter.excerpt) for letter in letters] == [
        ("no such channel", "answer")
    ] * 2


class FakeWithFile(FakeConnector):
    """Each post takes a file along; it is slow to leave."""

    def encode(self, delivery: Delivery) -> Encoded:
        encoded = super().encode(delivery)
        file = Upload(file_id="blob:x", name="x", media_type="video/mp4", size=1_000)
        calls = [call.model_copy(update={"files": (file,)}) for call in encoded.calls]
        return encoded.model_copy(update={"calls": tuple(calls)})

    async def send(self, call: Call) -> Receipt:
        await self._clock.sleep(15)
        return await super().send(call)


@pytest.mark.parametrize(("pace", "arrive"), [(50.0, True), (1_000_000.0, False)])
async def test_the_deadline_of_a_call_grows_with_its_files(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch, pace: float, arrive: bool
) -> None:
    # Deadlines of calls go by the clock of the loop.
    monkeypatch.setattr(asyncio.get_running_loop(), "time", clock.monotonic)
    rig, sales, billing = pair(clock, FakeWithFile)
    rig.timeouts = replace(rig.timeouts, send_deadline=5, upload_pace=pace)

    async with rig.run():
        await sales.say("s", "one")
        for _ in range(4):
            await clock.advance(10)

    letters = [
        dead_letter.state
        for dead_letter in await rig.store.dead_letters()
        if dead_letter.excerpt == "one"
    ]
    assert letters == ([] if arrive else ["unproved"] * 2)
    assert billing.texts("b") == (["one"] if arrive else [])


@pytest.mark.parametrize(
    ("kind", "arrived", "states"),
    [
        pytest.param(FakeWithHistory, True, [], id="found by a lookup"),
        pytest.param(FakeWithHistory, False, [], id="not found and sent again"),
        pytest.param(FakeConnector, True, ["unproved"], id="no lookup and never sent again"),
    ],
)
async def test_a_post_whose_answer_was_lost_is_posted_once(
    clock: FakeClock, kind: type[FakeConnector], arrived: bool, states: list[str]
) -> None:
    rig, sales, billing = pair(clock, kind)
    setattr(billing, "after_send" if arrived else "before_send", fail_once(Unsettled(BROKEN)))

    letters = await carry(rig, sales, "one", "two", seconds=30)

    assert billing.texts("b") == billing.texts("c") == ["one", "two"]
    assert [letter.state for letter in letters] == states


@pytest.mark.parametrize("arrived", [True, False])
@pytest.mark.parametrize("by_words", [True, False])
@pytest.mark.parametrize("crash", [True, False])
async def test_a_part_that_an_edit_adds_is_posted_once_when_its_answer_is_lost(
    clock: FakeClock, arrived: bool, by_words: bool, crash: bool
) -> None:
    rig, sales, billing = pair(clock, FakeWithHistory)
    assert isinstance(billing, FakeWithHistory)
    billing.knows_by_words = by_words
    lost = fail_once(Unsettled(BROKEN))

    def harm(call: Call) -> None:
        if (call.kind, call.slot, call.channel.channel) == ("post", 1, "b"):
            lost(call)

    async with rig.run():
        said = await sales.say("s", "one")
        await sales.say("s", "another")
        await clock.advance(1)
        setattr(billing, "after_send" if arrived else "before_send", harm)
        await sales.edit("s", said, "x" * 100 + "two")
        await clock.advance(0.5 if crash else 30)
    async with rig.run():
        await clock.advance(30)

    assert billing.texts("b") == billing.texts("c") == ["x" * 100, "another", "two"]


@pytest.mark.parametrize("kind", ["edit", "post"])
@pytest.mark.parametrize("arrived", [True, False])
async def test_without_a_lookup_a_part_that_an_edit_adds_is_not_doubled(
    clock: FakeClock, kind: str, arrived: bool
) -> None:
    rig, sales, billing = pair(clock)
    lost = fail_once(Unsettled(BROKEN))

    def harm(call: Call) -> None:
        if (call.kind, call.channel.channel) == (kind, "b"):
            lost(call)

    async with rig.run():
        said = await sales.say("s", "one")
        await clock.advance(1)
        setattr(billing, "after_send" if arrived else "before_send", harm)
        await sales.edit("s", said, "x" * 100 + "two")
        await clock.advance(30)

    whole = arrived or kind == "edit"
    assert billing.texts("b") == ["x" * 100, "two"][: 2 if whole else 1]
    letters = [letter.state for letter in await rig.store.dead_letters()]
    assert letters == (["unproved"] if kind == "post" else [])


@pytest.mark.parametrize("arrived", [True, False])
async def test_an_edit_does_not_double_a_post_whose_answer_was_lost(
    clock: FakeClock, arrived: bool
) -> None:
    """It was queued while the post was under way, and nobody can look whether that arrived."""
    rig, sales, billing = pair(clock)
    answer = asyncio.Event()

    async def lose(call: Call) -> None:
        if call.body["text"] == "one" and call.channel.channel == "b":
            if arrived:
                billing.channels["b"].append(_post_of(call))
            await answer.wait()
            raise Unsettled(BROKEN)

    billing.before_send = lose
    async with rig.run():
        said = await sales.say("s", "one")
        await clock.let_work()
        await sales.edit("s", said, "two")
        await sales.say("s", "three")
        await clock.let_work()
        answer.set()
        await clock.advance(30)

    assert billing.texts("b") == (["one", "three"] if arrived else ["three"])
    assert billing.texts("c") == ["two", "three"]
    letters = await rig.store.dead_letters()
    assert [(letter.state, letter.excerpt) for letter in letters] == [("unproved", "two")]


async def test_a_start_settles_the_post_that_the_last_process_was_sending(clock: FakeClock) -> None:
    rig, sales, billing = pair(clock, FakeWithHistory)
    stuck = asyncio.Event()

    async def hang_after_arrival(call: Call) -> None:
        if call.body["text"] == "one" and call.channel.channel == "b":
            billing.channels["b"].append(_post_of(call))
            await stuck.wait()

    billing.before_send = hang_after_arrival
    async with rig.run():
        await sales.say("s", "one")
        await clock.let_work()
    billing.before_send = None

    async with rig.run():
        await sales.say("s", "two")
        await clock.advance(30)

    assert billing.texts("b") == ["one", "two"]


async def test_a_post_to_a_free_lane_is_begun_when_it_is_admitted_and_sent_once(
    clock: FakeClock,
) -> None:
    rig, sales, billing = pair(clock, FakeWithHistory)
    states: list[tuple[str, int]] = []

    async def look(call: Call) -> None:
        item = await rig.store.head(call.channel.lane)
        assert item is not None
        states.append((item.state, item.attempts))

    billing.before_send = look
    await carry(rig, sales, "one", "two", seconds=30)

    assert billing.texts("b") == billing.texts("c") == ["one", "two"]
    assert states == [("sending", 1)] * 4


async def test_operations_from_before_a_start_go_before_those_queued_during_it(
    clock: FakeClock,
) -> None:
    class Slow(SqliteStore):
        async def dead_letters(self) -> Sequence[DeadLetter]:
            await clock.let_work()
            return await super().dead_letters()

    sales, billing = FakeConnector("sales", clock), FakeWithHistory("billing", clock)
    rig = RouterRig(clock, Slow.in_memory(clock), (sales, billing))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"))
    billing.before_send = fail_always(Unavailable("gone"))
    async with rig.run():
        await sales.say("s", "said before")
        await clock.let_work()
    await rig.store.accept(sales.raw("s", "kept before"), advance=False)
    billing.before_send = None

    async with rig.run():
        await clock.advance(5)

    assert billing.texts("b") == ["said before", "kept before"]


async def test_an_operation_that_waits_for_a_rate_limit_holds_up_no_stop_and_waits_again(
    clock: FakeClock,
) -> None:
    slow = {"channel": (Rate(count=1, seconds=60.0),)}
    sales = FakeConnector("sales", clock)
    billing = FakeWithHistory("billing", clock, rate_limits=slow)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.room("plaza", (sales, "s", "both"), (billing, "b", "both"))
    rig.timeouts = replace(rig.timeouts, drain=600.0)

    async with asyncio.timeout(20), rig.run():
        await sales.say("s", "one")
        await clock.let_work()
        await sales.say("s", "two")
        await clock.let_work()
    stopped = await rig.store.head(billing.channel("b").lane)
    async with rig.run():
        await clock.advance(200)

    assert stopped is not None
    assert (stopped.state, stopped.delivery.message.actor.name) == ("waiting", "Ann of sales")
    assert billing.texts("b") == ["one", "two"]


async def wait_for_a_rate_limit(call: Call) -> None:
    if call.channel.channel == "c":
        raise RateLimited("wait", retry_after=30, scope=("channel",))


async def hang(call: Call) -> None:
    if call.channel.channel == "c":
        await asyncio.Event().wait()


@pytest.mark.parametrize("fault", [wait_for_a_rate_limit, hang])
async def test_a_lane_in_trouble_delays_no_other_lane(
    fault: Callable[[Call], Awaitable[None]],
) -> None:
    times: list[list[tuple[float, str, str]]] = []
    for harm in (None, fault):
        clock = FakeClock()
        rig, sales, billing = pair(clock)
        billing.before_send = harm
        async with rig.run():
            for number in range(20):
                await sales.say("s", f"n{number}")
                await clock.advance(0.5)
        times.append([sent for sent in billing.sent if sent[1] == "b"])

    assert times[0] == times[1]


async def test_a_long_text_is_posted_in_pieces_in_order(clock: FakeClock) -> None:
    rig, sales, billing = pair(clock)
    long = "".join(f"{n:04d}" for n in range(100))

    async with rig.run():
        await sales.say("s", long)
        await sales.say("s", "next")
        await clock.advance(1)

    assert "".join(billing.texts("b")[:-1]) == long
    assert billing.texts("b")[-1] == "next"


async def test_a_long_text_whose_sending_failed_in_the_middle_goes_on_there(
    clock: FakeClock,
) -> None:
    rig, sales, billing = pair(clock)
    long = "".join(f"{n:04d}" for n in range(100))
    failures = [2]

    def third_piece_fails(call: Call) -> None:
        if call.slot == 2 and failures[0]:
            failures[0] -= 1
            raise Unavailable("gone")

    billing.before_send = third_piece_fails
    async with rig.run():
        await sales.say("s", long)
        await clock.advance(30)

    assert "".join(billing.texts("b")) == "".join(billing.texts("c")) == long


async def test_operations_of_a_removed_account_become_dead_letters(
    clock: FakeClock,
) -> None:
    rig, sales, billing = pair(clock)
    billing.before_send = lambda _call: (_ for _ in ()).throw(Unavailable("gone"))
    async with rig.run():
        await sales.say("s", "one")
        await clock.let_work()
    del rig.connectors[AccountId("billing")]

    async with rig.run():
        await clock.advance(400)

    letters = await rig.store.dead_letters()
    assert [letter.state for letter in letters] == ["dead", "dead"]
    assert "no longer configured" in letters[0].error


def _post_of(call: Call) -> Post:
    return Post("000900", str(call.body["author"]), str(call.body["text"]), None, call.operation)


async def test_a_message_that_cannot_be_encoded_does_not_block_its_lane(clock: FakeClock) -> None:
    rig, sales, billing = pair(clock)
    encode = billing.encode

    def trips_over_two(delivery: Delivery) -> Encoded:
        encoded = encode(delivery)
        if encoded.calls[0].body["text"] == "two":
            raise ZeroDivisionError("/srv/secret")
        return encoded

    billing.encode = trips_over_two  # type: ignore[method-assign]
    await carry(rig, sales, "one", "two", "three", seconds=5)

    assert billing.texts("b") == ["one", "three"]
    lost, *_ = await rig.store.dead_letters()
    # Rooms are told this: the words of a fault, which may name files or keys, are in the log.
    assert lost.error == "it cannot be encoded: ZeroDivisionError; see the log"


async def test_an_unexpected_exception_of_a_connector_does_not_block_its_lane(
    clock: FakeClock,
) -> None:
    rig, sales, billing = pair(clock, FakeWithHistory)

    def breaks_on_two(call: Call) -> None:
        if call.body["text"] == "two":
            raise ZeroDivisionError("oops")

    billing.before_send = breaks_on_two
    await carry(rig, sales, "one", "two", "three", seconds=600)

    assert billing.texts("b") == ["one", "three"]
    assert {letter.excerpt for letter in await rig.store.dead_letters()} == {"two"}


async def test_a_store_failure_while_an_operation_is_given_up_does_not_end_its_lane(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig, sales, billing = pair(clock, FakeWithHistory)
    settle = rig.store.settle

    def breaks_on_two(call: Call) -> None:
        if call.body["text"] == "two":
            raise ZeroDivisionError("oops")

    async def on_a_full_disk(settlement: Settlement, *, patient: bool = False) -> None:
        if settlement.state == "dead" and not refused:
            refused.append(settlement.operation)
            raise StoreError("the disk is full")
        await settle(settlement, patient=patient)

    refused: list[OperationId] = []
    billing.before_send = breaks_on_two
    async with rig.run():
        monkeypatch.setattr(rig.store, "settle", on_a_full_disk)
        for text in ("one", "two", "three"):
            await sales.say("s", text)
        await clock.advance(600)

    assert refused
    assert billing.texts("b") == billing.texts("c") == ["one", "three"]
    assert {letter.excerpt for letter in await rig.store.dead_letters()} == {"two"}


@pytest.mark.parametrize("write", ["settle", "record"])
async def test_what_a_full_disk_refused_to_note_is_noted_when_there_is_room_again(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch, write: str
) -> None:
    """The platform has no history: nobody could find out whether it has the post."""
    rig, sales, billing = pair(clock)
    keep, refusals = getattr(rig.store, write), [StoreFull("no room")] * 3

    async def on_a_full_disk(*arguments: object, **more: bool) -> None:
        if refusals:
            raise refusals.pop()
        await keep(*arguments, **more)

    async with rig.run():
        monkeypatch.setattr(rig.store, write, on_a_full_disk)
        await sales.say("s", "a" * 100 + "b")
        await sales.say("s", "two")
        await clock.advance(600)

    assert not refusals
    assert billing.texts("b") == billing.texts("c") == ["a" * 100, "b", "two"]
    assert not list(await rig.store.dead_letters())


async def test_a_post_that_is_deleted_just_before_its_call_is_cancelled(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig, sales, billing = pair(clock)
    billing.before_send = fail_once(RateLimited("slow down", retry_after=5))
    begin = rig.store.begin

    async def late(operation: OperationId) -> None:
        """The deletion is quicker than the lane."""
        if not gone:
            gone.append(operation)
            await sales.delete("s", one)
            await clock.let_work()
        await begin(operation)

    gone: list[OperationId] = []
    async with rig.run():
        one = await sales.say("s", "one")
        monkeypatch.setattr(rig.store, "begin", late)
        with capture_logs() as logs:
            await clock.advance(60)
            await sales.say("s", "two")
            await clock.advance(60)

    assert gone
    assert billing.texts("b") == billing.texts("c") == ["two"]
    assert [
        one["event"] for one in logs if one["event"] in ("lane_failed", "operation_cancelled")
    ] == ["operation_cancelled"]


@pytest.fixture
def by_words(clock: FakeClock) -> tuple[RouterRig, FakeWithHistory, FakeWithHistory]:
    """A platform that knows our posts by their words alone."""
    sales, billing = FakeWithHistory("sales", clock), FakeWithHistory("billing", clock)
    billing.knows_by_words = True
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"))
    return rig, sales, billing


ByWords = tuple[RouterRig, FakeWithHistory, FakeWithHistory]


@pytest.mark.parametrize("arrived", [True, False])
@pytest.mark.parametrize("edited", [True, False])
async def test_of_two_equal_posts_each_is_posted_once_when_an_answer_is_lost(
    by_words: ByWords, arrived: bool, edited: bool
) -> None:
    rig, sales, billing = by_words
    async with rig.run():
        await sales.say("s", "ok")
        await rig.clock.advance(5)
        if edited:  # the part that it adds stands behind the lane's last post, and is not it
            await sales.edit("s", sales.channels["s"][0].id, "x" * 100 + "ok")
            await rig.clock.advance(5)
            assert billing.texts("b")[-1] == "ok"
        setattr(billing, "after_send" if arrived else "before_send", fail_once(Unsettled(BROKEN)))
        await sales.say("s", "ok")
        await rig.clock.advance(30)

    assert billing.texts("b").count("ok") == 2


@pytest.mark.parametrize("crash", [False, True])
async def test_a_post_that_was_edited_while_its_answer_was_lost_is_found_as_it_was_sent(
    by_words: ByWords, crash: bool
) -> None:
    rig, sales, billing = by_words
    async with rig.run():
        await sales.say("s", "hello")
        await rig.clock.advance(5)
        billing.after_send = fail_once(Unsettled(BROKEN))
        own_id = await sales.say("s", "ok")
        await rig.clock.let_work()
        await sales.edit("s", own_id, "ok, changed")
        if not crash:
            await rig.clock.advance(30)
    async with rig.run():
        await rig.clock.advance(30)

    assert billing.texts("b") == ["hello", "ok, changed"]


@pytest.mark.parametrize("crash", [False, True])
@pytest.mark.parametrize("arrived", [True, False])
async def test_a_part_in_doubt_of_a_post_that_became_shorter_does_not_stay(
    by_words: ByWords, crash: bool, arrived: bool
) -> None:
    rig, sales, billing = by_words
    lost = fail_once(Unsettled(BROKEN))

    def harm(call: Call) -> None:
        if (call.kind, call.slot) == ("post", 1):
            lost(call)

    setattr(billing, "after_send" if arrived else "before_send", harm)
    async with rig.run():
        own_id = await sales.say("s", "x" * 100 + "two")
        await rig.clock.let_work()
        await sales.edit("s", own_id, "short")
        await sales.say("s", "next")
        if not crash:
            await rig.clock.advance(30)
    async with rig.run():
        await rig.clock.advance(30)

    assert billing.texts("b") == ["short", "next"]


async def test_a_post_that_was_deleted_while_its_answer_was_lost_is_not_sent_again(
    by_words: ByWords,
) -> None:
    rig, sales, billing = by_words
    billing.before_send = fail_once(Unsettled(BROKEN))
    async with rig.run():
        own_id = await sales.say("s", "secret")
        await rig.clock.let_work()
        await sales.delete("s", own_id)
        await sales.say("s", "next")
        await rig.clock.advance(30)

    assert billing.texts("b") == ["next"]
    assert [text for _, _, text in billing.sent] == ["next"]


class AnsweredWhereItReceives(FakeConnector):
    """Its platform answers calls over the connection that events come over."""

    connected = False

    async def run(self, inbox: Inbox) -> None:
        self.connected = True
        try:
            await super().run(inbox)
        finally:
            self.connected = False


async def test_a_stop_disconnects_an_account_after_its_call_is_answered(clock: FakeClock) -> None:
    source, target = FakeConnector("source", clock), AnsweredWhereItReceives("target", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (source, target))
    rig.room("all", (source, "s", "both"), (target, "t", "both"))
    begun, stopping = asyncio.Event(), asyncio.Event()

    async def answer_during_the_stop(_call: Call) -> None:
        begun.set()
        await stopping.wait()
        for _ in range(100):  # longer than accounts need to disconnect
            await asyncio.sleep(0)
        if not target.connected:
            raise Unsettled(BROKEN)

    target.before_send = answer_during_the_stop
    with capture_logs() as logs:
        async with rig.run():
            await source.say("s", "the last words")
            await begun.wait()
            stopping.set()

    assert not target.connected
    assert [entry for entry in logs if entry["log_level"] == "warning"] == []
    assert await rig.store.open_lanes() == []
