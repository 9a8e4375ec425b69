"""Pages of history, ids and mentions, without a server."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.discord.sandbox.seed import seed
from connectors.discord.sandbox.snowflakes import Snowflakes, made_at
from connectors.discord.sandbox.state import Channel, ChannelType, Message, State, User
from connectors.discord.sandbox.text import (
    ALL_MENTIONS,
    USERS_ONLY,
    Allowed,
    allowed_from,
    find_mentions,
)

AUTHOR = User(1, "ana")


@given(
    st.lists(st.integers(1, 60), unique=True).map(sorted),
    st.integers(1, 20),
    st.integers(0, 61),
)
def test_message_pages_equal_a_plain_filter(ids: list[int], limit: int, anchor: int) -> None:
    channel = Channel(1, ChannelType.TEXT, "general")
    for message_id in ids:
        channel.add(Message(message_id, channel, AUTHOR, ""))

    def page(**anchors: int) -> list[int]:
        all_anchors = {"before_id": None, "after_id": None, "around_id": None} | anchors
        return [m.id for m in channel.page(limit, **all_anchors)]

    assert page() == ids[::-1][:limit]
    assert page(before_id=anchor) == [i for i in ids[::-1] if i < anchor][:limit]
    assert page(after_id=anchor) == [i for i in ids if i > anchor][:limit][::-1]
    assert len(page(around_id=anchor)) <= limit


def test_removed_messages_are_in_no_page() -> None:
    channel = Channel(1, ChannelType.TEXT, "general")
    for message_id in range(1, 6):
        channel.add(Message(message_id, channel, AUTHOR, ""))

    channel.remove(3)
    channel.remove(3)

    assert [m.id for m in channel.page(10, before_id=None, after_id=None, around_id=None)] == [
        5,
        4,
        2,
        1,
    ]


def test_ids_increase_when_the_clock_stops_or_goes_back() -> None:
    clock = iter([2e9, 2e9, 1.9e9, 2.1e9])
    ids = Snowflakes(lambda: next(clock))

    new_ids = [ids.next() for _ in range(4)]

    assert new_ids == sorted(set(new_ids))
    assert made_at(new_ids[0]) == "2033-05-18T03:33:20.000000+00:00"


@pytest.mark.parametrize(
    ("content", "allowed", "users", "everyone"),
    [
        ("hi <@ANA>", ALL_MENTIONS, ["ana"], False),
        ("hi <@!ANA> <@ANA>", ALL_MENTIONS, ["ana"], False),
        ("hi <@1> <@STRANGER>", ALL_MENTIONS, [], False),
        ("`<@ANA>`", ALL_MENTIONS, [], False),
        ("```\n<@ANA>\n```", ALL_MENTIONS, [], False),
        ("hi @everyone", ALL_MENTIONS, [], True),
        ("hi @everyone <@ANA>", USERS_ONLY, ["ana"], False),
        ("hi @here <@ANA>", allowed_from({"parse": []}, ALL_MENTIONS), [], False),
        ("hi <@ANA> <@BOB>", Allowed(users=frozenset({0})), [], False),
    ],
)
def test_mentions_are_found_and_allowed(
    content: str, allowed: Allowed, users: list[str], *, everyone: bool
) -> None:
    state = State(lambda: 2e9)
    seed(state, 1)
    ana, bob = (next(u for u in state.users.values() if u.username == n) for n in ("ana", "bob"))
    guild = next(iter(state.guilds.values()))
    channel = next(iter(guild.channels.values()))
    filled = (
        content.replace("ANA", str(ana.id)).replace("BOB", str(bob.id)).replace("STRANGER", "77")
    )
    state.users[77] = User(77, "stranger")
    message = Message(5, channel, ana, filled)  # ana owns the guild and may ping all

    find_mentions(message, state, allowed)

    assert [user.username for user in message.mentions] == users
    assert message.mention_everyone is everyone
