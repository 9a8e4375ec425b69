"""Connections of single authors."""

from __future__ import annotations

import asyncio

from bridge.model import (
    MessagePosted,
)
from tests.connectors.irc.conftest import CHANNEL, Local, eventually
from tests.connectors.irc.sending import post


async def test_an_author_posts_through_a_connection_of_their_own(local: Local) -> None:
    connector = local.connector(puppets=True, max_puppets=2)
    await local.start(connector)

    (receipt,) = await post(connector, local, "hello", name="Zoë")
    await local.say("hi Zoë")
    await local.inbox.until(lambda: bool(local.inbox.raws))

    (message, _) = local.irc.messages(CHANNEL)
    assert (message.nick, message.text, message.id) == ("Zoe[b]", "hello", receipt.native_id)
    assert [type(event) for event in local.events()] == [MessagePosted]


async def test_two_authors_with_one_nick_get_different_nicks_and_no_echo_is_an_event(
    local: Local,
) -> None:
    connector = local.connector(puppets=True)
    await local.start(connector)

    await post(connector, local, "one", name="Zoë")
    await post(connector, local, "two", name="Zoe")
    await local.say("afterwards")
    await local.event(MessagePosted)

    assert [message.nick for message in local.irc.messages(CHANNEL)] == [
        "Zoe[b]",
        "Zoe2[b]",
        "alice",
    ]
    assert [type(event) for event in local.events()] == [MessagePosted]


async def test_the_oldest_connection_of_an_author_closes_at_the_limit(local: Local) -> None:
    connector = local.connector(puppets=True, max_puppets=2)
    await local.start(connector)

    for name in ("Ann", "Bob", "Cid"):
        await post(connector, local, "hello", name=name)

    await eventually(lambda: len(local.irc.clients) == 3)
    nicks = {client.nick for client in local.irc.clients}
    assert nicks == {"bridge", "Bob[b]", "Cid[b]"}


async def test_the_bot_posts_for_an_author_whose_connection_is_refused(local: Local) -> None:
    connector = local.connector(puppets=True)
    await local.start(connector)
    local.irc.banned = {"ann[b]"}

    sending = asyncio.create_task(post(connector, local, "hello"))
    await sending

    assert local.texts() == ["<Ann> hello"]
