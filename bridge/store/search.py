"""The full-text index: documents of messages in, found messages out.

A document is removed by the same words that were added, which are made from the stored message
again. If the way they are made changes, `VERSION` must change: the index is then built anew.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache, singledispatch
from hashlib import blake2b
from typing import Any
from uuid import UUID

import orjson

from bridge.content.messages.search_text import search_text, spaced
from bridge.model.search_records import (
    Condition,
    FoundMessage,
    Search,
    SearchPage,
    Surroundings,
    Words,
)
from bridge.store import archive_rows
from bridge.store.connection import Connection
from bridge.store.moments import moment_at
from bridge.store.queries import read_queries

SQL = read_queries("search")
VERSION = 1
_ENDLESS = 1 << 62
ALL = "xall"  # every document has it: what a search that only excludes is taken from
NOTHING = "xnothing"  # no document has it
_LETTERS = {"author": "xa", "conversation": "xc", "thread": "xt", "reader": "xr"}
_LONGEST = 1_000_000  # characters of one message that are indexed


def index(db: Connection, number: int) -> None:
    """Add the document of a message, as it is stored now."""
    db.execute(SQL["add"], _document_of(db, number))


def add(db: Connection, moment: int, words: str, facets: str) -> None:
    """Add the document of a message that has just been stored."""
    db.execute(SQL["add"], (moment, *as_indexed(db, words, facets)))


def unindex(db: Connection, number: int) -> None:
    """Remove the document of a message, before it is changed."""
    db.execute(SQL["remove"], _document_of(db, number))


def _document_of(db: Connection, number: int) -> tuple[int, str, str]:
    moment, body, author, root, audience, state = db.execute(SQL["document"], (number,)).fetchone()
    conversations = [own_id for (own_id,) in db.execute(SQL["conversations_of"], (number,))]
    readers = None if audience is None else json.loads(audience)
    words, facets = document(body, author, root, readers, state, conversations)
    return moment, *as_indexed(db, words, facets)


@singledispatch
def as_indexed(db: Connection, words: str, facets: str) -> tuple[str, str]:
    """Return a document as the engine's index takes it: FTS5 divides texts into words by itself."""
    del db
    return words, facets


def document(
    body: bytes,
    author: bytes,
    root: str | None,
    readers: Collection[str] | None,
    state: str,
    conversations: Iterable[str],
) -> tuple[str, str]:
    """Return the words and the facets of a message."""
    message = _json(body)
    text, kinds = search_text(message)
    person = _json(author)
    facets = [ALL, _facet("author", person["id"])]
    facets += [_facet("conversation", conversation) for conversation in conversations]
    facets += [f"xh{kind}" for kind in sorted(kinds)]
    facets += [f"xi{state}"] if state in ("edited", "deleted") else []
    facets += ["xireply", _facet("thread", root)] if root else []
    facets += ["xibot"] if person.get("bot") else []
    if readers is not None:
        facets += ["xiwhisper", *(_facet("reader", reader) for reader in readers)]
    return text[:_LONGEST], " ".join(facets)


def _json(value: bytes) -> Any:
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:  # integers beyond 64 bits
        return json.loads(value)


@lru_cache(maxsize=65_536)
def _facet(kind: str, value: str) -> str:
    """A word for an id, which no tokenizer divides."""
    return _LETTERS[kind] + blake2b(value.encode(), digest_size=6).hexdigest()


# --- building ---------------------------------------------------------------------------------


def is_current(db: Connection) -> bool:
    """Whether the index was built by this version of the code."""
    row = db.execute(SQL["version"]).fetchone()
    return row is not None and row[0] == VERSION


def build(db: Connection) -> None:
    """Build the index anew, in one transaction of the caller's."""
    db.execute(SQL["forget_all"])
    last = 0
    while numbers := [n for (n,) in db.execute(SQL["unindexed"], (last,))]:
        for number in numbers:
            index(db, number)
        last = numbers[-1]
    db.execute(SQL["set_version"], (VERSION,))


# --- finding ----------------------------------------------------------------------------------


def find(db: Connection, search: Search, limit: int, before: int | None) -> SearchPage:
    """Return the newest messages that a search finds, from below `before` on."""
    first = -_ENDLESS if search.since is None else moment_at(search.since) - 1
    end = _ENDLESS if search.until is None else moment_at(search.until)
    end = end if before is None else min(before, end)
    values = (expression_for(db, search), first, end, limit + 1)
    rows = db.execute(SQL["find"], values).fetchall()
    found = tuple(_found(db, row) for row in rows[:limit])
    return SearchPage(found, found[-1].moment if len(rows) > limit else None)


def around(
    db: Connection, found: FoundMessage, conversation: UUID, search: Search, count: int
) -> Surroundings:
    """Return the messages before and behind one in a conversation, as its reader may see them."""
    readers = json.dumps(search.readers, ensure_ascii=False)
    values = (str(conversation), found.moment, search.deleted, readers, count)
    earlier = [_found(db, row) for row in db.execute(SQL["earlier"], values).fetchall()]
    later = [_found(db, row) for row in db.execute(SQL["later"], values).fetchall()]
    return Surroundings(tuple(reversed(earlier)), tuple(later))


def _found(db: Connection, row: Sequence[Any]) -> FoundMessage:
    moment, *columns, reply_to, n = row
    conversations = tuple(UUID(own_id) for (own_id,) in db.execute(SQL["conversations_of"], (n,)))
    return FoundMessage(moment, archive_rows.stored(columns), reply_to, conversations)


@singledispatch
def expression_for(db: Connection, search: Search) -> str:
    """Return the search as an expression of the engine."""
    del db
    return expression_of(search)


def expression_of(search: Search) -> str:
    """Return the search as an expression of FTS5; nothing of it comes from outside unquoted."""
    wanted = [_words(words) for words in search.words if not words.excluded]
    wanted += [_condition(item) for item in search.conditions if not item.excluded]
    if search.conversations is not None:
        ids = tuple(map(str, search.conversations))
        wanted.append(_condition(Condition("conversation", ids)))
    unwanted = [_words(words) for words in search.words if words.excluded]
    unwanted += [_condition(item) for item in search.conditions if item.excluded]
    if not search.deleted:
        unwanted.append("facets : xideleted")
    unwanted.append(_not_for(search.readers))
    expression = " AND ".join(f"({item})" for item in wanted) or f"facets : {ALL}"
    for item in unwanted:
        expression = f"({expression}) NOT ({item})"
    return expression


def _words(words: Words) -> str:
    text = spaced(words.text).replace('"', '""').replace("\0", " ")
    return f'text : "{text}"{" *" if words.prefix else ""}'


def facets_of(condition: Condition) -> Sequence[str]:
    """Return the facets of which a condition wants one."""
    if condition.kind in ("has", "is"):
        letter = condition.kind[0]
        return [f"x{letter}{value}" for value in condition.values if value.isalpha()]
    return [_facet(condition.kind, value) for value in condition.values]


def reader_facets(readers: Iterable[str]) -> Sequence[str]:
    """Return the facets of whispers to these people."""
    return [_facet("reader", reader) for reader in readers]


def _condition(condition: Condition) -> str:
    facets = facets_of(condition)
    return f"facets : ({' OR '.join(facets)})" if facets else f"facets : {NOTHING}"


def _not_for(readers: Sequence[str]) -> str:
    """Whispers to others."""
    whispers = "facets : xiwhisper"
    if not readers:
        return whispers
    own = " OR ".join(reader_facets(readers))
    return f"({whispers}) NOT (facets : ({own}))"


def conversations_named(db: Connection, name: str) -> Sequence[str]:
    """Return the ids of the rooms and channels of a name or key, in any case."""
    folded = name.casefold()
    named = {
        key
        for key, own_name in db.execute(SQL["described_names"])
        if str(own_name).casefold() == folded
    }
    return [
        own_id
        for own_id, own_name in db.execute(SQL["timeline_names"])
        if own_name.casefold() == folded or own_name in named
    ]
