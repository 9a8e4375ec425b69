"""After a gap, what stands is compared with what we hold; what is merely not shown is not gone."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from typing import Any

import orjson
import pytest

from bridge.errors import Refused, Unavailable
from bridge.model import ActorId, ChannelRef, Raw, TopicChanged, actor_id_of, split_key
from bridge.ports.abilities.platform_history import Reactions, Standing, Stretch, Unreadable
from bridge.store import SqliteStore
from tests.router.conftest import House
from tests.router.fake_clock import FakeClock
from tests.router.inbound.test_orphans import PaperThatFetches, deleted, edited, posted
from tests.router.paper import PaperConnector


class PaperReadBack(PaperThatFetches):
    """The same platform, where what stands can be compared. `hidden` are posts that its history
    does not show, though they stand; `blind`: it shows none, and no single one either."""

    hidden: frozenset[str] = frozenset()
    blind = False
    edits: dict[str, float]
    pages = 0

    async def read_back(
        self, channel: ChannelRef, since: float, upto: str, threads: Sequence[str]
    ) -> AsyncGenerator[Stretch, None]:
        self.pages += 1
        shown = [
            self._standing(post.id, post.text, own=post.operation is not None)
            for post in self.channels[channel.channel]
            if post.id not in self.hidden and not self.blind and post.id <= upto
        ]
        yield Stretch(None, "000000", upto, tuple(shown))

    def _standing(self, native_id: str, text: str, *, own: bool) -> Standing:
        post, at = posted(self, native_id, text), self.edits.get(native_id)
        told = tuple(
            Reactions(emoji, 1, emoji, (actor_id_of("paper", str(self.account), who),))
            for emoji, who in sorted(self.post("s", native_id).reactions)
            if who != "us"
        )
        if at is None:
            return Standing(native_id, post, own=own, reactions=told)
        edit = edited(self, native_id, text, at)
        return Standing(native_id, post, edit, at, own=own, reactions=told)

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

    def order_key(self, native_id: str) -> str:
        return f"{int(native_id):06d}"  # as platforms' ids, which have a form

    def silently(self, native_id: str, text: str | None) -> None:
        """A person changes a post, or takes it away, and nobody tells us."""
        posts = self.channels["s"]
        if text is None:
            self.channels["s"] = [post for post in posts if post.id != native_id]
            return
        next(post for post in posts if post.id == native_id).text = text
        self.edits[native_id] = self._clock.time()


@pytest.fixture
def pair(clock: FakeClock) -> tuple[House, PaperReadBack, PaperConnector]:
    slate, board = PaperReadBack("slate", clock), PaperConnector("board", clock)
    slate.edits = {}
    house = House(clock, SqliteStore.in_memory(clock), (slate, board))
    house.room("all", (slate, "s", "both"), (board, "b", "both"))
    return house, slate, board


Pair = tuple[House, PaperReadBack, PaperConnector]


async def said(house: House, slate: PaperReadBack, *texts: str) -> list[str]:
    await house.clock.advance(5)
    found = [await slate.say("s", text) for text in texts]
    await house.clock.advance(5)
    return found


async def test_edits_deletions_and_posts_that_nobody_told_us_of_are_found(pair: Pair) -> None:
    house, slate, board = pair
    async with house.run() as router:
        one, two, _ = await said(house, slate, "one", "two", "three")
        slate.silently(one, "one, mended")
        slate.silently(two, None)
        slate.raw("s", "never told")
        await slate.say("s", "last")
        await house.clock.let_work()
        assert board.texts("b") == ["one", "two", "three", "last"]

        router.inbox.session_began(slate.account)
        await house.clock.advance(30)

        assert sorted(board.texts("b")) == ["last", "never told", "one, mended", "three"]


async def test_what_the_bridge_told_of_the_channel_is_not_looked_for_on_its_platform(
    pair: Pair,
) -> None:
    house, slate, board = pair
    async with house.run() as router:
        _, two = await said(house, slate, "one", "two")
        await slate.happen(TopicChanged, "s", topic="Plans")
        await house.clock.advance(5)
        slate.silently(two, None)

        router.inbox.session_began(slate.account)
        await house.clock.advance(30)

    assert [text.split(":")[0] for text in board.texts("b")] == ["one", "The topic is now"]


async def test_what_was_found_once_is_found_once(pair: Pair) -> None:
    house, slate, board = pair
    async with house.run() as router:
        (one,) = await said(house, slate, "one")
        slate.silently(one, "mended")
        for _ in range(3):
            router.inbox.session_began(slate.account)
            await house.clock.advance(30)
        rows = [await house.store.inbox_row(number) for number in range(1, 9)]

    assert slate.pages == 3
    assert board.texts("b") == ["mended"]
    assert sum(row is not None for row in rows) == 2


async def test_a_post_that_history_does_not_show_is_not_gone(pair: Pair) -> None:
    house, slate, board = pair
    async with house.run() as router:
        one, _ = await said(house, slate, "one", "two")
        slate.hidden = frozenset({one})
        router.inbox.session_began(slate.account)
        await house.clock.advance(30)

    assert board.texts("b") == ["one", "two"]


async def test_a_history_that_may_not_be_read_any_more_deletes_nothing(pair: Pair) -> None:
    house, slate, board = pair
    async with house.run() as router:
        await said(house, slate, "one", "two")
        slate.blind = True
        router.inbox.session_began(slate.account)
        await house.clock.advance(30)

    assert board.texts("b") == ["one", "two"]


async def test_what_was_said_before_we_came_is_left_alone(pair: Pair) -> None:
    house, slate, board = pair
    slate.raw("s", "said before we came")
    async with house.run() as router:
        await said(house, slate, "one")
        router.inbox.session_began(slate.account)
        await house.clock.advance(30)

    assert board.texts("b") == ["one"]


async def test_a_deletion_that_is_told_and_found_takes_its_copies_once(pair: Pair) -> None:
    house, slate, board = pair
    async with house.run() as router:
        one, _ = await said(house, slate, "one", "two")
        slate.silently(one, None)
        router.inbox.session_began(slate.account)
        await router.inbox.accept(deleted(slate, one, at=house.clock.now))
        await house.clock.advance(30)

    assert board.texts("b") == ["two"]
    assert [text for _, _, text in board.sent] == ["one", "two", ""]


async def test_a_gap_that_cannot_be_read_is_said_once_in_its_rooms(clock: FakeClock) -> None:
    slate, board = PaperConnector("slate", clock), PaperConnector("board", clock)
    store = SqliteStore.in_memory(clock)

    def house() -> House:
        found = House(clock, store, (slate, board))
        found.room("all", (slate, "s", "both"), (board, "b", "both"))
        return found

    async with house().run():
        await slate.say("s", "hello")
        await clock.advance(20)
    clock.now += 600
    for _ in range(2):
        async with house().run():
            await clock.advance(1)

    (gap,) = {text for text in (*board.texts("b"), *slate.texts("s")) if "could not" in text}
    assert gap.startswith("What was said on Paper between 22:1")
    assert gap.endswith("UTC could not be read.")


async def test_posts_beyond_the_budget_are_counted_and_said_to_be_missing(
    clock: FakeClock,
) -> None:
    slate, board = PaperThatFetches("slate", clock), PaperConnector("board", clock)
    store = SqliteStore.in_memory(clock)
    for most in (100, 2):
        house = House(clock, store, (slate, board))
        house.policy = type(house.policy)(settle_grace=1.0, drain=0.5, most_posts=most)
        house.room("all", (slate, "s", "both"), (board, "b", "both"))
        async with house.run():
            await clock.advance(10)
        for number in range(5):
            slate.raw("s", f"post {number}")

    shown = board.texts("b")
    assert [text for text in shown if "post" in text] == ["post 3", "post 4"]
    assert [text for text in shown if "could not" in text] == [
        "3 messages on Paper at 22:13 UTC could not be recovered."
    ]


async def test_a_look_back_that_its_budget_ends_is_said_once_in_the_room(pair: Pair) -> None:
    house, slate, board = pair
    house.policy = replace(house.policy, look_back_requests=1)
    async with house.run() as router:
        one, _ = await said(house, slate, "one", "two")
        slate.silently(one, "one, mended")
        for _ in range(2):
            house.clock.now += 600
            router.inbox.session_began(slate.account)
            await house.clock.advance(30)

    (told,) = [text for text in board.texts("b") if "may be missing: there was more" in text]
    assert told.startswith("Edits, deletions and reactions on Paper between 22:13 and 22:")
    assert "one, mended" in board.texts("b")


async def test_a_channel_in_trouble_is_looked_back_on_again_behind_the_others(pair: Pair) -> None:
    house, slate, board = pair
    failures = iter([Unavailable("not now")] * (house.policy.catch_up_tries + 1))
    whole = slate.read_back

    async def broken(*asked: Any) -> AsyncGenerator[Stretch, None]:
        for error in failures:
            raise error
        async for stretch in whole(*asked):
            yield stretch

    slate.read_back = broken  # type: ignore[method-assign]
    async with house.run() as router:
        one, _ = await said(house, slate, "one", "two")
        slate.silently(one, "one, mended")
        router.inbox.session_began(slate.account)
        await house.clock.advance(120)

    assert board.texts("b") == ["one, mended", "two"]


async def test_an_unreadable_post_is_said_to_be_missing(pair: Pair) -> None:
    house, slate, board = pair
    whole = slate.read_after

    async def broken(channel: ChannelRef, cursor: str, threads: Sequence[str], **_):  # type: ignore[no-untyped-def]
        yield Unreadable(house.clock.now - 5, house.clock.now)
        async for raw in whole(channel, cursor, threads):
            yield raw

    async with house.run() as router:
        await said(house, slate, "one")
        slate.read_after = broken  # type: ignore[method-assign]
        router.inbox.session_began(slate.account)
        await house.clock.advance(30)

    assert any("could not be read" in text for text in board.texts("b"))


async def test_reactions_to_posts_that_nobody_told_us_of_are_found_with_them(pair: Pair) -> None:
    house, slate, board = pair
    async with house.run() as router:
        await said(house, slate, "one")
        missed = slate.raw("s", "never told").dedupe_key
        slate.post("s", missed).reactions.add(("👍", "bob"))
        await slate.say("s", "last")
        await house.clock.let_work()
        router.inbox.session_began(slate.account)
        await house.clock.advance(60)

    (copy,) = [post for post in board.channels["b"] if post.text == "never told"]
    assert copy.emoji() == {"👍"}


async def test_a_post_that_is_told_after_it_was_deleted_is_not_shown(pair: Pair) -> None:
    house, slate, board = pair
    async with house.run() as router:
        await said(house, slate, "one")
        late, gone = slate.raw("s", "told late"), slate.raw("s", "deleted meanwhile")
        slate.silently(gone.dedupe_key, None)
        slate.hidden = frozenset({late.dedupe_key})
        whole = slate.read_after

        async def without(channel: ChannelRef, cursor: str, threads: Sequence[str], **_):  # type: ignore[no-untyped-def]
            async for raw in whole(channel, cursor, threads):
                if raw.dedupe_key != late.dedupe_key:
                    yield raw

        slate.read_after = without  # type: ignore[method-assign]
        slate.raw("s", "two")
        router.inbox.session_began(slate.account)
        await house.clock.advance(60)
        assert board.texts("b") == ["one", "two"]

        await router.inbox.accept(gone)
        await router.inbox.accept(late)
        await house.clock.advance(5)
        await router.inbox.accept(deleted(slate, gone.dedupe_key, at=house.clock.now))
        await house.clock.advance(5)

    assert [text for _, _, text in board.sent] == ["one", "two", "told late"]


async def test_a_reaction_that_is_told_after_it_was_taken_back_does_not_stay(pair: Pair) -> None:
    house, slate, board = pair
    async with house.run() as router:
        one, _ = await said(house, slate, "one", "two")
        router.inbox.session_began(slate.account)
        await house.clock.advance(10)
        bob, long_ago = actor_id_of("paper", "slate", "bob"), house.clock.now - 300
        place = slate.channel("s")
        late = slate.reacted(place, one, None, "👍", bob, long_ago, present=True)
        assert late is not None

        await router.inbox.accept(late)
        await house.clock.advance(5)
        assert board.channels["b"][0].emoji() == {"👍"}
        await house.clock.advance(60)

    assert board.channels["b"][0].emoji() == set()


async def test_how_far_the_comparing_is_can_be_told(pair: Pair) -> None:
    house, slate, _ = pair
    async with house.run() as router:
        await said(house, slate, "one")
        router.inbox.session_began(slate.account)
        await house.clock.advance(1)
        progress = router.operations.progress(slate.account)
        assert progress is not None
        assert (progress.channels, progress.unread, progress.uncompared) == (1, 0, 1)
        await house.clock.advance(60)
        assert router.operations.progress(slate.account) is None
