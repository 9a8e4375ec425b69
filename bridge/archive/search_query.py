"""What a person types to search -> a search: words, phrases, and `key:value` conditions.

deploy "went wrong" -staging from:ann in:general has:file after:2026-01-01 dep*
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import get_args

import orjson

from bridge.content.messages.search_text import search_text, spaced
from bridge.errors import InvalidData
from bridge.model.search_records import Condition, ContentKind, MessageTrait, Search, Words
from bridge.uacs import Message, write

LONGEST = 500  # characters of a query
_MOST_TERMS = 20
_TERM = re.compile(r'(-?)(?:(\w+):)?(?:"([^"]*)"?|(\S+))', re.UNICODE)
_HAS: tuple[str, ...] = get_args(ContentKind)
_IS: tuple[str, ...] = get_args(MessageTrait)
_KEYS = ("from", "in", "has", "is", "before", "after", "on", "thread")


class BadQuery(InvalidData):
    """A query that cannot be understood: the text names the term, and what may stand there."""


@dataclass(frozen=True)
class Names:
    """How names become ids; each returns all that have the name."""

    authors: Callable[[str], Awaitable[Sequence[str]]]
    conversations: Callable[[str], Awaitable[Sequence[str]]]


async def read_query(text: str, names: Names, zone: tzinfo | None = None) -> Search:
    """Return the search of a query; dates without a zone are of `zone`, else of this machine.

    Raises:
        BadQuery: a condition has no such value, or there is nothing to search for.
    """
    if len(text) > LONGEST:
        raise BadQuery(f"A query has at most {LONGEST} characters, this one has {len(text):,}")
    terms = [match.groups() for match in _TERM.finditer(text)]
    if len(terms) > _MOST_TERMS:
        raise BadQuery(f"A query has at most {_MOST_TERMS} terms, this one has {len(terms)}")
    words: list[Words] = []
    conditions: list[Condition] = []
    period = _Period()
    for minus, key, phrase, bare in terms:
        value = (phrase if phrase is not None else bare).strip()
        folded = (key or "").casefold()
        if folded in ("before", "after", "on"):
            period = period.within(folded, *_day(folded, value, zone))
        elif folded in _KEYS:
            conditions.append(await _condition(folded, value, names, excluded=bool(minus)))
        elif (found := _words(key, phrase, bare, excluded=bool(minus))) is not None:
            words.append(found)
    if not words and not conditions and period == _Period():
        raise BadQuery(
            'There is nothing to search for; write words, "a phrase", or one of '
            + ", ".join(f"{key}:" for key in _KEYS)
        )
    return Search(tuple(words), tuple(conditions), period.since, period.until)


async def _condition(key: str, value: str, names: Names, *, excluded: bool) -> Condition:
    match key:
        case "from":
            authors = tuple(await names.authors(value.removeprefix("@")))
            return Condition("author", authors, excluded)
        case "in":
            conversations = tuple(await names.conversations(value.removeprefix("#")))
            return Condition("conversation", conversations, excluded)
        case "has":
            return Condition("has", (_one_of("has", value, _HAS),), excluded)
        case "is":
            return Condition("is", (_one_of("is", value, _IS),), excluded)
        case _:
            return Condition("thread", (value,), excluded)


@dataclass(frozen=True)
class _Period:
    """From `since` to before `until`, in seconds since 1970."""

    since: float | None = None
    until: float | None = None

    def within(self, key: str, begin: float, end: float) -> _Period:
        """The part of it that a condition leaves; `begin` and `end` are those of its day."""
        since, until = self.since, self.until
        if key != "before":
            bound = end if key == "after" else begin
            since = bound if since is None else max(since, bound)
        if key != "after":
            bound = begin if key == "before" else end
            until = bound if until is None else min(until, bound)
        return _Period(since, until)


def _words(
    key: str | None, phrase: str | None, bare: str | None, *, excluded: bool
) -> Words | None:
    """Words as they stand; a colon that follows no key of ours is part of them."""
    text = phrase if phrase is not None else bare or ""
    prefix = text.endswith("*")
    text = f"{key} {text}" if key else text
    if not re.search(r"\w", text):
        return None
    return Words(text.rstrip("*"), prefix, excluded)


def _one_of(key: str, value: str, values: Sequence[str]) -> str:
    folded = value.casefold()
    for candidate in (folded, folded.removesuffix("s")):
        if candidate in values:
            return candidate
    raise BadQuery(f"{key}:{value} is no condition; it may be {', '.join(values)}")


def _day(key: str, value: str, zone: tzinfo | None) -> tuple[float, float]:
    """The beginning and the end of a day, or twice a moment."""
    try:
        moment = datetime.fromisoformat(value)
        local = moment.astimezone() if zone is None else moment
        if local.tzinfo is None:
            local = local.replace(tzinfo=zone)
        begin = local.timestamp()
        whole_day = len(value) <= len("2026-01-31")
        return begin, (local + timedelta(days=1)).timestamp() if whole_day else begin
    except (ValueError, OverflowError):
        raise BadQuery(f"{key}:{value} is no date; write 2026-01-31 or 2026-01-31T08:00Z") from None


def shows_words(message: Message, words: Sequence[Words]) -> bool:
    """Whether the message, as a reader sees it, has the words that were searched for."""
    text = _folded(search_text(orjson.loads(write(message)))[0])
    return all(_folded(spaced(item.text)) in text for item in words if not item.excluded)


def _folded(text: str) -> str:
    """The text without case, accents and punctuation, as the index compares it."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(char for char in decomposed if not unicodedata.combining(char))
    return " ".join(re.findall(r"\w+", bare))
