"""Files that people post are fetched when their message is admitted, and named as we hold them;
what nobody can show becomes a file."""

from __future__ import annotations

from collections.abc import AsyncIterable, Sequence
from dataclasses import replace

import orjson
import pytest
from pydantic import JsonValue

from bridge.content.cards.tree import Asset
from bridge.content.messages.metadata import read_bridge_metadata
from bridge.errors import FileGone, FileUnavailable, StoreFull
from bridge.model import Event, MessageEdited, MessagePosted, Raw
from bridge.ports.abilities import Abilities
from bridge.ports.abilities.files import FileAddress
from bridge.ports.blobs import BlobRef
from bridge.ports.fetch import Bearer, Fetched
from bridge.ports.files import Files
from bridge.router import Timeouts
from bridge.store import SqliteStore
from bridge.testing.memory_blobs import MemoryBlobs
from bridge.uacs import Message, read_message
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector

PRIVATE = "https://files.fake.example/cat"
OPEN = "https://b.example/dog"
BLOB = BlobRef("blob:sha256-" + "0" * 64, 7, "image/png")


class FakeWithFiles(FakeConnector):
    """Its own files need a token."""

    def decode(self, raw: Raw) -> list[Event]:
        (event,) = super().decode(raw)
        if not isinstance(event, MessagePosted | MessageEdited) or b"no pictures" in raw.payload:
            return [event]
        document = orjson.loads(event.message.model_dump_json())
        document["content"] += [
            {"type": "image", "media_type": "image/*", "source": {"url": url}}
            for url in (PRIVATE, OPEN)
        ]
        return [event.model_copy(update={"message": read_message(orjson.dumps(document))})]

    def own_abilities(self) -> Abilities:
        return replace(super().own_abilities(), files=self)

    async def address(self, asset: Asset, raw: Raw) -> FileAddress | None:
        if asset.url != PRIVATE:
            return None
        return FileAddress(asset.url, Bearer("secret", ("files.fake.example",)))


class FakeFetcher:
    """Records its requests; while it has an `error` it returns nothing."""

    def __init__(self, error: Exception | None = None) -> None:
        self.requests: list[tuple[str, Bearer | None]] = []
        self.error = error

    async def fetch(
        self,
        url: str,
        *,
        media_type: str = "",
        bearer: Bearer | None = None,
        limit: int | None = None,
    ) -> Fetched:
        self.requests.append((url, bearer))
        if self.error:
            raise self.error
        return Fetched(BLOB, "image/png")

    async def close(self) -> None:
        return


async def archived_pictures(clock: FakeClock, fetcher: FakeFetcher) -> Message:
    """What the archive has after one post with two pictures."""
    sales, billing = FakeWithFiles("sales", clock), FakeConnector("billing", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.files = Files(MemoryBlobs(clock), fetcher)
    rig.room("plaza", (sales, "s", "both"), (billing, "b", "both"))
    async with rig.run():
        await sales.say("s", "look")
        await clock.let_work()
        return (await rig.store.conversation(rig.rooms[0].conversation)).messages[0]


async def test_a_file_of_the_platform_is_fetched_with_its_token_and_an_open_one_is_left(
    clock: FakeClock,
) -> None:
    fetcher = FakeFetcher()

    message = await archived_pictures(clock, fetcher)

    assert fetcher.requests == [(PRIVATE, Bearer("secret", ("files.fake.example",)))]
    assert _sources(message) == [{"file_id": BLOB.file_id}, {"url": OPEN}]
    kept_files = read_bridge_metadata(message)[0].kept
    assert {key: (one.file_id, one.size) for key, one in kept_files.items()} == {
        PRIVATE: (BLOB.file_id, 7)
    }


async def test_a_message_whose_file_is_gone_goes_on_without_it(clock: FakeClock) -> None:
    message = await archived_pictures(clock, fetcher := FakeFetcher(FileGone("no such file")))

    assert _sources(message) == [{"url": PRIVATE}, {"url": OPEN}]
    assert len(fetcher.requests) == 1


# --- what cannot be had now -------------------------------------------------------------------

NOT_NOW = FileUnavailable("files.fake.example answers 503; try again later")
KEPT, WANTED = {"file_id": BLOB.file_id}, {"url": PRIVATE}


class Gallery:
    """People of `sales` post pictures; `billing` shows them."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.fetcher = FakeFetcher()
        self.sales = FakeWithFiles("sales", clock)
        self.billing = FakeConnector("billing", clock)
        self.rig = RouterRig(clock, SqliteStore.in_memory(clock), (self.sales, self.billing))
        self.rig.files = Files(MemoryBlobs(clock), self.fetcher)
        self.rig.room("plaza", (self.sales, "s", "both"), (self.billing, "b", "both"))

    async def archived(self) -> Sequence[Message]:
        conversation = self.rig.rooms[0].conversation
        return (await self.rig.store.conversation(conversation)).messages

    async def picture(self) -> JsonValue:
        """Where the picture of the first message is."""
        return _sources((await self.archived())[0])[0]

    def standing(self) -> list[tuple[str, bool]]:
        """First words in the other channel, and whether the picture stands there with them."""
        texts: dict[str | None, str] = {}
        for post in self.billing.channels["b"]:  # one message, in as many as it needs
            texts[post.operation] = texts.get(post.operation, "") + post.text
        return [(text.split()[0], text.count("https://") == 1) for text in texts.values()]


@pytest.fixture
def gallery(clock: FakeClock) -> Gallery:
    return Gallery(clock)


async def test_a_message_waits_a_moment_for_its_file_and_the_next_one_for_it(
    gallery: Gallery,
) -> None:
    gallery.fetcher.error = NOT_NOW
    async with gallery.rig.run():
        await gallery.sales.say("s", "look")
        await gallery.sales.say("s", "no pictures")
        await gallery.clock.advance(3)
        assert gallery.standing() == []
        gallery.fetcher.error = None
        await gallery.clock.advance(6)

    assert gallery.standing() == [("look", True), ("no", False)]
    assert await gallery.picture() == KEPT


async def test_a_message_goes_on_without_its_file_and_has_it_when_it_can_be_had(
    gallery: Gallery,
) -> None:
    gallery.fetcher.error = NOT_NOW
    async with gallery.rig.run() as router:
        await gallery.sales.say("s", "look")
        await gallery.sales.say("s", "no pictures")
        await gallery.clock.advance(12)
        assert gallery.standing() == [("look", False), ("no", False)]
        assert await gallery.picture() == WANTED
        assert router.operations.files_awaited == 1
        gallery.fetcher.error = None
        await gallery.clock.advance(60)
        assert router.operations.files_awaited == 0

    assert gallery.standing() == [("look", True), ("no", False)]
    assert await gallery.picture() == KEPT
    states = [read_bridge_metadata(one)[0].state for one in await gallery.archived()]
    assert states == [None, None], "nobody edited it"


async def test_a_file_that_is_awaited_is_awaited_after_a_restart(gallery: Gallery) -> None:
    gallery.fetcher.error = NOT_NOW
    async with gallery.rig.run():
        await gallery.sales.say("s", "look")
        await gallery.clock.advance(12)
        assert gallery.standing() == [("look", False)]
    gallery.fetcher.error = None
    async with gallery.rig.run():
        await gallery.clock.advance(60)

    assert gallery.standing() == [("look", True)]
    assert await gallery.picture() == KEPT
    assert await gallery.rig.store.waiting_rows() == []


async def test_a_file_is_awaited_for_a_day(gallery: Gallery) -> None:
    gallery.rig.timeouts = Timeouts(files_awaited=600.0)
    gallery.fetcher.error = NOT_NOW
    async with gallery.rig.run() as router:
        await gallery.sales.say("s", "look")
        await gallery.clock.advance(500)
        assert router.operations.files_awaited == 1
        await gallery.clock.advance(200)
        assert router.operations.files_awaited == 0

    assert gallery.standing() == [("look", False)]
    assert len(gallery.fetcher.requests) < 30
    assert await gallery.rig.store.waiting_rows() == []


async def test_a_host_that_asks_for_time_is_not_asked_before(gallery: Gallery) -> None:
    gallery.fetcher.error = FileUnavailable("answers 429", retry_after=300.0)
    async with gallery.rig.run():
        await gallery.sales.say("s", "look")
        await gallery.clock.advance(20)
        requests = len(gallery.fetcher.requests)
        gallery.fetcher.error = None
        await gallery.clock.advance(250)
        assert len(gallery.fetcher.requests) == requests
        await gallery.clock.advance(100)

    assert gallery.standing() == [("look", True)]


async def test_a_file_that_comes_after_its_message_was_deleted_is_shown_nowhere(
    gallery: Gallery,
) -> None:
    gallery.fetcher.error = NOT_NOW
    async with gallery.rig.run():
        first = await gallery.sales.say("s", "look")
        await gallery.clock.advance(12)
        await gallery.sales.delete("s", first)
        gallery.fetcher.error = None
        await gallery.clock.advance(60)

    assert gallery.standing() == []


async def test_a_file_that_an_edit_took_away_does_not_come_back(gallery: Gallery) -> None:
    gallery.fetcher.error = NOT_NOW
    async with gallery.rig.run():
        first = await gallery.sales.say("s", "look")
        await gallery.clock.advance(12)
        await gallery.sales.edit("s", first, "no pictures")
        gallery.fetcher.error = None
        await gallery.clock.advance(60)

    assert gallery.billing.texts("b") == ["no pictures"]


async def test_an_edit_of_the_words_is_not_undone_by_the_file_that_comes_later(
    gallery: Gallery,
) -> None:
    gallery.fetcher.error = NOT_NOW
    async with gallery.rig.run():
        first = await gallery.sales.say("s", "look")
        await gallery.clock.advance(12)
        await gallery.sales.edit("s", first, "see")
        await gallery.clock.advance(12)
        gallery.fetcher.error = None
        await gallery.clock.advance(120)
        assert gallery.standing() == [("see", True)]
        await gallery.sales.edit("s", first, "behold")
        await gallery.clock.advance(12)

    assert gallery.standing() == [("behold", True)]
    assert await gallery.picture() == KEPT


async def test_an_edit_of_the_words_keeps_the_file_that_we_have(gallery: Gallery) -> None:
    async with gallery.rig.run():
        first = await gallery.sales.say("s", "look")
        await gallery.clock.let_work()
        gallery.fetcher.error = FileGone("its address is dead by now")
        await gallery.sales.edit("s", first, "see")
        await gallery.clock.let_work()

    assert gallery.standing() == [("see", True)]
    assert await gallery.picture() == KEPT
    assert len(gallery.fetcher.requests) == 1


def _sources(message: Message) -> list[JsonValue]:
    return [orjson.loads(part.model_dump_json())["source"] for part in message.content[1:]]


# --- what nobody can show -------------------------------------------------------------------

INVOICE: dict[str, JsonValue] = {
    "type": "structured_data",
    "schema_id": "application/vnd.acme.invoice+json",
    "data": {"total": "12 €"},
}
HOLOGRAM: dict[str, JsonValue] = {"type": "hologram", "depth": 3}


class FakeWithParts(FakeConnector):
    """Its people say what no schema of ours knows."""

    def decode(self, raw: Raw) -> list[Event]:
        (event,) = super().decode(raw)
        assert isinstance(event, MessagePosted)
        document = orjson.loads(event.message.model_dump_json())
        document["content"] += [INVOICE, HOLOGRAM]
        return [event.model_copy(update={"message": read_message(orjson.dumps(document))})]


class FullBlobs(MemoryBlobs):
    async def put(self, chunks: AsyncIterable[bytes], *, limit: int) -> BlobRef:
        raise StoreFull("the disk is full")


async def archived(clock: FakeClock, sales: FakeConnector, blobs: MemoryBlobs) -> Message:
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales,))
    rig.files = Files(blobs, FakeFetcher())
    rig.room("plaza", (sales, "s", "both"))
    async with rig.run():
        await sales.say("s", "look")
        await clock.let_work()
        return (await rig.store.conversation(rig.rooms[0].conversation)).messages[0]


async def test_parts_that_nobody_can_show_are_kept_as_files_of_their_json(clock: FakeClock) -> None:
    blobs = MemoryBlobs(clock)

    message = await archived(clock, FakeWithParts("sales", clock), blobs)

    assert [part.type for part in message.content] == ["text", "structured_data", "hologram"]
    kept_files = read_bridge_metadata(message)[0].kept
    files: dict[str, JsonValue] = {}
    for place, one in kept_files.items():
        async with blobs.open(one.file_id) as chunks:
            content = b"".join([chunk async for chunk in chunks])
        assert (one.media_type, one.size) == ("application/json", len(content))
        files[place] = orjson.loads(content)
    assert files == {"/content/1": INVOICE, "/content/2": HOLOGRAM}


async def test_what_cannot_be_kept_goes_on_as_it_is(clock: FakeClock) -> None:
    message = await archived(clock, FakeWithParts("sales", clock), FullBlobs(clock))

    assert [part.type for part in message.content] == ["text", "structured_data", "hologram"]
    assert read_bridge_metadata(message)[0].kept == {}
