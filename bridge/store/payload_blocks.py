"""Native messages of imports, many in one compressed value: by message numbers in, payloads out.

Neighbouring messages of an export have most of their bytes in common, so that a block of them takes
half of what they would take one by one. A block holds the payloads of consecutive message numbers,
all of one format; one that was removed leaves a gap.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache

from bridge.store.connection import Connection
from bridge.store.packing import beginning, pack, unpack
from bridge.store.queries import read_queries

SQL = read_queries("payload_blocks")
_MESSAGES = 256  # of a block, at most
_BYTES = 512 * 1024  # of its payloads together; a larger one has a block of its own
_LENGTH = 4  # bytes that say how long a payload is
_GONE = b"\xff" * _LENGTH
_END_OF_FORMAT = b"\n"
_HEAD = _MESSAGES * _LENGTH + 256  # bytes that reach the first format, behind all gaps

Payload = tuple[str, bytes]
"""The format of an export, and a message as it has it."""


def add(db: Connection, first: int, payloads: Sequence[Payload]) -> None:
    """Add the payloads of the messages from number `first` on."""
    block: list[Payload | None] = []
    size = 0
    for number, payload in enumerate(payloads, first):
        if block and (len(block) == _MESSAGES or size + len(payload[1]) > _BYTES):
            _write(db, number - len(block), block)
            block, size = [], 0
        block.append(payload)
        size += len(payload[1])
    if block:
        _write(db, first + len(payloads) - len(block), block)


def replace(db: Connection, number: int, payload: Payload) -> None:
    """Put a payload in the place of the one that a message has; the old one is not kept."""
    found = _block_of(db, number)
    if found is None:
        add(db, number, [payload])
        return
    first, block = found
    before, after = block[: number - first], block[number - first + 1 :]
    if all(other is None or other[0] == payload[0] for other in (*before, *after)):
        _write(db, first, [*before, payload, *after])
        return
    db.execute(SQL["drop"], (first,))
    for start, part in ((first, before), (number, (payload,)), (number + 1, after)):
        _write(db, start, part)


def remove(db: Connection, numbers: Sequence[int]) -> int:
    """Remove the payloads of messages. Returns how many there were."""
    removed = 0
    for first, inside in _by_block(db, numbers).items():
        found = _block_of(db, first)
        if found is None:
            continue
        block = list(found[1])
        for number in inside:
            removed += block[number - first] is not None
            block[number - first] = None
        _write(db, first, block)
    return removed


def payload_of(db: Connection, number: int) -> Payload | None:
    """Return the payload of a message; None for one without.

    Raises:
        ValueError, zlib.error: the stored payloads are damaged.
    """
    found = _block_of(db, number)
    return None if found is None else found[1][number - found[0]]


def payloads_of(
    db: Connection, numbers: Sequence[int], formats: Collection[str] | None
) -> Mapping[int, Payload]:
    """Return the payloads of messages by number, with `formats` only those in one of them; each
    block is read once."""
    found: dict[int, Payload] = {}
    if formats is not None and not formats:
        return found
    for first, inside in _by_block(db, numbers).items():
        if formats is not None and _format_of(db, first) not in formats:
            continue
        block = _block_of(db, first)
        for number in inside if block else ():
            payload = block[1][number - first] if block else None
            if payload is not None:
                found[number] = payload
    return found


def each(db: Connection) -> Iterator[tuple[int, Payload]]:
    """Yield all payloads with the numbers of their messages."""
    for first, stored in db.execute(SQL["blocks"]):
        for number, payload in enumerate(_read(stored), first):
            if payload is not None:
                yield number, payload


def add_functions(db: sqlite3.Connection) -> None:
    """Give the SQL of a connection `payload_block(format, packed payload)`: a block of one
    message."""
    db.create_function("payload_block", 2, _block_of_one, deterministic=True)


def _block_of_one(form: str, payload: bytes) -> bytes:
    return _packed([(form, unpack(payload))])


def _by_block(db: Connection, numbers: Sequence[int]) -> Mapping[int, list[int]]:
    """The numbers that are in blocks, by the first number of the block."""
    found: dict[int, list[int]] = {}
    first, count = 0, 0
    for number in sorted(numbers):
        if not first <= number < first + count:
            row = db.execute(SQL["place"], (number,)).fetchone()
            if row is None or number >= row[0] + row[1]:
                continue
            first, count = row
        found.setdefault(first, []).append(number)
    return found


def _block_of(db: Connection, number: int) -> tuple[int, tuple[Payload | None, ...]] | None:
    row = db.execute(SQL["block"], (number,)).fetchone()
    if row is None or number >= row[0] + row[1]:
        return None
    first, count, stored = row
    block = _read(stored)
    if len(block) != count:
        raise ValueError(f"The payloads of messages from {first} on are damaged")
    return first, block


def _format_of(db: Connection, first: int) -> str:
    """The format of the payloads of a block; "" for one without payloads."""
    (stored,) = db.execute(SQL["payloads"], (first,)).fetchone()
    start = beginning(stored, _HEAD)
    at = 0
    while start[at : at + _LENGTH] == _GONE:
        at += _LENGTH
    return start[at + _LENGTH :].partition(_END_OF_FORMAT)[0].decode("utf-8", "replace")


def _write(db: Connection, first: int, block: Sequence[Payload | None]) -> None:
    if any(payload is not None for payload in block):
        db.execute(SQL["put"], (first, len(block), _packed(block)))
    else:
        db.execute(SQL["drop"], (first,))


def _packed(block: Sequence[Payload | None]) -> bytes:
    pieces: list[bytes] = []
    for payload in block:
        if payload is None:
            pieces.append(_GONE)
            continue
        piece = payload[0].encode() + _END_OF_FORMAT + payload[1]
        pieces += (len(piece).to_bytes(_LENGTH, "big"), piece)
    return pack(b"".join(pieces))


@lru_cache(maxsize=8)
def _read(stored: bytes) -> tuple[Payload | None, ...]:
    plain = unpack(stored)
    block: list[Payload | None] = []
    at = 0
    while at < len(plain):
        length, at = plain[at : at + _LENGTH], at + _LENGTH
        if length == _GONE:
            block.append(None)
            continue
        end = at + int.from_bytes(length, "big")
        form, _, payload = plain[at:end].partition(_END_OF_FORMAT)
        block.append((form.decode(), payload))
        at = end
    return tuple(block)
