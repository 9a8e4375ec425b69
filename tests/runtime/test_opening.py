"""Every part can be opened alike, wherever its bytes are."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from bridge.errors import FileDamaged, FileError, FileMissing, FileRefused
from bridge.ports.fetch import Bearer, Fetched
from bridge.ports.files import Files
from bridge.runtime.opening import open_named, open_part
from bridge.testing.memory_blobs import MemoryBlobs
from bridge.uacs import Message, read_message
from tests.router.fake_clock import FakeClock

LARGE = bytes(range(256)) * 1000
Json = dict[str, Any]


class Elsewhere:
    """A network with one file on it."""

    def __init__(self, blobs: MemoryBlobs) -> None:
        self._blobs = blobs

    async def fetch(
        self,
        url: str,
        *,
        media_type: str = "",
        bearer: Bearer | None = None,
        limit: int | None = None,
    ) -> Fetched:
        if url != "https://a.example/large":
            raise FileRefused("Its address is private")
        return Fetched(await self._blobs.put(_chunks(LARGE), limit=1 << 20), "image/png")

    async def close(self) -> None:
        return


async def _chunks(content: bytes) -> AsyncIterator[bytes]:
    yield content


@pytest.fixture
def files() -> Files:
    blobs = MemoryBlobs(FakeClock())
    return Files(blobs, Elsewhere(blobs))


def media(kind: str, media_type: str, **source: str) -> Json:
    return {"type": kind, "media_type": media_type, "source": source}


def message(*parts: Json, **names: str) -> Message:
    named = {index: {"path": name} for index, name in names.items()}
    document = {
        "message_id": "m1",
        "timestamp": "2026-11-21T12:00:00Z",
        "actor": {"id": "fake:w:u", "role": "human"},
        "content": list(parts),
        "metadata": {
            "uacs_bridge": {"version": 1, "parts": {k.strip("_"): v for k, v in named.items()}}
        },
    }
    return read_message(orjson.dumps(document))


async def opened(part: Json, files: Files) -> tuple[str, bytes]:
    async with open_part(message(part).content[0], files) as media:
        return media.media_type, b"".join([chunk async for chunk in media.chunks])


TOOL: Json = {"type": "tool_call", "id": "1", "name": "look", "arguments": {}}
DATA: Json = {"type": "structured_data", "schema_id": "a", "data": {"a": [1]}}
PARTS: list[tuple[Json, str, bytes]] = [
    ({"type": "text", "text": "höher", "format": "plain"}, "text/plain", "höher".encode()),
    ({"type": "text", "text": "*a*"}, "text/markdown", b"*a*"),
    (DATA, "application/json", b'{"a":[1]}'),
    (TOOL, "application/json", orjson.dumps(TOOL)),
    (media("image", "image/png", base64="AAEC\nAw=="), "image/png", b"\0\1\2\3"),
    (media("file", "text/plain", url="data:text/csv;base64,YSxi"), "text/csv", b"a,b"),
    (media("file", "text/plain", url="data:,a%2Cb"), "text/plain", b"a,b"),
    (media("file", "a/b", url="https://a.example/large"), "image/png", LARGE),
]


@pytest.mark.parametrize(("part", "media_type", "content"), PARTS)
async def test_every_part_has_its_bytes_and_their_type(
    part: Json, media_type: str, content: bytes, files: Files
) -> None:
    kind, received = await opened(part, files)

    assert kind == media_type
    if part["type"] == "tool_call":
        assert orjson.loads(received) == part
    else:
        assert received == content


async def test_a_kept_file_is_opened_by_its_id_in_pieces(files: Files) -> None:
    ref = await files.blobs.put(_chunks(LARGE), limit=1 << 20)
    part = message(media("audio", "audio/ogg", file_id=ref.file_id)).content[0]

    async with open_part(part, files) as content:
        pieces = [chunk async for chunk in content.chunks]

    assert b"".join(pieces) == LARGE
    assert max(map(len, pieces)) <= 64 * 1024


@pytest.mark.parametrize(
    ("part", "error"),
    [
        (media("image", "image/png", file_id="slack:F1"), FileMissing),
        (media("image", "image/png", base64="no base64!"), FileDamaged),
        (media("image", "image/png", url="data:image/png;base64,!"), FileDamaged),
        (media("image", "image/png", url="http://10.0.0.1/x"), FileRefused),
    ],
)
async def test_what_cannot_be_opened_says_why(
    part: Json, error: type[FileError], files: Files
) -> None:
    with pytest.raises(error):
        await opened(part, files)


async def test_a_part_is_opened_by_its_name(files: Files) -> None:
    whole = message({"type": "text", "text": "a"}, {"type": "text", "text": "b"}, _1="/sources/1")

    async with open_named(whole, "/sources/1", files) as content:
        assert b"".join([chunk async for chunk in content.chunks]) == b"b"
    with pytest.raises(FileMissing, match="no part named '/sources/2'"):
        async with open_named(whole, "/sources/2", files):
            pass
