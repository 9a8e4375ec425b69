"""CHATHISTORY: messages read back."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from bridge.errors import (
    NoHistory,
)
from bridge.model import (
    MessagePosted,
    Raw,
)
from bridge.testing.abilities import required
from connectors.irc.connector import IrcConnector
from connectors.irc.sandbox import MODERN, PLAIN
from tests.connectors.irc.conftest import CHANNEL, Local, local_network
from tests.connectors.irc.sending import delivery_of, post


async def test_a_plain_server_has_no_history() -> None:
    async with local_network(PLAIN) as local:
        connector = local.connector()
        await local.start(connector)
        (call,) = connector.encode(delivery_of(connector, local, "x")).calls

        with pytest.raises(NoHistory):
            await required(connector.abilities.history).newest(local.channel)
        with pytest.raises(NoHistory):
            await required(connector.abilities.deliveries).find(call, None)
        with pytest.raises(NoHistory):
            _ = [
                raw
                async for raw in required(connector.abilities.history).read_after(
                    local.channel, "", []
                )
            ]


async def test_messages_of_a_disconnection_are_read_back_once_and_in_order(local: Local) -> None:
    connector = local.connector()
    await local.start(connector)
    await local.say("before")
    await local.inbox.until(lambda: len(local.inbox.raws) == 1)
    cursor = local.inbox.raws[0].order_key
    local.irc.disconnect()
    for number in range(250):  # three pages
        await local.say(f"number {number}")
    await local.again()

    raws = [
        raw
        async for raw in required(connector.abilities.history).read_after(local.channel, cursor, [])
    ]

    assert [found.message.content[0].text for found in _posts(connector, raws)] == [  # type: ignore[union-attr]
        f"number {number}" for number in range(250)
    ]
    newest = await required(connector.abilities.history).newest(local.channel)
    assert newest == raws[-1].order_key  # type: ignore[union-attr]


def _posts(connector: IrcConnector, raws: Sequence[object]) -> list[MessagePosted]:
    found = [event for raw in raws if isinstance(raw, Raw) for event in connector.decode(raw)]
    return [event for event in found if isinstance(event, MessagePosted)]


async def test_a_single_message_can_be_fetched(local: Local) -> None:
    connector = local.connector()
    await local.start(connector)
    message = await local.say("one of many")
    await local.say("another")
    await local.inbox.until(lambda: len(local.inbox.raws) == 2)

    found = await required(connector.abilities.lookup).fetch(local.channel, message, None)

    assert found is not None
    assert found.dedupe_key == local.inbox.raws[0].dedupe_key
    assert connector.decode(found)[0] == connector.decode(local.inbox.raws[0])[0]
    assert await required(connector.abilities.lookup).fetch(local.channel, "m999", None) is None


async def test_messages_without_msgids_have_the_same_ids_live_and_read_back() -> None:
    offers = {name: MODERN[name] for name in ("batch", "server-time", "draft/chathistory")}
    async with local_network(offers) as local:
        local.irc.join("alice", CHANNEL)
        connector = local.connector()
        await local.start(connector)
        cursor = await required(connector.abilities.history).newest(local.channel)
        for text in ("same", "same", "other"):
            await local.say(text)
        await local.inbox.until(lambda: len(local.inbox.raws) == 3)

        raws = [
            raw
            async for raw in required(connector.abilities.history).read_after(
                local.channel, cursor, []
            )
        ]

        live = local.inbox.raws
        assert [found.dedupe_key for found in raws] == [found.dedupe_key for found in live]  # type: ignore[union-attr]
        (event,) = connector.decode(live[2])
        assert isinstance(event, MessagePosted)
        assert (
            await required(connector.abilities.lookup).fetch(local.channel, event.native_id, None)
            is not None
        )


async def test_our_own_messages_are_not_read_back(local: Local) -> None:
    connector = local.connector()
    await local.start(connector)
    newest = await required(connector.abilities.history).newest(local.channel)
    await post(connector, local, "ours")
    local.irc.say("bridge_", CHANNEL, "ours, when the nick was in use")
    await local.say("theirs")

    raws = [
        raw
        async for raw in required(connector.abilities.history).read_after(local.channel, newest, [])
    ]

    assert [found.author.name for found in _posts(connector, raws)] == ["alice"]
