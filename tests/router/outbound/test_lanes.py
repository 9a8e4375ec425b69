"""Lanes keep order through every trouble, settle what is doubtful, and leave each other alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
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
    Unavailable,
    Unsettled,
)
from bridge.model import AccountId, Call, Delivery, Encoded, OperationId, Rate, Receipt, Upload
from bridge.model.outbox_records import DeadLetter, Settlement
from bridge.ports.abilities import Abilities
from bridge.store import SqliteStore
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector, FakeWithHistory, Post

Harm = Callable[[Call], object]


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


@pytest.mark.parametrize(
    "error",
    [RateLimited("slow down", retry_after=5), Unavailable("gone"), AuthFailed("no token")],
)
async def test_what_can_be_tried_again_is_and_order_is_kept(
    clock: FakeClock, error: PlatformError
) -> None:
    rig, sales, billing = pair(clock)
    billing.before_send = fail_once(error)

    async with rig.run():
        for text in ("one", "two", "three"):
            await sales.say("s", text)
        await clock.advance(400)

    assert billing.texts("b") == billing.texts("c") == ["one", "two", "three"]


async def test_what_is_refused_goes_to_dead_letters_and_the_lane_goes_on(clock: FakeClock) -> None:
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


async def test_a_letter_of_a_message_that_was_deleted_since_is_replayed_for_nobody(
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


async def test_what_is_refused_in_its_form_is_said_in_words_and_that_is_told(
    clock: FakeClock,
) -> None:
    rig, sales, billing = pair(clock, FakeInWords)

    def harm(call: Call) -> None:
        if "one" in str(call.body["text"]):
            raise FormRefused("invalid_blocks")

    billing.before_send = harm

    async with rig.run():
        await sales.say("s", "one")
        await sales.say("s", "two")
        await clock.advance(5)

    assert billing.texts("b") == billing.texts("c") == ["ONE", "two"]
    assert await rig.store.dead_letters() == []


async def test_an_answer_whose_thread_is_gone_begins_it_anew(clock: FakeClock) -> None:
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


async def test_an_answer_that_changes_while_its_thread_is_found_gone_begins_it_anew(
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


async def test_where_the_channel_itself_is_gone_an_answer_is_a_dead_letter(
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


async def test_words_that_are_refused_too_go_to_dead_letters(clock: FakeClock) -> None:
    rig, sales, billing = pair(clock, FakeInWords)

    def harm(call: Call) -> None:
        if "one" in str(call.body["text"]).lower():
            raise FormRefused("it wants no words")

    billing.before_send = harm

    async with rig.run():
        await sales.say("s", "one")
        await sales.say("s", "two")
        await clock.advance(5)

    assert billing.texts("b") == billing.texts("c") == ["two"]
    assert [letter.error for letter in await rig.store.dead_letters()] == ["it wants no words"] * 2


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
async def test_files_may_take_their_time(
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


async def test_a_lost_answer_is_looked_for_and_never_sent_twice(clock: FakeClock) -> None:
    rig, sales, billing = pair(clock, FakeWithHistory)
    billing.after_send = fail_once(Unsettled("the connection broke"))

    async with rig.run():
        await sales.say("s", "one")
        await sales.say("s", "two")
        await clock.advance(30)

    assert billing.texts("b") == billing.texts("c") == ["one", "two"]


async def test_a_post_that_never_arrived_is_sent_again(clock: FakeClock) -> None:
    rig, sales, billing = pair(clock, FakeWithHistory)
    billing.before_send = fail_once(Unsettled("the connection broke"))

    async with rig.run():
        await sales.say("s", "one")
        await sales.say("s", "two")
        await clock.advance(30)

    assert billing.texts("b") == billing.texts("c") == ["one", "two"]


@pytest.mark.parametrize("arrived", [True, False])
@pytest.mark.parametrize("by_words", [True, False])
@pytest.mark.parametrize("crash", [True, False])
async def test_a_part_that_an_edit_adds_stands_once_when_its_answer_is_lost(
    clock: FakeClock, arrived: bool, by_words: bool, crash: bool
) -> None:
    rig, sales, billing = pair(clock, FakeWithHistory)
    assert isinstance(billing, FakeWithHistory)
    billing.knows_by_words = by_words
    lost = fail_once(Unsettled("the connection broke"))

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
async def test_where_nobody_can_look_a_part_that_an_edit_adds_is_not_doubled(
    clock: FakeClock, kind: str, arrived: bool
) -> None:
    rig, sales, billing = pair(clock)
    lost = fail_once(Unsettled("the connection broke"))

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


async def test_where_nobody_can_look_a_doubtful_post_is_unproved_and_never_resent(
    clock: FakeClock,
) -> None:
    rig, sales, billing = pair(clock)
    billing.after_send = fail_once(Unsettled("the connection broke"))

    async with rig.run():
        await sales.say("s", "one")
        await sales.say("s", "two")
        await clock.advance(30)

    assert billing.texts("b") == billing.texts("c") == ["one", "two"]
    (letter,) = await rig.store.dead_letters()
    assert letter.state == "unproved"


async def test_a_process_that_died_while_sending_settles_first(clock: FakeClock) -> None:
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
    async with rig.run():
        await sales.say("s", "one")
        await sales.say("s", "two")
        await clock.advance(30)

    assert billing.texts("b") == billing.texts("c") == ["one", "two"]
    assert states == [("sending", 1)] * 4


async def test_what_waits_from_before_a_start_goes_before_what_is_said_while_it_starts(
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


async def test_what_was_begun_and_never_sent_is_put_back_when_the_bridge_stops(
    clock: FakeClock,
) -> None:
    slow = {"channel": (Rate(count=1, seconds=60.0),)}
    sales = FakeConnector("sales", clock)
    billing = FakeWithHistory("billing", clock, rate_limits=slow)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.room("plaza", (sales, "s", "both"), (billing, "b", "both"))

    async with rig.run():
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


async def test_a_lane_that_is_told_to_wait_delays_no_other(clock: FakeClock) -> None:
    times = {}
    for faulty in (False, True):
        clock = FakeClock()
        rig, sales, billing = pair(clock)

        def told_to_wait(call: Call) -> None:
            if call.channel.channel == "c":
                raise RateLimited("wait", retry_after=30, scope=("channel",))

        billing.before_send = told_to_wait if faulty else None
        async with rig.run():
            for number in range(20):
                await sales.say("s", f"n{number}")
                await clock.advance(0.5)
        times[faulty] = [sent for sent in billing.sent if sent[1] == "b"]

    assert times[True] == times[False]


async def test_a_lane_that_hangs_delays_no_other(clock: FakeClock) -> None:
    times = {}
    for faulty in (False, True):
        clock = FakeClock()
        rig, sales, billing = pair(clock)

        async def hang(call: Call) -> None:
            if call.channel.channel == "c":
                await asyncio.Event().wait()

        billing.before_send = hang if faulty else None
        async with rig.run():
            for number in range(20):
                await sales.say("s", f"n{number}")
                await clock.advance(0.5)
        times[faulty] = [sent for sent in billing.sent if sent[1] == "b"]

    assert times[True] == times[False]


async def test_long_texts_stand_in_pieces_in_order(clock: FakeClock) -> None:
    rig, sales, billing = pair(clock)
    long = "".join(f"{n:04d}" for n in range(100))

    async with rig.run():
        await sales.say("s", long)
        await sales.say("s", "next")
        await clock.advance(1)

    assert "".join(billing.texts("b")[:-1]) == long
    assert billing.texts("b")[-1] == "next"


async def test_a_long_text_that_broke_in_the_middle_goes_on_there(clock: FakeClock) -> None:
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


async def test_an_account_that_left_the_configuration_leaves_dead_letters(
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
    async with rig.run():
        for text in ("one", "two", "three"):
            await sales.say("s", text)
        await clock.advance(5)

    assert billing.texts("b") == ["one", "three"]
    lost, *_ = await rig.store.dead_letters()
    # Rooms are told this: the words of a fault, which may name files or keys, are in the log.
    assert lost.error == "it cannot be encoded: ZeroDivisionError; see the log"


async def test_a_connector_that_breaks_in_unheard_of_ways_does_not_block_its_lane(
    clock: FakeClock,
) -> None:
    rig, sales, billing = pair(clock, FakeWithHistory)

    def breaks_on_two(call: Call) -> None:
        if call.body["text"] == "two":
            raise ZeroDivisionError("oops")

    billing.before_send = breaks_on_two
    async with rig.run():
        for text in ("one", "two", "three"):
            await sales.say("s", text)
        await clock.advance(600)

    assert billing.texts("b") == ["one", "three"]
    assert {letter.excerpt for letter in await rig.store.dead_letters()} == {"two"}


async def test_a_store_that_fails_while_an_operation_is_given_up_does_not_end_its_lane(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig, sales, billing = pair(clock, FakeWithHistory)
    settle = rig.store.settle

    def breaks_on_two(call: Call) -> None:
        if call.body["text"] == "two":
            raise ZeroDivisionError("oops")

    async def on_a_full_disk(settlement: Settlement) -> None:
        if settlement.state == "dead" and not refused:
            refused.append(settlement.operation)
            raise StoreError("the disk is full")
        await settle(settlement)

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


async def test_a_token_that_was_refused_for_a_moment_holds_nobody_up_for_long(
    clock: FakeClock,
) -> None:
    rig, sales, billing = pair(clock)
    billing.before_send = fail_once(AuthFailed("the token is being renewed"))

    async with rig.run():
        await sales.say("s", "one")
        await clock.advance(2)

    assert billing.texts("b") == billing.texts("c") == ["one"]


async def test_a_post_that_is_deleted_just_before_it_is_sent_is_no_failure(
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


async def test_of_two_equal_posts_the_one_that_never_arrived_is_sent_again(
    by_words: ByWords,
) -> None:
    rig, sales, billing = by_words
    async with rig.run():
        await sales.say("s", "ok")
        await rig.clock.advance(5)
        # What an edit added stands behind the lane's last post, and is not it.
        await sales.edit("s", sales.channels["s"][0].id, "x" * 100 + "ok")
        await rig.clock.advance(5)
        assert billing.texts("b")[-1] == "ok"
        billing.before_send = fail_once(Unsettled("broken"))
        await sales.say("s", "ok")
        await rig.clock.advance(30)

    assert billing.texts("b").count("ok") == 2


async def test_of_two_equal_posts_the_one_that_arrived_is_not_sent_again(
    by_words: ByWords,
) -> None:
    rig, sales, billing = by_words
    async with rig.run():
        await sales.say("s", "ok")
        await rig.clock.advance(5)
        billing.after_send = fail_once(Unsettled("broken"))
        await sales.say("s", "ok")
        await rig.clock.advance(30)

    assert billing.texts("b") == ["ok", "ok"]


@pytest.mark.parametrize("crash", [False, True])
async def test_a_post_that_was_edited_while_its_answer_was_lost_is_found_as_it_was_sent(
    by_words: ByWords, crash: bool
) -> None:
    rig, sales, billing = by_words
    async with rig.run():
        await sales.say("s", "hello")
        await rig.clock.advance(5)
        billing.after_send = fail_once(Unsettled("broken"))
        own_id = await sales.say("s", "ok")
        await rig.clock.let_work()
        await sales.edit("s", own_id, "ok, changed")
        if not crash:
            await rig.clock.advance(30)
    async with rig.run():
        await rig.clock.advance(30)

    assert billing.texts("b") == ["hello", "ok, changed"]


async def test_a_post_that_was_deleted_while_its_answer_was_lost_is_not_sent_again(
    by_words: ByWords,
) -> None:
    rig, sales, billing = by_words
    billing.before_send = fail_once(Unsettled("broken"))
    async with rig.run():
        own_id = await sales.say("s", "secret")
        await rig.clock.let_work()
        await sales.delete("s", own_id)
        await sales.say("s", "next")
        await rig.clock.advance(30)

    assert billing.texts("b") == ["next"]
    assert [text for _, _, text in billing.sent] == ["next"]
