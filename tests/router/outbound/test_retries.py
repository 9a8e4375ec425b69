"""Retries end: a request that always fails is given up, an outage of its platform loses nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bridge.errors import (
    AuthFailed,
    BridgeError,
    NoHistory,
    RateLimited,
    StoreError,
    TokenRefused,
    Unavailable,
    Unsettled,
)
from bridge.model import Call, Echo, Raw, Receipt
from bridge.router import Timeouts
from bridge.store import SqliteStore
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector, FakeWithHistory
from tests.router.outbound.test_lanes import fail_always

Harm = Callable[[Call], object]
HOUR = 3600.0


def channel_of(
    clock: FakeClock, kind: type[FakeConnector] = FakeConnector
) -> tuple[RouterRig, FakeConnector, FakeConnector]:
    """One channel of each platform: nothing else tells how the platform is."""
    sales, billing = kind("sales", clock), kind("billing", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"))
    return rig, sales, billing


def refusing(*words: str, error: BridgeError) -> Harm:
    def harm(call: Call) -> None:
        if any(word in str(call.body["text"]) for word in words):
            raise error

    return harm


async def letters(rig: RouterRig) -> list[tuple[str, str]]:
    return [(one.state, one.excerpt) for one in await rig.store.dead_letters()]


@pytest.mark.parametrize("kind", [FakeConnector, FakeWithHistory])
@pytest.mark.parametrize("error", [Unavailable("503"), Unsettled("500"), AuthFailed("403")])
async def test_a_post_that_always_fails_holds_its_channel_up_for_minutes_and_not_for_ever(
    clock: FakeClock, kind: type[FakeConnector], error: BridgeError
) -> None:
    rig, sales, billing = channel_of(clock, kind)
    billing.before_send = refusing("poison", error=error)

    async with rig.run():
        for text in ("before", "poison", "one", "two"):
            await sales.say("s", text)
        await clock.advance(900)

        first, *_ = billing.texts("b")
        assert (first, billing.texts("b")[-2:]) == ("before", ["one", "two"])
        (letter,) = await rig.store.dead_letters()
        assert letter.excerpt == "poison"
        unproved = kind is FakeConnector and isinstance(error, Unsettled)
        assert letter.state == ("unproved" if unproved else "dead")


@pytest.mark.parametrize(
    "error",
    [
        Unavailable("503"),
        Unsettled("500"),
        AuthFailed("403"),
        TokenRefused("revoked"),
        RateLimited("429", retry_after=30),
    ],
)
async def test_an_outage_of_hours_loses_nothing_and_keeps_the_order(
    clock: FakeClock, error: BridgeError
) -> None:
    rig, sales, billing = channel_of(clock, FakeWithHistory)
    billing.before_send = fail_always(error)

    async with rig.run():
        for number in range(8):
            await sales.say("s", f"post {number}")
            await clock.advance(HOUR / 2)
        billing.before_send = None
        await clock.advance(120)

    assert billing.texts("b") == [f"post {number}" for number in range(8)]
    assert await letters(rig) == []


async def test_a_few_failing_requests_in_a_row_are_distinguished_from_an_outage(
    clock: FakeClock,
) -> None:
    rig, sales, billing = channel_of(clock)
    billing.before_send = refusing("poison", error=Unavailable("500"))

    async with rig.run():
        for text in ("poison 1", "poison 2", "poison 3", "fine"):
            await sales.say("s", text)
        await clock.advance(900)

    assert billing.texts("b")[0] == "fine"
    assert sorted(await letters(rig)) == [("dead", f"poison {n}") for n in (1, 2, 3)]


async def test_a_request_that_recovers_while_others_went_first_is_shown_after_all(
    clock: FakeClock,
) -> None:
    rig, sales, billing = channel_of(clock)
    failures = [0]

    def harm(call: Call) -> None:
        if call.body["text"] == "flaky" and "next" not in billing.texts("b"):
            failures[0] += 1
            raise Unavailable("500")

    billing.before_send = harm
    async with rig.run():
        await sales.say("s", "flaky")
        await sales.say("s", "next")
        await clock.advance(900)

    assert failures[0] > 5
    assert billing.texts("b") == ["next", "flaky"]
    assert await letters(rig) == []


@pytest.mark.parametrize(
    "error",
    [
        Unavailable("503"),
        AuthFailed("403"),
        TokenRefused("revoked"),
        RateLimited("429", retry_after=30),
    ],
)
async def test_when_retry_for_is_over_even_the_last_post_of_a_channel_is_given_up(
    clock: FakeClock, error: BridgeError
) -> None:
    rig, sales, billing = channel_of(clock)
    rig.timeouts = Timeouts(retry_for=2 * HOUR)
    billing.before_send = fail_always(error)

    async with rig.run():
        await sales.say("s", "nobody takes it")
        await clock.advance(1.9 * HOUR)
        assert await letters(rig) == []
        await clock.advance(0.2 * HOUR)

    assert await letters(rig) == [("dead", "nobody takes it")]


@pytest.mark.parametrize("error", [TokenRefused("revoked"), RateLimited("429", retry_after=30)])
async def test_what_fails_for_the_whole_account_is_waited_for_in_order_until_retry_for_is_over(
    clock: FakeClock, error: BridgeError
) -> None:
    rig, sales, billing = channel_of(clock)
    rig.timeouts = Timeouts(retry_for=2 * HOUR)
    billing.before_send = refusing("poison", error=error)

    async with rig.run():
        await sales.say("s", "poison")
        await sales.say("s", "next")
        await clock.advance(1.9 * HOUR)
        assert billing.texts("b") == []
        await clock.advance(0.2 * HOUR)

    assert billing.texts("b") == ["next"]
    assert await letters(rig) == [("dead", "poison")]


@pytest.mark.parametrize(
    "error",
    [
        Unavailable("503"),
        AuthFailed("403"),
        TokenRefused("revoked"),
        RateLimited("429", retry_after=30),
    ],
)
async def test_a_reaction_is_given_up_earlier_than_a_post(
    clock: FakeClock, error: BridgeError
) -> None:
    rig, sales, billing = channel_of(clock)

    def harm(call: Call) -> None:
        if call.kind == "other":
            raise error

    async with rig.run():
        said = await sales.say("s", "hello")
        await clock.advance(5)
        billing.before_send = harm
        await sales.react("s", said, "👍")
        await clock.advance(2 * HOUR)

        assert await letters(rig) == [("dead", "hello")]


async def test_an_edit_that_always_fails_is_not_sent_without_a_pause(clock: FakeClock) -> None:
    rig, sales, billing = channel_of(clock, FakeWithHistory)
    edits: list[float] = []

    def harm(call: Call) -> None:
        if call.kind == "edit":
            edits.append(clock.time())
            raise Unsettled("500")

    async with rig.run():
        said = await sales.say("s", "hello")
        await clock.advance(5)
        billing.before_send = harm
        await sales.edit("s", said, "hello again")
        await clock.advance(60)

    assert 3 < len(edits) < 10


async def test_a_delivery_lookup_that_is_always_refused_ends_as_unproved(clock: FakeClock) -> None:
    class Forgetful(FakeWithHistory):
        async def find(self, *_: object, **__: object) -> None:
            raise AuthFailed("the history may not be read")

    rig, sales, billing = channel_of(clock, Forgetful)
    billing.before_send = refusing("lost", error=Unsettled("500"))

    async with rig.run():
        await sales.say("s", "lost")
        await sales.say("s", "next")
        await clock.advance(900)

    assert "next" in billing.texts("b")
    assert await letters(rig) == [("unproved", "lost")]


async def test_where_no_history_is_kept_a_doubtful_post_is_unproved_at_once(
    clock: FakeClock,
) -> None:
    class Bare(FakeWithHistory):
        async def find(self, *_: object, **__: object) -> None:
            raise NoHistory("this server keeps none")

    rig, sales, billing = channel_of(clock, Bare)
    billing.before_send = refusing("lost", error=Unsettled("500"))

    async with rig.run():
        await sales.say("s", "lost")
        await sales.say("s", "next")
        await clock.advance(10)

        assert "next" in billing.texts("b")
        assert await letters(rig) == [("unproved", "lost")]


async def test_a_waiting_operation_can_be_skipped_and_its_lane_goes_on(clock: FakeClock) -> None:
    rig, sales, billing = channel_of(clock)
    billing.before_send = refusing("poison", error=Unavailable("503"))

    async with rig.run() as router:
        await sales.say("s", "poison")
        await sales.say("s", "next")
        await clock.advance(100)
        (stuck,) = await rig.store.held_up()
        assert (stuck.state, stuck.excerpt, stuck.error) == ("waiting", "poison", "503")
        await router.parts.outbound.lanes.skip(stuck.operation.id)
        await clock.advance(0)

        assert billing.texts("b") == ["next"]
        (letter,) = await rig.store.dead_letters()
        assert letter.error == "skipped by an operator: 503"
        assert await rig.store.held_up() == []
        with pytest.raises(StoreError, match="does not wait"):
            await router.parts.outbound.lanes.skip(stuck.operation.id)
        await clock.advance(1)
        assert "skipped by an operator" in sales.texts("s")[-1]


async def test_a_request_that_cannot_be_settled_can_be_skipped(clock: FakeClock) -> None:
    class Closed(FakeWithHistory):
        async def find(self, *_: object, **__: object) -> None:
            raise Unavailable("503")

    rig, sales, billing = channel_of(clock, Closed)
    billing.before_send = refusing("lost", error=Unsettled("500"))

    async with rig.run() as router:
        await sales.say("s", "lost")
        await sales.say("s", "next")
        await clock.advance(100)
        (stuck,) = await rig.store.held_up()
        assert stuck.state == "sending"
        await router.parts.outbound.lanes.skip(stuck.operation.id)
        await clock.advance(0)

        assert billing.texts("b") == ["next"]


async def test_a_waiting_operation_can_be_tried_at_once(clock: FakeClock) -> None:
    rig, sales, billing = channel_of(clock)
    billing.before_send = fail_always(Unavailable("503"))

    async with rig.run() as router:
        await sales.say("s", "first")
        await sales.say("s", "second")
        await clock.advance(300)
        billing.before_send = None
        (stuck,) = await rig.store.held_up()
        lane = await rig.store.hasten(stuck.operation.id)
        router.parts.outbound.lanes.hasten(lane, stuck.operation.id)
        await clock.advance(0)

    assert billing.texts("b") == ["first", "second"]


# --- answers that come late -----------------------------------------------------------------------


class Slow(FakeWithHistory):
    """Takes a post some time after the request was given up."""

    def __init__(self, account: str, clock: FakeClock) -> None:
        super().__init__(account, clock, echo=True)
        self.fake = clock
        self.takes_after = 20.0
        self.tells_of_ours = False

    async def send(self, call: Call) -> Receipt:
        receipt = await super().send(call)
        if self.tells_of_ours and call.kind == "post" and self.inbox:
            echo = Echo(operation=call.operation, receipt=receipt)
            raw = Raw(
                account=self.account, kind="post", dedupe_key=receipt.native_id,
                order_key=receipt.native_id, channel=call.channel, echo=echo, payload=b"",
            )  # fmt: skip
            await self.inbox.accept(raw)
        return receipt

    def late(self, call: Call) -> None:
        self.before_send = None
        self.fake.later(self.takes_after, lambda: self.take(call))
        raise Unsettled("no answer within 30 s", late=True)

    async def take(self, call: Call) -> None:
        await self.send(call)


@pytest.mark.parametrize("takes_after", [0.5, 9.0, 29.0])
async def test_a_post_that_the_platform_takes_late_is_posted_once(
    clock: FakeClock, takes_after: float
) -> None:
    rig, sales, billing = channel_of(clock, Slow)
    assert isinstance(billing, Slow)
    billing.takes_after, billing.before_send = takes_after, billing.late

    async with rig.run():
        await sales.say("s", "late")
        await sales.say("s", "next")
        await clock.advance(120)

    assert billing.texts("b") == ["late", "next"]
    assert await letters(rig) == []


async def test_a_late_duplicate_of_a_resent_post_is_deleted(clock: FakeClock) -> None:
    rig, sales, billing = channel_of(clock, Slow)
    assert isinstance(billing, Slow)
    billing.takes_after, billing.before_send = 100.0, billing.late
    billing.tells_of_ours = True

    async with rig.run():
        await sales.say("s", "late")
        await sales.say("s", "next")
        await clock.advance(90)
        first = billing.channels["b"][0].id
        assert billing.texts("b") == ["late", "next"]
        await clock.advance(10.5)
        assert billing.texts("b") == ["late", "next", "late"]
        await clock.advance(10)

        assert billing.texts("b") == ["late", "next"]
        assert billing.channels["b"][0].id == first
        assert await letters(rig) == []


async def test_where_posts_come_back_without_their_operation_nothing_is_taken_away(
    clock: FakeClock,
) -> None:
    rig, sales, billing = channel_of(clock, Slow)
    assert isinstance(billing, Slow)
    billing.takes_after, billing.before_send = 100.0, billing.late

    async with rig.run():
        await sales.say("s", "late")
        await clock.advance(200)

    assert billing.texts("b") == ["late", "late"]


async def test_a_post_that_did_not_arrive_is_resent_when_it_cannot_arrive_any_more(
    clock: FakeClock,
) -> None:
    rig, sales, billing = channel_of(clock, Slow)
    assert isinstance(billing, Slow)
    billing.takes_after, billing.before_send = 10_000.0, billing.late
    rig.timeouts = Timeouts(settle_grace=1.0, settle_late=45.0)

    async with rig.run():
        await sales.say("s", "lost")
        await clock.advance(44)
        assert billing.texts("b") == []
        await clock.advance(5)

    assert billing.texts("b") == ["lost"]
