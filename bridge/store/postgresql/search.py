"""Documents and searches as PostgreSQL's full-text index takes them.

Words and facets are in one `tsvector`: words where they stand in the text, with weight D; facets
with weight A, so that no text is taken for a facet. Texts are divided into words as SQLite's
tokenizer unicode61 divides them, so that both engines find the same.
"""

from __future__ import annotations

import re
import struct
import unicodedata
from collections.abc import Iterator, Sequence

from bridge.content.messages.search_text import spaced
from bridge.model.search_records import Condition, Search, Words
from bridge.store import search
from bridge.store.postgresql.connection import PostgresConnection

_WORD = re.compile(r"[^\W_]+")
_LONGEST_WORD = 500  # characters: a lexeme has at most 2 KB
_LAST_PLACE = 16_383  # places behind it are not told apart
_MAX_PLACES = 255  # of one word
_WEIGHT_A = 3 << 14  # beside a place in the binary format
_MAX_SIZE = 500_000  # characters of a document: a tsvector has at most 1 MB


@search.as_indexed.register
def as_indexed(db: PostgresConnection, words: str, facets: str) -> tuple[str, str]:
    """Return the text of a `tsvector`, and "" for the facets, which are in it."""
    del db
    lexemes = [f"'{word}':{','.join(map(str, at))}" for word, at in _places(words).items()]
    lexemes += [f"'{facet}':1A" for facet in facets.split()]
    return " ".join(lexemes), ""


def as_binary(words: str, facets: str) -> bytes:
    """Return the same `tsvector` as the server's binary format has it (tsvectorsend in its
    src/backend/utils/adt/tsvector.c): lexemes in order, each with NUL and its places."""
    places = {word.encode(): at for word, at in _places(words).items()}
    for facet in {facet.encode() for facet in facets.split()}:
        behind = [place for place in places.get(facet, ()) if place > 1]
        places[facet] = [1 | _WEIGHT_A, *behind]  # of two weights of a place the server keeps A
    pieces = [struct.pack("!i", len(places))]
    for word, at in sorted(places.items()):
        pieces += [word, struct.pack(f"!BH{len(at)}H", 0, len(at), *at)]
    return b"".join(pieces)


def _places(words: str) -> dict[str, list[int]]:
    """The places of each word, in order and each once."""
    places: dict[str, list[int]] = {}
    size = 0
    for place, word in enumerate(_words(words), 1):
        size += len(word) + 8
        if size > _MAX_SIZE:
            break
        known = places.setdefault(word, [])
        if len(known) < _MAX_PLACES and (not known or known[-1] < _LAST_PLACE):
            known.append(min(place, _LAST_PLACE))
    return places


@search.expression_for.register
def expression_for(db: PostgresConnection, wanted: Search) -> str:
    """Return the text of a `tsquery`; nothing of it comes from outside unquoted."""
    del db
    needed = [_phrase(words) for words in wanted.words if not words.excluded]
    needed += [_condition(item) for item in wanted.conditions if not item.excluded]
    if wanted.conversations is not None:
        needed.append(_condition(Condition("conversation", tuple(map(str, wanted.conversations)))))
    refused = [_phrase(words) for words in wanted.words if words.excluded]
    refused += [_condition(item) for item in wanted.conditions if item.excluded]
    if not wanted.deleted:
        refused.append(_facet("xideleted"))
    refused.append(_whispers_to_others(wanted.readers))
    return " & ".join(
        [*(f"({item})" for item in needed or [_facet(search.ALL)]),
         *(f"!({item})" for item in refused)]
    )  # fmt: skip


def _words(text: str) -> Iterator[str]:
    if not text.isascii():
        text = "".join(
            letter
            for letter in unicodedata.normalize("NFKD", text)
            if not unicodedata.combining(letter)
        )
    return (word[:_LONGEST_WORD] for word in _WORD.findall(text.casefold()))


def _phrase(words: Words) -> str:
    found = [f"'{word}':D" for word in _words(spaced(words.text))]
    if not found:
        return _facet(search.NOTHING)
    if words.prefix:
        found[-1] = found[-1].replace(":D", ":*D")
    return " <-> ".join(found)


def _condition(condition: Condition) -> str:
    facets = search.facets_of(condition)
    return " | ".join(map(_facet, facets)) if facets else _facet(search.NOTHING)


def _facet(facet: str) -> str:
    return f"'{facet}':A"


def _whispers_to_others(readers: Sequence[str]) -> str:
    whispers = _facet("xiwhisper")
    if not readers:
        return whispers
    own = " | ".join(map(_facet, search.reader_facets(readers)))
    return f"{whispers} & !({own})"
