"""The hash chain: each state of a message as a link of its conversation, and the verification.

A link's hash covers the hash before it, so that nothing in the middle can be changed, removed or
put in later without changing every hash behind it. It covers content by a digest that is salted:
once content and salt are erased, the digest tells nobody what was there, and the chain still holds.
A conversation's head can be written down elsewhere; a chain that was cut or made anew differs.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Literal

import orjson

from bridge.model.chain_records import CHAIN_VERSION, ChainFault, ChainHead, ChainReport
from bridge.store import payload_blocks
from bridge.store.connection import Connection, Rows
from bridge.store.message_keys import key_of
from bridge.store.packing import unpack
from bridge.store.queries import read_queries

SQL = read_queries("chain")
Kind = Literal["added", "edited", "deleted", "reacted", "erased"]
_SALT = 16  # bytes
_MOST_RANDOM = 4096  # random bytes at once
_START = bytes(32)  # the hash before the first link
_MAX_FAULTS = 100  # that a report lists


# --- adding -----------------------------------------------------------------------------------


def add(db: Connection, number: int, kind: Kind, now: float) -> None:
    """Add the present state of a message to the chain of its conversation, in the transaction that
    made it. A message of no conversation is in no chain."""
    home = db.execute(SQL["home"], (number,)).fetchone()
    if home is not None:
        chain = _Chain(db, *home)
        chain.add(Content.of(db, number), kind, now)
        chain.save()


def last_asked(db: Connection, own_ids: str) -> Rows:
    """Ask for the last link of the conversation to which a message of these timelines (JSON of
    their ids) belongs."""
    return db.execute(SQL["last_of_first"], (own_ids,))


def add_new(
    db: Connection, home: tuple[int, str], last: Rows, content: Content, now: float
) -> None:
    """Add a message that has just been stored. `home`: number and id of its conversation; `last`:
    of `last_asked`."""
    chain = _Chain(db, *home, last=last)
    chain.add(content, "added", now)
    chain.save()


def note_reactions(db: Connection, number: int, now: float) -> None:
    """Add the present reactions of a message."""
    home = db.execute(SQL["home"], (number,)).fetchone()
    if home is not None:
        chain = _Chain(db, *home)
        chain.add_reactions(Content.of(db, number), _reactions(db, number), now)
        chain.save()


def forget(db: Connection, number: int, now: float) -> None:
    """After an erasure of content: nobody can compare the former states of the message any more;
    the present one is added."""
    db.execute(SQL["forget_content"], (number,))
    add(db, number, "erased", now)


def forget_reactions(db: Connection, number: int, now: float) -> None:
    """After an erasure of reactions, the same."""
    db.execute(SQL["forget_reactions"], (number,))
    note_reactions(db, number, now)


class Chains:
    """Adds many messages of several conversations, whose heads are read once."""

    def __init__(self, db: Connection) -> None:
        self._db = db
        self._chains: dict[int, _Chain] = {}
        self._salts = _Salts()

    def add_all(self, number: int, now: float) -> None:
        """Add the former versions of a message and its present state."""
        home = self._db.execute(SQL["home"], (number,)).fetchone()
        if home is None:
            return
        former = [body for _, body in self._db.execute(SQL["versions"], (number,))]
        content, reactions = Content.of(self._db, number), _reactions(self._db, number)
        self.add_new(home, content, former, reactions, now)

    def add_new(
        self,
        home: tuple[int, str],
        content: Content,
        former: Sequence[bytes],
        reactions: bytes,
        now: float,
    ) -> None:
        """Add the former bodies of a message of this conversation, from version 1 on, its present
        state and its reactions."""
        chain = self._chains.get(home[0])
        if chain is None:
            chain = self._chains[home[0]] = _Chain(self._db, *home, self._salts)
        kind: Kind = "added"
        for version, body in enumerate(former, 1):
            chain.add(content.former(version, body), kind, now)
            kind = "edited"
        chain.add(content, "deleted" if content.state == "deleted" else kind, now)
        if reactions:
            chain.add_reactions(content, reactions, now)

    def save(self) -> None:
        """Write what was added."""
        for chain in self._chains.values():
            chain.save()


class _Salts:
    """Random salts; the more are taken, the more the system is asked for at once: a call costs
    30 us."""

    def __init__(self) -> None:
        self._left = b""
        self._asked = _SALT

    def take(self) -> bytes:
        if not self._left:
            self._left = os.urandom(self._asked)
            self._asked = min(self._asked * 2, _MOST_RANDOM)
        salt, self._left = self._left[:_SALT], self._left[_SALT:]
        return salt


class _Chain:
    """One conversation's chain, at whose end links are added."""

    def __init__(
        self,
        db: Connection,
        timeline: int,
        own_id: str,
        salts: _Salts | None = None,
        last: Rows | None = None,
    ) -> None:
        self._db = db
        self._salts = salts or _Salts()
        self._timeline = timeline
        self._id = own_id
        if last is None:
            last = db.execute(SQL["last"], (timeline,))
        self._seq, self._hash = last.fetchone() or (0, _START)
        self._rows: list[tuple[Any, ...]] = []

    def add(self, content: Content, kind: Kind, now: float) -> None:
        salt = self._salts.take()
        digest, payload = content.digest(salt), content.payload_digest(salt)
        self._link(content, kind, now, salt, digest, payload)

    def add_reactions(self, content: Content, reactions: bytes, now: float) -> None:
        salt = self._salts.take()
        self._link(content, "reacted", now, salt, _salted(salt, reactions), None)

    def _link(
        self, content: Content, kind: Kind, now: float, salt: bytes, digest: bytes,
        payload: bytes | None,
    ) -> None:  # fmt: skip
        self._seq += 1
        facts = (content.id, content.version, kind, now)
        self._hash = _hash(self._hash, self._id, self._seq, facts, digest, payload)
        self._rows.append(
            (self._timeline, self._seq, content.number, content.version, kind, now, salt, digest,
             payload, self._hash)
        )  # fmt: skip

    def save(self) -> None:
        self._db.executemany(SQL["add"], self._rows)
        self._rows.clear()


@dataclass(frozen=True)
class Content:
    """What a link says of a message: everything that is kept of one state."""

    number: int
    id: str
    body: bytes
    author: bytes
    facts: bytes  # time, place and readers, which no edit changes
    version: int
    state: str
    payload: bytes | None

    @classmethod
    def of(cls, db: Connection, number: int) -> Content:
        row = db.execute(SQL["content"], (number,)).fetchone()
        key, own_id, body, author, *facts, state, versions, live = row
        if own_id is None or key != key_of(own_id):
            own_id = ""  # nobody finds the message
        return cls(
            number, own_id, _bytes(body), _bytes(author), orjson.dumps(facts), versions + 1, state,
            _payload(db, number, live),
        )  # fmt: skip

    @classmethod
    def new(
        cls, number: int, columns: Sequence[Any], versions: int, payload: bytes | None
    ) -> Content:
        """Of a message that is about to be stored: the columns id, body, author, time, channel,
        thread, native_id, root, reply_to, audience, state."""
        own_id, body, author, *facts, state = columns[:11]
        return cls(number, own_id, body, author, orjson.dumps(facts), versions + 1, state, payload)

    def former(self, version: int, body: bytes) -> Content:
        """A former state of the message; its payload was another one."""
        return replace(self, body=_bytes(body), version=version, payload=None)

    def digest(self, salt: bytes) -> bytes:
        return _salted(salt, self.author, self.facts, self.body)

    def payload_digest(self, salt: bytes) -> bytes | None:
        return None if self.payload is None else _salted(salt, self.payload)


def _payload(db: Connection, number: int, live: object) -> bytes | None:
    """The native payload; of a damaged one bytes that are no payload."""
    try:
        imported = payload_blocks.payload_of(db, number)
    except (zlib.error, ValueError):
        return b""
    if imported is not None:
        return imported[1]
    return None if live is None else payload_of(live)


def payload_of(stored: object) -> bytes:
    """Return the native payload that a row holds; of a damaged one bytes that are no payload."""
    try:
        return unpack(_bytes(stored))
    except (zlib.error, ValueError):
        return b""


def _bytes(value: object) -> bytes:
    """Of a column that somebody may have changed, also in its type."""
    return value if isinstance(value, bytes) else str(value).encode()


def _salted(salt: bytes, *values: bytes) -> bytes:
    """The lengths are covered, so that no byte can move from one value to the next."""
    digest = sha256(salt)
    for value in values:
        digest.update(len(value).to_bytes(8, "big"))
        digest.update(value)
    return digest.digest()


def _hash(
    before: bytes,
    conversation: str,
    seq: int,
    facts: Sequence[Any],
    digest: bytes,
    payload: bytes | None,
) -> bytes:
    """SHA-256 over the hash before, and over JSON of the conversation's id, the number of the link,
    the message's id, its version, the kind and the time; then over both digests."""
    described = orjson.dumps([conversation, seq, *facts])
    return _salted(before, described, digest, payload or b"")


def _reactions(db: Connection, number: int) -> bytes:
    return _reactions_json(db.execute(SQL["reactions"], (number,)).fetchall())


def reactions_of(rows: Iterable[Sequence[Any]]) -> bytes:
    """Return what a link covers of reactions that are about to be stored: rows of emoji, channel,
    target, actor and time, of which the first of the same reaction counts."""
    at_by_reaction: dict[tuple[str, str, str, str], float] = {}
    for emoji, channel, target, actor, at in rows:
        at_by_reaction.setdefault((emoji, channel, target, actor), at)
    return _reactions_json([(*key, 1, at_by_reaction[key]) for key in sorted(at_by_reaction)])


def _reactions_json(rows: Sequence[Sequence[Any]]) -> bytes:
    return orjson.dumps(rows) if rows else b""


# --- building ---------------------------------------------------------------------------------


def is_current(db: Connection) -> bool:
    """Whether this version of the code made the chain."""
    row = db.execute(SQL["version"]).fetchone()
    return row is not None and row[0] == CHAIN_VERSION


def build(db: Connection, now: float) -> None:
    """Make the chain of a store that has none, in one transaction of the caller's."""
    db.execute(SQL["forget_all"])
    last = 0
    while rows := db.execute(SQL["unlinked"], (last,)).fetchall():
        chains = Chains(db)
        for (number,) in rows:
            chains.add_all(number, now)
        chains.save()
        last = rows[-1][0]
    db.execute(SQL["set_version"], (CHAIN_VERSION,))


# --- verifying --------------------------------------------------------------------------------


def verify(db: Connection, pinned: Mapping[str, ChainHead]) -> ChainReport:
    """Compare the archive with its chain, and the chain with heads that were pinned."""
    report = ChainReport()
    known: set[str] = set()
    for timeline, own_id in db.execute(SQL["conversations"]).fetchall():
        known.add(own_id)
        _Verification(db, report, timeline, own_id, pinned.get(own_id)).run()
    for own_id in pinned.keys() - known:
        fault = ChainFault(own_id, 0, "", "the conversation was pinned and is not there")
        _note(report, fault)
    return report


def _note(report: ChainReport, fault: ChainFault) -> None:
    report.fault_count += 1
    if len(report.faults) < _MAX_FAULTS:
        report.faults.append(fault)


class _Verification:
    """Of one conversation."""

    def __init__(
        self,
        db: Connection,
        report: ChainReport,
        timeline: int,
        own_id: str,
        pinned: ChainHead | None,
    ) -> None:
        self._db = db
        self._report = report
        self._timeline = timeline
        self._id = own_id
        self._pinned = pinned

    def run(self) -> None:
        self._verify_links()
        for (number,) in self._db.execute(SQL["messages_of"], (self._timeline,)):
            self._verify_message(number)
        for (number,) in self._db.execute(SQL["strays"], (self._timeline,)):
            self._fault(0, number, "the chain has a message that the conversation has not")

    def _verify_links(self) -> None:
        """The chain in itself, and with the head that was pinned."""
        before, count, pinned = _START, 0, self._pinned
        for seq, number, version, kind, at, _, digest, payload, own_hash in self._db.execute(
            SQL["links"], (self._timeline,)
        ):
            count += 1
            self._report.links += 1
            if seq != count:
                self._fault(count, None, f"the link is missing; {seq} follows")
                count = seq
            facts = (self._id_of(number), version, kind, at)
            if own_hash != _hash(before, self._id, seq, facts, digest, payload):
                self._fault(seq, number, "the link was changed")
            before = own_hash
            if pinned is not None and seq == pinned.links and own_hash.hex() != pinned.hash:
                self._fault(seq, number, "the link is not the one that was pinned")
        if count:
            self._report.heads[self._id] = ChainHead(count, before.hex())
        if pinned is not None and count < pinned.links:
            what = f"the chain ends at {count}; {pinned.links} links were there when it was pinned"
            self._fault(count, None, what)

    def _id_of(self, number: int) -> str:
        row = self._db.execute(SQL["id"], (number,)).fetchone()
        return "" if row is None or row[0] is None else row[0]

    def _verify_message(self, number: int) -> None:
        """The newest link of each state against what is kept of it."""
        if self._db.execute(SQL["id"], (number,)).fetchone() is None:
            self._fault(0, number, "a message of the conversation is not there")
            return
        links = self._db.execute(SQL["links_of_message"], (self._timeline, number)).fetchall()
        content = Content.of(self._db, number)
        states = {link[1]: link for link in links if link[2] != "reacted"}
        if content.state == "streaming" and not states:
            return
        self._report.messages += 1
        if not content.id:
            self._fault(0, number, "the message cannot be found by its id")
        if content.version not in states:
            self._fault(0, number, "the present state of the message is in no link")
            return
        self._verify_kind(number, content, states)
        last_erasure = max((link[0] for link in links if link[2] == "erased"), default=0)
        bodies = dict(self._db.execute(SQL["versions"], (number,)).fetchall())
        for version, link in states.items():
            if version == content.version:
                self._compare(number, content, link, last_erasure)
                self._compare_payload(number, content, link)
            elif version in bodies:
                former = content.former(version, bodies[version])
                self._compare(number, former, link, last_erasure)
            elif not last_erasure:
                self._fault(link[0], number, f"version {version} of the message is missing")
        for version in bodies.keys() - states.keys():
            self._fault(0, number, f"version {version} of the message is in no link")
        self._verify_reactions(number, links, last_erasure)

    def _verify_kind(
        self, number: int, content: Content, states: Mapping[int, Sequence[Any]]
    ) -> None:
        seq, _, kind, *_ = states[content.version]
        is_deleted = content.state == "deleted"
        if kind != "erased" and is_deleted != (kind == "deleted"):
            what = f"the message is {content.state}, and its newest link says {kind}"
            self._fault(seq, number, what)

    def _compare(
        self, number: int, content: Content, link: Sequence[Any], last_erasure: int
    ) -> None:
        seq, _, kind, salt, digest, _ = link
        if salt is None:
            self._report.erased += 1
            if seq >= last_erasure:
                self._fault(seq, number, "the salt is gone, and no erasure says why")
            return
        if content.digest(salt) != digest:
            self._fault(seq, number, f"what was {kind} is not what is kept now")

    def _compare_payload(self, number: int, content: Content, link: Sequence[Any]) -> None:
        seq, _, _, salt, _, expected = link
        if salt is None:
            return
        payload = content.payload_digest(salt)
        if expected is not None and payload is None:
            self._report.payloads_gone += 1
        elif payload != expected:
            self._fault(seq, number, "the native payload is not the one that came")

    def _verify_reactions(
        self, number: int, links: Sequence[Sequence[Any]], last_erasure: int
    ) -> None:
        reacted = [link for link in links if link[2] == "reacted"]
        now = _reactions(self._db, number)
        if not reacted:
            if now:
                self._fault(0, number, "the reactions are in no link")
            return
        seq, _, _, salt, digest, _ = reacted[-1]
        if salt is None:
            if seq >= last_erasure:
                self._fault(seq, number, "the salt is gone, and no erasure says why")
        elif _salted(salt, now) != digest:
            self._fault(seq, number, "the reactions are not those that came")

    def _fault(self, link: int, number: int | None, what: str) -> None:
        message = "" if number is None else self._id_of(number)
        _note(self._report, ChainFault(self._id, link, message, what))
