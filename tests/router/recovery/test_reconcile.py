"""After a gap, what stands is compared with what we hold; what is merely not shown is not gone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from typing import Any

import orjson
import pytest

from bridge.errors import Refused, Unavailable
from bridge.model import ActorId, ChannelRef, Raw, TopicChanged, actor_id_of, split_key
from bridge.model.assignments import account_assignment
from bridge.ports.abilities import Abilities
from bridge.ports.abilities.platform_history import Reactions, Standing, Stretch, Unreadable
from bridge.store import SqliteStore
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector
from tests.router.inbound.test_orphans import FakeThatFetches, deleted, edited, posted
from tests.router.test_sharing import Others


class FakeReadBack(FakeThatFetches):
    """The same platform, where what stands can be compared. `hidden` are posts that its history
    does not show, though they stand; `blind`: it shows none, and no single one either."""

    hidden: frozenset[str] = frozenset()
    blind = False
    edits: dict[str, float]
    pages = 0
    hold_newest: asyncio.Event | None = None  # the platform does not answer before it is set

    def own_abilities(self) -> Abilities:
        return replace(super().own_abilities(), read_back=self, reactors=self)

    async def stretches(
        self, channel: ChannelRef, since: float, until: str, threads: Sequence[str]
    ) -> AsyncGenerator[Stretch, None]:
        self.pages += 1
        standing_texts = [
            self._standing(channel.channel, post.id, post.text, own=post.operation is not None)
            for post in self.channels[channel.channel]
            if post.id not in self.hidden and not self.blind and post.id <= until
        ]
        yield Stretch(None, "000000", until, tuple(standing_texts))

    def _standing(self, channel: str, native_id: str, text: str, *, own: bool) -> Standing:
        post, at = posted(self, native_id, text, channel), self.edits.get(native_id)
        told = tuple(
            Reactions(emoji, 1, emoji, (actor_id_of("fake", str(self.account), who),))
            for emoji, who in sorted(self.post(channel, native_id).reactions)
            if who != "us"
        )
        if at is None:
            return Standing(native_id, post, own=own, reactions=told)
        edit = edited(self, native_id, text, at)
        return Standing(native_id, post, edit, at, own=own, reactions=told)

    async def newest(self, channel: ChannelRef) -> str:
        if self.hold_newest is not None:
            await self.hold_newest.wait()
        return await super().newest(channel)

    async def reactors(
        self, channel: ChannelRef, native_id: str, thread: str | None, native: str
    ) -> Sequence[ActorId]:
        return ()

    def reacted(
        self, channel: ChannelRef, target: str, thread: str | None, emoji: str, actor: ActorId,
        at: float, *, present: bool,
    ) -> Raw | None:  # fmt: skip
        payload = {
            "id": target, "emoji": emoji, "author": split_key(actor)[-1], "at": at,
            "taken_back": not present,
        }  # fmt: skip
        return Raw(
            account=self.account, kind="reaction", dedupe_key=f"{target} {emoji} {actor} {at}",
            order_key=f"{target}~", channel=channel, payload=orjson.dumps(payload),
        )  # fmt: skip

    async def fetch(self, channel: ChannelRef, native_id: str, thread: str | None) -> Raw | None:
        if self.blind:
            raise Refused("no permission to read")
        return await super().fetch(channel, native_id, thread)

    def gone(self, channel: ChannelRef, native_id: str, thread: str | None, at: float) -> Raw:
        return deleted(self, native_id, at=at)

    def order_key(self, native_id: str) -> str | None:
        return native_id if native_id.isdecimal() else None

    def silently(self, native_id: str, text: str | None) -> None:
        """A person changes a post, or takes it away, and nobody tells us."""
        posts = self.channels["s"]
        if text is None:
            self.channels["s"] = [post for post in posts if post.id != native_id]
            return
        next(post for post in posts if post.id == native_id).text = text
        self.edits[native_id] = self._clock.time()


@pytest.fixture
def pair(clock: FakeClock) -> tuple[RouterRig, FakeReadBack, FakeConnector]:
    sales, billing = FakeReadBack("sales", clock), FakeConnector("billing", clock)
    sales.edits = {}
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"))
    return rig, sales, billing


Pair = tuple[RouterRig, FakeReadBack, FakeConnector]


async def post_all(rig: RouterRig, sales: FakeReadBack, *texts: str) -> list[str]:
    await rig.clock.advance(5)
    post_ids = [await sales.say("s", text) for text in texts]
    await rig.clock.advance(5)
    return post_ids


async def test_missed_edits_deletions_and_posts_are_found(pair: Pair) -> None:
    rig, sales, billing = pair
    async with rig.run() as router:
        one, two, _ = await post_all(rig, sales, "one", "two", "three")
        sales.silently(one, "one, mended")
        sales.silently(two, None)
        sales.raw("s", "never told")
        await sales.say("s", "last")
        await rig.clock.let_work()
        assert billing.texts("b") == ["one", "two", "three", "last"]

        router.inbox.session_began(sales.account)
        await rig.clock.advance(30)

        assert sorted(billing.texts("b")) == ["last", "never told", "one, mended", "three"]


async def test_what_was_posted_before_the_first_reading_is_compared_too(pair: Pair) -> None:
    rig, sales, billing = pair
    sales.hold_newest = asyncio.Event()
    async with rig.run() as router:
        one, _ = await post_all(rig, sales, "one", "two")
        assert billing.texts("b") == ["one", "two"]
        sales.hold_newest.set()
        await rig.clock.advance(5)
        sales.silently(one, None)

        router.inbox.session_began(sales.account)
        await rig.clock.advance(30)

    assert billing.texts("b") == ["two"]


async def test_a_stop_before_the_first_reading_loses_nothing_that_follows(pair: Pair) -> None:
    rig, sales, billing = pair
    sales.raw("s", "said before we came")
    sales.hold_newest = asyncio.Event()
    async with rig.run():
        await post_all(rig, sales, "one")
    sales.raw("s", "said while we were away")
    sales.hold_newest = None
    async with rig.run():
        await post_all(rig, sales, "two")

    assert billing.texts("b") == ["one", "said while we were away", "two"]


async def test_announcements_of_channel_events_are_not_looked_for_on_their_platform(
    pair: Pair,
) -> None:
    rig, sales, billing = pair
    async with rig.run() as router:
        _, two = await post_all(rig, sales, "one", "two")
        await sales.happen(TopicChanged, "s", topic="Plans")
        await rig.clock.advance(5)
        sales.silently(two, None)

        router.inbox.session_began(sales.account)
        await rig.clock.advance(30)

    assert [text.split(":")[0] for text in billing.texts("b")] == ["one", "The topic is now"]


async def test_a_change_that_a_comparison_found_is_not_found_again(pair: Pair) -> None:
    rig, sales, billing = pair
    async with rig.run() as router:
        (one,) = await post_all(rig, sales, "one")
        sales.silently(one, "mended")
        for _ in range(3):
            router.inbox.session_began(sales.account)
            await rig.clock.advance(30)
        rows = [await rig.store.inbox_row(number) for number in range(1, 9)]

    assert sales.pages == 3
    assert billing.texts("b") == ["mended"]
    assert sum(row is not None for row in rows) == 2


async def test_a_post_that_history_does_not_show_is_not_gone(pair: Pair) -> None:
    rig, sales, billing = pair
    async with rig.run() as router:
        one, _ = await post_all(rig, sales, "one", "two")
        sales.hidden = frozenset({one})
        router.inbox.session_began(sales.account)
        await rig.clock.advance(30)

    assert billing.texts("b") == ["one", "two"]


async def test_a_history_that_may_not_be_read_any_more_deletes_nothing(pair: Pair) -> None:
    rig, sales, billing = pair
    async with rig.run() as router:
        await post_all(rig, sales, "one", "two")
        sales.blind = True
        router.inbox.session_began(sales.account)
        await rig.clock.advance(30)

    assert billing.texts("b") == ["one", "two"]


async def test_messages_from_before_the_bridge_joined_are_not_carried_by_a_comparison(
    pair: Pair,
) -> None:
    rig, sales, billing = pair
    sales.raw("s", "said before we came")
    async with rig.run() as router:
        await post_all(rig, sales, "one")
        router.inbox.session_began(sales.account)
        await rig.clock.advance(30)

    assert billing.texts("b") == ["one"]


async def test_a_deletion_that_is_received_and_also_found_deletes_the_copies_once(
    pair: Pair,
) -> None:
    rig, sales, billing = pair
    async with rig.run() as router:
        one, _ = await post_all(rig, sales, "one", "two")
        sales.silently(one, None)
        router.inbox.session_began(sales.account)
        await router.inbox.accept(deleted(sales, one, at=rig.clock.now))
        await rig.clock.advance(30)

    assert billing.texts("b") == ["two"]
    assert [text for _, _, text in billing.sent] == ["one", "two", ""]


async def test_a_gap_that_cannot_be_read_is_announced_once_in_its_rooms(clock: FakeClock) -> None:
    sales, billing = FakeConnector("sales", clock), FakeConnector("billing", clock)
    store = SqliteStore.in_memory(clock)

    def rig() -> RouterRig:
        found = RouterRig(clock, store, (sales, billing))
        found.room("all", (sales, "s", "both"), (billing, "b", "both"))
        return found

    async with rig().run():
        await sales.say("s", "hello")
        await clock.advance(20)
    clock.now += 600
    for _ in range(2):
        async with rig().run():
            await clock.advance(1)

    (gap,) = {text for text in (*billing.texts("b"), *sales.texts("s")) if "could not" in text}
    assert gap.startswith("Messages on Fake between 22:1")
    assert gap.endswith("UTC could not be read.")


async def test_posts_beyond_the_limit_are_counted_and_reported_as_missing(
    clock: FakeClock,
) -> None:
    sales, billing = FakeThatFetches("sales", clock), FakeConnector("billing", clock)
    store = SqliteStore.in_memory(clock)
    for most in (100, 2):
        rig = RouterRig(clock, store, (sales, billing))
        rig.timeouts = type(rig.timeouts)(settle_grace=1.0, drain=0.5, most_posts=most)
        rig.room("all", (sales, "s", "both"), (billing, "b", "both"))
        async with rig.run():
            await clock.advance(10)
        for number in range(5):
            sales.raw("s", f"post {number}")

    standing_texts = billing.texts("b")
    assert [text for text in standing_texts if "post" in text] == ["post 3", "post 4"]
    assert [text for text in standing_texts if "could not" in text] == [
        "3 messages on Fake at 22:13 UTC could not be recovered."
    ]


async def test_a_comparison_that_its_request_limit_ends_is_announced_once(pair: Pair) -> None:
    rig, sales, billing = pair
    rig.timeouts = replace(rig.timeouts, reconcile_requests=1)
    async with rig.run() as router:
        one, _ = await post_all(rig, sales, "one", "two")
        sales.silently(one, "one, mended")
        for _ in range(2):
            rig.clock.now += 600
            router.inbox.session_began(sales.account)
            await rig.clock.advance(30)

    (told,) = [text for text in billing.texts("b") if "may be missing: there was more" in text]
    assert told.startswith("Edits, deletions and reactions on Fake between 22:13 and 22:")
    assert "one, mended" in billing.texts("b")


async def test_a_channel_whose_comparison_fails_is_compared_again_after_the_others(
    pair: Pair,
) -> None:
    rig, sales, billing = pair
    failures = iter([Unavailable("not now")] * (rig.timeouts.catch_up_tries + 1))
    whole = sales.stretches

    async def broken(*asked: Any) -> AsyncGenerator[Stretch, None]:
        for error in failures:
            raise error
        async for stretch in whole(*asked):
            yield stretch

    sales.stretches = broken  # type: ignore[method-assign]
    async with rig.run() as router:
        one, _ = await post_all(rig, sales, "one", "two")
        sales.silently(one, "one, mended")
        router.inbox.session_began(sales.account)
        await rig.clock.advance(120)

    assert billing.texts("b") == ["one, mended", "two"]


async def test_an_unreadable_post_is_reported_as_missing(pair: Pair) -> None:
    rig, sales, billing = pair
    whole = sales.read_after

    async def broken(channel: ChannelRef, cursor: str, threads: Sequence[str], **_):  # type: ignore[no-untyped-def]
        yield Unreadable(rig.clock.now - 5, rig.clock.now)
        async for raw in whole(channel, cursor, threads):
            yield raw

    async with rig.run() as router:
        await post_all(rig, sales, "one")
        sales.read_after = broken  # type: ignore[method-assign]
        router.inbox.session_began(sales.account)
        await rig.clock.advance(30)

    assert any("could not be read" in text for text in billing.texts("b"))


async def test_reactions_to_missed_posts_are_found_with_them(pair: Pair) -> None:
    rig, sales, billing = pair
    async with rig.run() as router:
        await post_all(rig, sales, "one")
        missed = sales.raw("s", "never told").dedupe_key
        sales.post("s", missed).reactions.add(("👍", "bob"))
        await sales.say("s", "last")
        await rig.clock.let_work()
        router.inbox.session_began(sales.account)
        await rig.clock.advance(60)

    (copy,) = [post for post in billing.channels["b"] if post.text == "never told"]
    assert copy.emoji() == {"👍"}


async def test_a_post_that_is_received_after_its_deletion_is_not_shown(pair: Pair) -> None:
    rig, sales, billing = pair
    async with rig.run() as router:
        await post_all(rig, sales, "one")
        late, gone = sales.raw("s", "told late"), sales.raw("s", "deleted meanwhile")
        sales.silently(gone.dedupe_key, None)
        sales.hidden = frozenset({late.dedupe_key})
        whole = sales.read_after

        async def without(channel: ChannelRef, cursor: str, threads: Sequence[str], **_):  # type: ignore[no-untyped-def]
            async for raw in whole(channel, cursor, threads):
                if raw.dedupe_key != late.dedupe_key:
                    yield raw

        sales.read_after = without  # type: ignore[method-assign]
        sales.raw("s", "two")
        router.inbox.session_began(sales.account)
        await rig.clock.advance(60)
        assert billing.texts("b") == ["one", "two"]

        await router.inbox.accept(gone)
        await router.inbox.accept(late)
        await rig.clock.advance(5)
        await router.inbox.accept(deleted(sales, gone.dedupe_key, at=rig.clock.now))
        await rig.clock.advance(5)

    assert [text for _, _, text in billing.sent] == ["one", "two", "told late"]


async def test_a_reaction_that_is_received_after_its_removal_does_not_stay(pair: Pair) -> None:
    rig, sales, billing = pair
    async with rig.run() as router:
        one, _ = await post_all(rig, sales, "one", "two")
        router.inbox.session_began(sales.account)
        await rig.clock.advance(10)
        bob, long_ago = actor_id_of("fake", "sales", "bob"), rig.clock.now - 300
        place = sales.channel("s")
        late = sales.reacted(place, one, None, "👍", bob, long_ago, present=True)
        assert late is not None

        await router.inbox.accept(late)
        await rig.clock.advance(5)
        assert billing.channels["b"][0].emoji() == {"👍"}
        await rig.clock.advance(60)

    assert billing.channels["b"][0].emoji() == set()


async def test_a_process_that_gave_an_account_up_keeps_nothing_that_it_still_compares(
    pair: Pair,
) -> None:
    rig, sales, _ = pair
    account = account_assignment(sales.account)
    rig.cluster = others = Others(*map(account_assignment, rig.connectors))
    stretches = sales.stretches

    async def slowly(*arguments: Any) -> AsyncGenerator[Stretch, None]:
        await rig.clock.sleep(20)
        async for stretch in stretches(*arguments):
            yield stretch

    async with rig.run() as router:
        await router.sharing.take(set(others.own))
        one, _ = await post_all(rig, sales, "one", "two")
        router.inbox.session_began(sales.account)
        await rig.clock.advance(60)
        bob, long_ago = actor_id_of("fake", "sales", "bob"), rig.clock.now - 300
        late = sales.reacted(sales.channel("s"), one, None, "👍", bob, long_ago, present=True)
        assert late is not None
        sales.stretches = slowly  # type: ignore[method-assign]
        await router.inbox.accept(late)
        await rig.clock.advance(rig.timeouts.compare_again + 10)
        sales.silently(one, "changed")

        others.own.discard(account)
        await router.sharing.give_up({account})
        await rig.clock.advance(60)

        assert await rig.store.waiting_rows() == []


async def test_the_progress_of_the_comparison_is_reported(pair: Pair) -> None:
    rig, sales, _ = pair
    async with rig.run() as router:
        await post_all(rig, sales, "one")
        router.inbox.session_began(sales.account)
        await rig.clock.advance(1)
        progress = router.operations.progress(sales.account)
        assert progress is not None
        assert (progress.channels, progress.unread, progress.uncompared) == (1, 0, 1)
        await rig.clock.advance(60)
        assert router.operations.progress(sales.account) is None
