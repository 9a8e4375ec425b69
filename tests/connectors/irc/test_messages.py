"""Messages of people, in channels and to the bot alone."""

from __future__ import annotations

import pytest

from bridge.errors import (
    NotFound,
)
from bridge.model import (
    ActorId,
    MemberJoined,
    MessagePosted,
)
from bridge.testing.abilities import required
from connectors.irc import ids
from tests.connectors.irc.conftest import CHANNEL, Local
from tests.connectors.irc.sending import delivery_of


async def test_a_direct_message_addresses_the_bot_and_can_be_answered(local: Local) -> None:
    connector = local.connector()
    await local.start(connector)
    local.irc.say("alice", "bridge", "psst")
    event = await local.event(MessagePosted)

    assert event.place.channel == ids.channel_ref("local", "alice")
    assert required(connector.abilities.direct_messages).is_direct(event.place.channel)
    assert event.addresses_us
    assert (
        await required(connector.abilities.direct_messages).open(ActorId("irc:local:~alice"))
        == event.place.channel
    )
    with pytest.raises(NotFound):
        await required(connector.abilities.direct_messages).open(ActorId("irc:local:~nobody"))


async def test_direct_messages_follow_an_account_and_not_a_nick(local: Local) -> None:
    local.irc.person("bob", account="robert")
    local.irc.join("bob", CHANNEL)
    connector = local.connector()
    await local.start(connector)
    local.irc.say("bob", "bridge", "psst")
    event = await local.event(MessagePosted)
    (call,) = connector.encode(delivery_of(connector, local, "between us")).calls
    call = call.model_copy(update={"channel": event.place.channel})
    assert event.place.channel == ids.channel_ref("local", "=robert")

    local.irc.rename("bob", "bobby")
    local.irc.say("bobby", CHANNEL, "I have another nick")
    await local.inbox.until(lambda: len(local.events()) >= 3)
    await connector.send(call)

    local.irc.quit("bobby")
    local.irc.join("bob", CHANNEL)
    await local.inbox.until(
        lambda: any(isinstance(found, MemberJoined) for found in local.events())
    )
    with pytest.raises(NotFound, match="robert"):
        await connector.send(call)


async def test_ctcp_requests_are_no_messages(local: Local) -> None:
    await local.start(local.connector())
    for _ in range(20):
        local.irc.say("alice", "bridge", "\x01VERSION\x01")
    await local.say("afterwards")
    await local.event(MessagePosted)

    assert [type(event) for event in local.events()].count(MessagePosted) == 1


async def test_a_line_that_is_no_utf_8_is_read_as_windows_1252(local: Local) -> None:
    await local.start(local.connector())
    (client,) = local.irc.clients

    client.write(b":alice!u@h PRIVMSG #general :caf\xe9\r\n")

    event = await local.event(MessagePosted)
    assert event.message.content[0].text == "café"
