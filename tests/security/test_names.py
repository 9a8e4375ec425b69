"""A name is what it looks like, whoever chose it."""

from __future__ import annotations

import pytest

from bridge.content.text.names import NAME_LIMIT, display_name
from bridge.model import AccountId, ActorId, Person
from bridge.router.rooms.people import People
from bridge.runtime.clock import SystemClock
from bridge.store import SqliteStore


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Ann", "Ann"),
        ("Zoë Ångström", "Zoë Ångström"),
        ("عبد الله", "عبد الله"),
        ("👩‍💻 Kim", "👩‍💻 Kim"),
        ("\u202enimdA", "nimdA"),
        ("Boss\u2066\u200b\ufeff", "Boss"),
        ("Ann\n\n# Heading\u2028**Boss**", "Ann # Heading **Boss**"),
        ("Ann\x00\ud800\x1b[31m", "Ann [31m"),
        ("\u200b\u200d\u2060", "U1"),
        ("\u3164", "U1"),
        ("", "U1"),
        ("x" * 1_000_000, "x" * (NAME_LIMIT - 1) + "…"),
    ],
)
def test_a_name_is_one_line_without_anything_hidden(name: str, shown: str) -> None:
    assert display_name(name, "U1") == shown


async def test_the_router_never_hands_on_a_name_that_hides_something() -> None:
    clock = SystemClock()
    people = People(SqliteStore.in_memory(clock), {}, clock)
    ann = Person(id=ActorId("slack:T1:U1"), name="Boss\u202e\n**Ann**")

    person, _news = await people.complete(AccountId("slack"), ann)

    assert person.name == "Boss **Ann**"
