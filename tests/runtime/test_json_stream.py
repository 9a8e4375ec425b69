"""The items of a JSON array, as their own bytes."""

from __future__ import annotations

import io
import json

import pytest

from bridge.errors import ExportUnreadable
from bridge.runtime.json_stream import array_items, parsed


class FewBytes(io.BytesIO):
    """A stream that gives a few bytes at a time."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(7, size) if size is not None and size > 0 else 7)


ITEMS = [
    {"text": 'brackets ]}{[ and "quotes" \\', "n": [[1], {"a": {}}]},
    {"text": "ä 秘密", "blocks": None},
    {},
]


@pytest.mark.parametrize("indent", [None, 4])
def test_items_are_the_bytes_of_the_document(indent: int | None) -> None:
    document = json.dumps(ITEMS, indent=indent).encode()

    for stream in (io.BytesIO(document), FewBytes(document)):
        found = list(array_items(stream, "day"))
        assert [json.loads(item) for item in found] == ITEMS
        assert all(item in document for item in found)


def test_the_array_of_a_member_is_found_beside_others_of_its_name() -> None:
    document = {"x": {"messages": [1]}, "y": '"messages": [', "messages": ITEMS, "z": [2]}

    found = array_items(FewBytes(json.dumps(document).encode()), "dump", "messages")

    assert [json.loads(item) for item in found] == ITEMS


def test_scalars_are_given_too() -> None:
    assert list(array_items(io.BytesIO(b'[null, {"a":1}, 3]'), "day")) == [
        b"null", b'{"a":1}', b"3",
    ]  # fmt: skip


@pytest.mark.parametrize("document", [b"", b"  ", b"{}", b'{"a":[1]}', b"hello", b"[", b'[{"a"'])
def test_what_is_no_whole_array_is_unreadable(document: bytes) -> None:
    with pytest.raises(ExportUnreadable, match="day"):
        list(array_items(io.BytesIO(document), "day"))


def test_an_object_without_the_member_is_unreadable() -> None:
    with pytest.raises(ExportUnreadable, match="no list of messages"):
        list(array_items(io.BytesIO(b'{"x":{"messages":[1]}}'), "dump", "messages"))


def test_an_item_beyond_the_limit_is_unreadable() -> None:
    document = b'[{"a":1}, {"b":"' + b"x" * (5 << 20) + b'"}]'

    found = array_items(io.BytesIO(document), "day", largest=1 << 20)

    assert next(found) == b'{"a":1}'
    with pytest.raises(ExportUnreadable, match="more than 1 MB"):
        next(found)


def test_json_that_only_other_programs_write_is_parsed() -> None:
    assert parsed(b'{"a": NaN, "b": "\\ud83d"}') == {"a": None, "b": "?"}
    with pytest.raises(ValueError, match="nested"):
        parsed(b"[" * 100_000 + b"]" * 100_000)
