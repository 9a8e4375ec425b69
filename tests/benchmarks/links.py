"""The id map from a thousand to ten million rows: look-ups, inserts, bytes, the bridge's start.

A history of a hundred rooms of three channels is written with the store's own SQL; a third of the
messages are answers in threads. Stores of all sizes stand beside one another and are asked in
turns, so that all meet the same noise of the machine. The stores are SQLite's, or PostgreSQL's on
the server that UACS_POSTGRES names.
"""

from __future__ import annotations

import asyncio
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg

from bridge.model import (
    AccountId,
    Byline,
    ChannelRef,
    MessageId,
    Operation,
    OperationId,
    Person,
    Place,
    PostMessage,
    Receipt,
    RoomId,
    actor_id_of,
    conversation_id_of,
    message_id_of,
)
from bridge.model.admission import Admission
from bridge.model.archive_records import NewMessage, Timeline
from bridge.model.outbox_records import Settlement
from bridge.runtime.clock import SystemClock
from bridge.store import archive, arrivals, authors, numbers, open_sqlite, threads
from bridge.store.bodies import PEOPLE
from bridge.store.connection import Connection
from bridge.store.links import CHANNELS, SQL
from bridge.store.message_keys import key_of, stored_id
from bridge.store.moments import PER_SECOND
from bridge.store.postgresql.address import Address, connect
from bridge.store.postgresql.connection import PostgresConnection
from bridge.store.postgresql.store import open_postgres
from bridge.store.schema import open_to_read
from bridge.store.sql_store import SqlStore
from bridge.uacs import Actor, Message, TextPart, to_timestamp
from tests.e2e.processes import SandboxProcess, bridge_beside, rooms_across, sandbox_beside
from tests.store.postgresql_server import empty_database

ENGINES = ("sqlite", "postgresql")
SIZES = (1_000, 100_000, 1_000_000, 10_000_000)
QUICK_SIZES = (1_000, 100_000)
STARTS = (1_000, 1_000_000)
QUICK_STARTS = (1_000, 100_000)
BARS = {"look_up": 2.0, "insert": 3.0, "bytes": 160}
_ROUNDS = 40
_LOOKUPS = 50  # rows in one round
_ADMITTED = 5  # posts in one round: a store of a thousand must not grow to another size
_NEWEST = 1_000  # messages; of the smallest store that is all
_STEP = 30_000  # messages in one COMMIT
_END = time.time() - 30 * 86_400  # of the history
_SQLITE_BYTES = """SELECT sum(pgsize) FROM dbstat WHERE name IN (
  'links', 'links_of_message', 'links_by_time', 'channels', 'sqlite_autoindex_channels_1'
)"""

_POSTGRES_BYTES = """SELECT CAST(sum(pg_total_relation_size(name)) AS bigint)
FROM unnest(ARRAY['links', 'channels']) AS own (name)"""
_MESSAGE_COLUMNS = """message_rows (
  n, key, id, body, author, time, channel, thread, native_id, root, reply_to, audience, state, row,
  outcome, changed, moment
)"""
_LINK_COLUMNS = "links (channel, native_id, message, kind, slot, thread, gone, at)"
_SERIAL = "SELECT setval(pg_get_serial_sequence('message_rows', 'n'), $1)"

Room = Sequence[ChannelRef]


@dataclass(frozen=True)
class Posted:
    """One message of the history: `places` are (room's channel, native id, thread there)."""

    number: int
    id: MessageId
    at: float
    room: int
    places: tuple[tuple[int, str, str | None], ...]


def seeded_rooms(count: int = 100) -> list[Room]:
    """Channels with ids as long as the platforms' own."""
    return [
        (
            ChannelRef(platform="slack", workspace="T024BE7LD00", channel=f"C{n:010}"),
            ChannelRef(
                platform="discord", workspace="1323802873036800007", channel=f"13238028{n:011}"
            ),
            ChannelRef(
                platform="teams",
                workspace="7e0a0000-0000-4000-8000-0000000000aa",
                channel=f"19:{n:032x}@thread.tacv2",
            ),
        )
        for n in range(count)
    ]


def history(pairs: int, rooms: Sequence[Room]) -> Iterator[Posted]:
    """Messages until there are that many pairs of ids; each is posted in a channel of its room."""
    chance = random.Random(1)
    roots: dict[int, Sequence[str]] = {}
    now = _END - 6.0 * pairs / 3
    for number in range(1, pairs // 3 + 1):
        now += chance.uniform(0.01, 12)
        room = chance.randrange(len(rooms))
        natives = [_native(ref.platform, now, chance) for ref in rooms[room]]
        root = roots.get(room) if chance.random() < 0.33 else None
        order = chance.sample(range(3), 3)
        places = tuple((n, natives[n], None if root is None else root[n]) for n in order)
        if root is None:
            roots[room] = natives
        message = message_id_of(rooms[room][order[0]], natives[order[0]])
        yield Posted(number, message, now, room, places)


def _native(platform: str, at: float, chance: random.Random) -> str:
    if platform == "slack":
        return f"{at:.6f}"
    if platform == "discord":
        return str((int(at * 1000) - 1_420_070_400_000 << 22) + chance.randrange(4096))
    return str(int(at * 1000))


# --- building ---------------------------------------------------------------------------------


async def build(where: Path | Address, pairs: int, rooms: Sequence[Room]) -> int:
    """A closed store with that history; returns how many bytes its links use."""
    store = await _opened(where, quick=True)
    assert store.writer
    await store.writer.run(_make_channels, rooms)
    step: list[Posted] = []
    for entry in history(pairs, rooms):
        step.append(entry)
        if len(step) == _STEP:
            await store.writer.run(_write, step, rooms)
            step = []
    await store.writer.run(_write, step, rooms)
    await store.close()
    return _bytes_of(where)


async def _opened(where: Path | Address, *, quick: bool = False) -> SqlStore:
    clock = SystemClock()
    if isinstance(where, Address):
        return await open_postgres(where, clock=clock, key=None)
    return await open_sqlite(
        where, clock=clock, key=None, synchronous="NORMAL" if quick else "FULL"
    )


def _bytes_of(where: Path | Address) -> int:
    if isinstance(where, Path):
        with closing(sqlite3.connect(where)) as db:
            return db.execute(_SQLITE_BYTES).fetchone()[0]
    with closing(connect(where)) as db:
        db.control("VACUUM ANALYZE")  # as the server does by itself, some time later
        return next(iter(db.rows(_POSTGRES_BYTES)))[0]


def _make_channels(db: Connection, rooms: Sequence[Room]) -> None:
    for room in rooms:
        for channel in room:
            db.execute(CHANNELS["add"], (channel.key,)).fetchall()


def _write(db: Connection, step: Sequence[Posted], rooms: Sequence[Room]) -> None:
    """What `admit` and `settle` write of ids, many at once; bodies are left out."""
    number = {key: n for n, key in db.execute("SELECT n, key FROM channels").fetchall()}
    author = numbers.asked(
        db, authors.SQL, PEOPLE.write(Person(id=actor_id_of("slack", "T1", "U1"), name="Ann"))
    )()
    moment = 0
    messages: list[tuple[object, ...]] = []
    posts: list[tuple[object, ...]] = []
    copied: list[tuple[object, ...]] = []
    for entry in step:
        (at, native_id, thread), *copies = entry.places
        key = rooms[entry.room][at].key
        moment = max(moment + 1, int(entry.at * PER_SECOND))  # the store gives nearly the same
        messages.append((
            entry.number, key_of(entry.id), stored_id(entry.id, key, native_id), b"{}", author,
            entry.at, number[key], thread, native_id, None, None, None, "complete", None, "routed",
            None, moment,
        ))  # fmt: skip
        posts.append((number[key], native_id, entry.number, thread, entry.at))
        for at, native_id, thread in copies:
            channel = number[rooms[entry.room][at].key]
            copied.append((channel, native_id, entry.number, 0, thread, 0, entry.at))
    if isinstance(db, PostgresConnection):  # row by row, ten million take hours
        whole = ((*row[:2], entry.id, *row[3:]) for row, entry in zip(messages, step, strict=True))
        _copy(db, _MESSAGE_COLUMNS, whole)
        links = ((c, n, m, 0, 0, t, 0, at) for c, n, m, t, at in posts)
        _copy(db, _LINK_COLUMNS, links)
        _copy(db, _LINK_COLUMNS, ((c, n, m, 1, s, t, g, at) for c, n, m, s, t, g, at in copied))
        if step:
            db.execute(_SERIAL, (step[-1].number,))
        return
    db.executemany(arrivals.SQL["keep_message"], messages)
    db.executemany(SQL["link_said"], posts)
    db.executemany(SQL["link_copy"], copied)


def _copy(db: PostgresConnection, into: str, rows: Iterable[Sequence[object]]) -> None:
    with psycopg.Cursor(db.native).copy(f"COPY {into} FROM STDIN") as copy:  # pyright: ignore[reportArgumentType]  # our own text
        for row in rows:
            copy.write_row(row)


# --- asking -----------------------------------------------------------------------------------


@dataclass
class Subject:
    """A store of one size and what was found out about it."""

    pairs: int
    bytes_per_pair: float
    sample: Sequence[Posted]
    rooms: Sequence[Room]
    store: SqlStore
    reading: sqlite3.Connection | PostgresConnection
    times: dict[str, list[float]] = field(default_factory=dict[str, list[float]])

    async def ask(self, chance: random.Random) -> None:
        """Look-ups through the port, each timed by itself, in microseconds: of any rows, and of
        the newest, which edits, answers and reactions are mostly about."""
        newest = self.sample[-_NEWEST:]
        for sample, which in ((self.sample, ""), (newest, "_new")):
            for choice in chance.choices(sample, k=_LOOKUPS):
                at, native_id, _ = chance.choice(choice.places)
                channel = self.rooms[choice.room][at]
                took = time.perf_counter_ns()
                message = await self.store.resolve(channel, native_id)
                self._note("resolve" + which, took)
                assert message == choice.id
            for entry in chance.choices(sample, k=_LOOKUPS):
                at, native_id, _ = chance.choice(entry.places)
                channel = self.rooms[entry.room][at]
                took = time.perf_counter_ns()
                copies = await self.store.copies(entry.id, channel)
                self._note("copies" + which, took)
                assert [copy.native_id for copy in copies] == [native_id]
            for entry in chance.choices(sample, k=_LOOKUPS):
                at, native_id, _ = chance.choice(entry.places)
                channel = self.rooms[entry.room][at]
                took = time.perf_counter_ns()
                root = threads.root_in_channel(self.reading, entry.id, channel.key)
                self._note("root" + which, took)
                assert root == native_id

    async def admit(self, number: int) -> None:
        """Posts with two operations each, then their settlements: per post, COMMIT included, and
        what of the admission was work on the tables."""
        assert self.store.writer
        posts = [_post(self.rooms, number * _ADMITTED + index) for index in range(_ADMITTED)]
        took = time.perf_counter_ns()
        await asyncio.gather(*(self.store.writer.run(self._admit, post) for post in posts))
        self._note("admit", took, _ADMITTED)
        settled = [_settlement(operation) for post in posts for operation in post.operations]
        took = time.perf_counter_ns()
        await asyncio.gather(*(self.store.settle(settlement) for settlement in settled))
        self._note("settle", took, len(settled))

    def _admit(self, db: Connection, admission: Admission) -> None:
        took = time.perf_counter_ns()
        archive.admit(db, admission, time.time())
        self._note("admit_work", took)

    def _note(self, what: str, since: int, share: int = 1) -> None:
        self.times.setdefault(what, []).append((time.perf_counter_ns() - since) / share / 1000)


def _post(rooms: Sequence[Room], number: int) -> Admission:
    """A relayed post as the stages admit it."""
    home, *others = rooms[number % len(rooms)]
    at = time.time()
    native_id = f"{at:.6f}-{number}"
    ann = Person(id=actor_id_of(home.platform, home.workspace, "U1"), name="Ann")
    message = Message(
        message_id=message_id_of(home, native_id),
        timestamp=to_timestamp(datetime.fromtimestamp(at, UTC)),
        actor=Actor(id=ann.id, role="human", name=ann.name),
        content=(TextPart(type="text", text="The quick brown fox jumps over the lazy dog."),),
    )
    new = NewMessage(message, ann, at, Place(channel=home), native_id)
    timeline = Timeline(conversation_id_of(Place(channel=home)), "channel", "home")
    operations = tuple(
        PostMessage(
            id=OperationId(f"{native_id}-{other.platform}"), account=AccountId(other.platform),
            channel=other, room=RoomId("room"), message=new.id, byline=Byline(name="Ann"),
        )
        for other in others
    )  # fmt: skip
    return Admission("routed", None, new, (), (timeline,), operations)


def _settlement(operation: Operation) -> Settlement:
    return Settlement(operation.id, "done", (Receipt(slot=0, native_id=f"c{operation.id}"),))


async def measure(
    sizes: Sequence[int], engine: str = "sqlite", rounds: int = _ROUNDS
) -> dict[str, Any]:
    """All sizes, asked in turns."""
    rooms = seeded_rooms()
    with tempfile.TemporaryDirectory(prefix="uacs-links-") as folder:
        subjects: list[Subject] = []
        for pairs in sizes:
            sqlite = Path(folder) / f"{pairs}.sqlite3"
            where = sqlite if engine == "sqlite" else empty_database(f"links_{pairs}")
            subjects.append(await _subject(where, pairs, rooms))
        chance = random.Random(2)
        for number in range(rounds + 1):
            for subject in subjects:
                await subject.ask(chance)
                await subject.admit(number)
            if number == 0:  # it warms up
                for subject in subjects:
                    subject.times.clear()
        for subject in subjects:
            subject.reading.close()
            await subject.store.close()
    return {
        "sizes": [_row(subject, subjects[0]) for subject in subjects],
        "bars": BARS,
    }


async def _subject(where: Path | Address, pairs: int, rooms: Sequence[Room]) -> Subject:
    size = await build(where, pairs, rooms)
    chance = random.Random(3)
    share, last = min(1.0, 50_000 / pairs), pairs // 3 - _NEWEST
    sample = [
        entry for entry in history(pairs, rooms) if entry.number > last or chance.random() < share
    ]
    store = await _opened(where)
    reading = open_to_read(where) if isinstance(where, Path) else connect(where)
    return Subject(pairs, size / (pairs // 3 * 3), sample, rooms, store, reading)


def _row(subject: Subject, first: Subject) -> dict[str, Any]:
    medians = {what: statistics.median(times) for what, times in subject.times.items()}
    return {
        "pairs": subject.pairs,
        "bytes_per_pair": round(subject.bytes_per_pair),
        "us": {what: round(median, 1) for what, median in medians.items()},
        "ratio": {
            what: round(median / statistics.median(first.times[what]), 2)
            for what, median in medians.items()
        },
    }


# --- the bridge's start -----------------------------------------------------------------------


async def starts(sizes: Sequence[int], pairs: int) -> dict[str, Any]:
    """Seconds from the start of the process until every account hears, in turns; after a clean
    end and after kill -9."""
    seconds_by_end: dict[str, dict[int, list[float]]] = {
        end: {size: [] for size in sizes} for end in ("stopped", "killed")
    }
    async with sandbox_beside(channels=7, limits=False) as local:
        with tempfile.TemporaryDirectory(prefix="uacs-starts-") as folder:
            rooms = [_refs(room) for room in rooms_across(local)[1]]
            for size in sizes:
                (Path(folder) / str(size)).mkdir()
                await build(Path(folder) / str(size) / "bridge.sqlite3", size, rooms)
            for number in range(2 * pairs + 2):
                for size in sizes:
                    killed = number % 2 == 1  # this time; its next start is one after a kill
                    took = await _start(local, Path(folder) / str(size), kill=killed)
                    if number > 1:
                        seconds_by_end["stopped" if killed else "killed"][size].append(took)
    return {
        end: {str(size): round(statistics.median(times), 2) for size, times in of_size.items()}
        for end, of_size in seconds_by_end.items()
    }


def _refs(room: Sequence[Any]) -> Room:
    return [
        ChannelRef(platform=spot.platform, workspace=spot.workspace, channel=spot.channel)
        for spot in room
    ]


async def _start(local: SandboxProcess, folder: Path, *, kill: bool) -> float:
    parts, _ = rooms_across(local)
    settings = {**parts, "store": {"path": str(folder / "bridge.sqlite3")}}
    async with bridge_beside(local, settings, folder) as bridge:
        began = time.perf_counter()
        await bridge.start()
        await bridge.connected(120)
        took = time.perf_counter() - began
        if kill:
            await bridge.kill()
        else:
            await bridge.stop()
    return took


# --- showing ----------------------------------------------------------------------------------


def table(results: dict[str, Any]) -> str:
    """The figures, and the ratio to the smallest store in brackets."""
    what = ("resolve", "copies", "root", "resolve_new", "copies_new", "root_new")
    what = (*what, "admit_work", "admit", "settle")
    lines = ["     pairs  B/pair  " + "  ".join(f"{name:>13}" for name in what)]
    for row in results["sizes"]:
        cells = [f"{row['us'][name]:g} ({row['ratio'][name]:.2f})" for name in what]
        lines.append(
            f"{row['pairs']:>10}  {row['bytes_per_pair']:>6}  "
            + "  ".join(f"{cell:>13}" for cell in cells)
        )
    lines.append(f"bars: look-ups <= 2, inserts <= 3, bytes <= {BARS['bytes']}; times in us")
    return "\n".join(lines)


def starts_table(results: dict[str, Any]) -> str:
    lines: list[str] = []
    for end, of_size in results.items():
        line = ", ".join(f"{size} pairs: {seconds} s" for size, seconds in of_size.items())
        lines.append(f"after it was {end}: {line}")
    return "\n".join(lines)
