"""What a person types becomes words, conditions and a period; what makes no sense is refused."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from bridge.archive.search_query import LONGEST, BadQuery, Names, read_query, shows_words
from bridge.model.search_records import Condition, Search, Words
from bridge.uacs import Actor, Message, TextPart


async def named(name: str) -> Sequence[str]:
    return () if name == "nobody" else (f"id of {name}",)


NAMES = Names(named, named)


def day(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "search"),
    [
        ("deploy friday", Search((Words("deploy"), Words("friday")))),
        ('"went wrong" now', Search((Words("went wrong"), Words("now")))),
        ('"never closed', Search((Words("never closed"),))),
        ("dep* -staging", Search((Words("dep", True), Words("staging", False, True)))),
        ('-"went wrong" x', Search((Words("went wrong", False, True), Words("x")))),
        ("at 12:30", Search((Words("at"), Words("12 30")))),
        ("https://a.test/b", Search((Words("https //a.test/b"),))),
        ("from:@Ann", Search(conditions=(Condition("author", ("id of Ann",)),))),
        ('from:"Ann B" x', Search((Words("x"),), (Condition("author", ("id of Ann B",)),))),
        ("from:slack:T1:U1", Search(conditions=(Condition("author", ("id of slack:T1:U1",)),))),
        ("from:nobody", Search(conditions=(Condition("author", ()),))),
        ("-in:#general", Search(conditions=(Condition("conversation", ("id of general",), True),))),
        ("HAS:files", Search(conditions=(Condition("has", ("file",)),))),
        ("is:edited", Search(conditions=(Condition("is", ("edited",)),))),
        ("thread:a:b:c:1", Search(conditions=(Condition("thread", ("a:b:c:1",)),))),
        ("before:2026-01-31", Search(until=day("2026-01-31"))),
        ("after:2026-01-31", Search(since=day("2026-02-01"))),
        ("on:2026-01-31", Search(since=day("2026-01-31"), until=day("2026-02-01"))),
        (
            "after:2026-01-31T08:00 before:2026-03-01 before:2026-02-01",
            Search(since=day("2026-01-31T08:00"), until=day("2026-02-01")),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_query_is_read(text: str, search: Search) -> None:
    assert await read_query(text, NAMES, UTC) == search


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "nothing to search for"),
        ("  ?! - ", "nothing to search for"),
        ("has:soul", "it may be image, video"),
        ("is:true", "it may be edited, deleted"),
        ("before:yesterday", "write 2026-01-31"),
        ("after:9999-12-31", "no date"),
        ("x " * 21, "at most 20 terms"),
        ("x" * (LONGEST + 1), "at most 500 characters"),
    ],
)
async def test_a_query_that_makes_no_sense_is_refused_with_what_may_stand_there(
    text: str, words: str
) -> None:
    with pytest.raises(BadQuery, match=words.replace("?", r"\?")):
        await read_query(text, NAMES, UTC)


@pytest.mark.parametrize(
    ("searched", "shown"),
    [("Cafe", True), ("wrong", False), ("天気", True), ("b c", True), ("c b", False)],
)
def test_a_view_shows_words_as_the_index_compares_them(searched: str, *, shown: bool) -> None:
    message = Message(
        message_id="m",
        timestamp="2026-01-31T08:00:00Z",
        actor=Actor(id="a", role="human"),
        content=(TextPart(text="a café: b, c; 天気"),),
    )

    assert shows_words(message, (Words(searched),)) is shown
