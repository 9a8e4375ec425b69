"""Posts, and how the answer of the server settles them."""

from __future__ import annotations

import pytest

from bridge.errors import (
    FormRefused,
    NotFound,
    Refused,
)
from bridge.testing.abilities import required
from connectors.irc import ids
from connectors.irc.sandbox import PLAIN
from tests.connectors.irc.conftest import CHANNEL, Local, local_network
from tests.connectors.irc.sending import delivery_of, post


async def test_a_post_that_a_channel_refuses_for_its_colours_can_be_sent_plain(
    local: Local,
) -> None:
    connector = local.connector()
    await local.start(connector)
    local.irc.mode("alice", CHANNEL, "+c")

    (call,) = connector.encode(delivery_of(connector, local, "**bold**")).calls
    with pytest.raises(FormRefused):
        await connector.send(call)

    plain = required(connector.abilities.simpler_forms).in_words(call)
    assert plain is not None
    await connector.send(plain)
    assert local.texts()[-1] == "<Ann> bold"


async def test_a_post_to_a_moderated_channel_is_refused_and_one_to_an_unknown_nick_not_found(
    local: Local,
) -> None:
    connector = local.connector()
    await local.start(connector)
    local.irc.mode("alice", CHANNEL, "+m")

    with pytest.raises(Refused, match="404"):
        await post(connector, local, "hello")
    delivery = delivery_of(connector, local, "hello")
    (call,) = connector.encode(delivery).calls
    with pytest.raises(NotFound):
        await connector.send(
            call.model_copy(update={"channel": ids.channel_ref("local", "nobody")})
        )


async def test_a_pong_settles_a_post_on_a_plain_server() -> None:
    async with local_network(PLAIN) as local:
        local.irc.join("alice", CHANNEL)
        connector = local.connector()
        await local.start(connector)

        (receipt,) = await post(connector, local, "hello")

        assert ids.is_made(receipt.native_id)
        assert local.texts() == ["<Ann> hello"]
        assert (connector.capabilities.echo, connector.capabilities.history) == (False, False)


async def test_an_error_before_the_pong_refuses_a_post_on_a_plain_server() -> None:
    async with local_network(PLAIN) as local:
        local.irc.join("alice", CHANNEL)
        connector = local.connector()
        await local.start(connector)
        local.irc.mode("alice", CHANNEL, "+m")

        with pytest.raises(Refused, match="404"):
            await post(connector, local, "hello")


async def test_an_echo_settles_a_post_on_a_server_without_labels() -> None:
    offers = {"echo-message": "", "server-time": "", "message-tags": ""}
    async with local_network(offers) as local:
        local.irc.join("alice", CHANNEL)
        connector = local.connector()
        await local.start(connector)

        receipts = await post(connector, local, "one\ntwo")

        assert [receipt.native_id for receipt in receipts] == [
            message.id for message in local.irc.messages(CHANNEL)
        ]
