"""Files that people post are fetched when their message is admitted, and named as we hold them;
what nobody can show becomes a file."""

from __future__ import annotations

from collections.abc import AsyncIterable

import orjson
import pytest
from pydantic import JsonValue

from bridge.content.additions import read_bridge_metadata
from bridge.content.card import Asset
from bridge.errors import FileGone, FileUnavailable, StoreFull
from bridge.model import Event, MessagePosted, Raw
from bridge.ports.blobs import BlobRef
from bridge.ports.connector import FileAddress, Files
from bridge.ports.fetch import Bearer, Fetched
from bridge.store.memory import MemoryStore
from bridge.store.memory_blobs import MemoryBlobs
from bridge.uacs import Message, read_message
from tests.router.conftest import House
from tests.router.fake_clock import FakeClock
from tests.router.paper import PaperConnector

PRIVATE = "https://files.paper.example/cat"
OPEN = "https://elsewhere.example/dog.png"
BLOB = BlobRef("blob:sha256-" + "0" * 64, 7, "image/png")


class PaperWithFiles(PaperConnector):
    """Its own files need a token."""

    def decode(self, raw: Raw) -> list[Event]:
        (event,) = super().decode(raw)
        assert isinstance(event, MessagePosted)
        document = orjson.loads(event.message.model_dump_json())
        document["content"] += [
            {"type": "image", "media_type": "image/*", "source": {"url": url}}
            for url in (PRIVATE, OPEN)
        ]
        return [event.model_copy(update={"message": read_message(orjson.dumps(document))})]

    async def file_address(self, asset: Asset, raw: Raw) -> FileAddress | None:
        if asset.url != PRIVATE:
            return None
        return FileAddress(asset.url, Bearer("secret", ("files.paper.example",)))


class PaperFetcher:
    """Remembers what it was asked for."""

    def __init__(self, error: Exception | None = None) -> None:
        self.asked: list[tuple[str, Bearer | None]] = []
        self._error = error

    async def fetch(
        self,
        url: str,
        *,
        media_type: str = "",
        bearer: Bearer | None = None,
        limit: int | None = None,
    ) -> Fetched:
        self.asked.append((url, bearer))
        if self._error:
            raise self._error
        return Fetched(BLOB, "image/png")

    async def close(self) -> None:
        return


async def told(clock: FakeClock, fetcher: PaperFetcher) -> Message:
    """What the archive has after one post with two pictures."""
    slate, board = PaperWithFiles("slate", clock), PaperConnector("board", clock)
    house = House(clock, MemoryStore(clock), (slate, board))
    house.files = Files(MemoryBlobs(clock), fetcher)
    house.room("plaza", (slate, "s", "both"), (board, "b", "both"))
    async with house.run():
        await slate.say("s", "look")
        await clock.let_work()
        return (await house.store.conversation(house.rooms[0].conversation)).messages[0]


async def test_a_file_of_the_platform_is_fetched_with_its_token_and_an_open_one_is_left(
    clock: FakeClock,
) -> None:
    fetcher = PaperFetcher()

    message = await told(clock, fetcher)

    assert fetcher.asked == [(PRIVATE, Bearer("secret", ("files.paper.example",)))]
    sources = [orjson.loads(part.model_dump_json())["source"] for part in message.content[1:]]
    assert sources == [{"file_id": BLOB.file_id}, {"url": OPEN}]
    kept = read_bridge_metadata(message)[0].kept
    assert {key: (one.file_id, one.size) for key, one in kept.items()} == {
        PRIVATE: (BLOB.file_id, 7)
    }


@pytest.mark.parametrize("error", [FileGone("no such file"), FileUnavailable("not now")])
async def test_a_message_whose_file_cannot_be_had_goes_on_without_it(
    clock: FakeClock, error: Exception
) -> None:
    message = await told(clock, PaperFetcher(error))

    sources = [orjson.loads(part.model_dump_json())["source"] for part in message.content[1:]]
    assert sources == [{"url": PRIVATE}, {"url": OPEN}]


# --- what nobody can show -------------------------------------------------------------------

INVOICE: dict[str, JsonValue] = {
    "type": "structured_data",
    "schema_id": "application/vnd.acme.invoice+json",
    "data": {"total": "12 €"},
}
HOLOGRAM: dict[str, JsonValue] = {"type": "hologram", "depth": 3}


class PaperWithParts(PaperConnector):
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


async def archived(clock: FakeClock, slate: PaperConnector, blobs: MemoryBlobs) -> Message:
    house = House(clock, MemoryStore(clock), (slate,))
    house.files = Files(blobs, PaperFetcher())
    house.room("plaza", (slate, "s", "both"))
    async with house.run():
        await slate.say("s", "look")
        await clock.let_work()
        return (await house.store.conversation(house.rooms[0].conversation)).messages[0]


async def test_parts_that_nobody_can_show_are_kept_as_files_of_their_json(clock: FakeClock) -> None:
    blobs = MemoryBlobs(clock)

    message = await archived(clock, PaperWithParts("slate", clock), blobs)

    assert [part.type for part in message.content] == ["text", "structured_data", "hologram"]
    kept = read_bridge_metadata(message)[0].kept
    files: dict[str, JsonValue] = {}
    for place, one in kept.items():
        async with blobs.open(one.file_id) as chunks:
            content = b"".join([chunk async for chunk in chunks])
        assert (one.media_type, one.size) == ("application/json", len(content))
        files[place] = orjson.loads(content)
    assert files == {"/content/1": INVOICE, "/content/2": HOLOGRAM}


async def test_what_cannot_be_kept_goes_on_as_it_is(clock: FakeClock) -> None:
    message = await archived(clock, PaperWithParts("slate", clock), FullBlobs(clock))

    assert [part.type for part in message.content] == ["text", "structured_data", "hologram"]
    assert read_bridge_metadata(message)[0].kept == {}
