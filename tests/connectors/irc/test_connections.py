"""Connections: how they begin, break, and begin anew; what is heard on them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from bridge.errors import (
    AuthFailed,
    FormRefused,
    NoHistory,
    NotFound,
    Refused,
    Unavailable,
    Unsettled,
)
from bridge.model import (
    ActorId,
    ChannelClosed,
    Event,
    MemberJoined,
    MemberLeft,
    MessagePosted,
    Raw,
    ReactionAdded,
    TopicChanged,
)
from bridge.model.secret_refs import SecretRef
from bridge.testing.abilities import required
from connectors.irc import ids
from connectors.irc.bylines import GAP
from connectors.irc.connector import IrcConnector
from connectors.irc.sandbox import MODERN, PLAIN, Fault
from tests.connectors.irc.conftest import CHANNEL, GivenTokens, Local, local_network
from tests.connectors.irc.sending import delivery_of, post

SECRET = SecretRef(env="PASSWORD")


def events(local: Local) -> list[Event]:
    return [event for raw in local.inbox.raws for event in local.made[-1].decode(raw)]


def texts(local: Local) -> list[str]:
    return [text.replace(GAP, "") for text in local.irc.texts(CHANNEL)]


async def until(local: Local, kind: type[Event]) -> Any:
    await local.inbox.until(lambda: any(isinstance(event, kind) for event in events(local)))
    return next(event for event in events(local) if isinstance(event, kind))


async def eventually(holds: Any) -> None:
    async with asyncio.timeout(5):
        while not holds():  # noqa: ASYNC110 - the local server has no event for it
            await asyncio.sleep(0.005)


# --- beginning ------------------------------------------------------------------------------


async def test_the_bot_joins_its_channels_and_tells_that_it_may_have_missed_something(
    local: Local,
) -> None:
    connector = local.connector(channels=[CHANNEL, "#other"])
    await local.start(connector)

    assert local.irc.members("#other") == ["bridge"]
    assert required(connector.abilities.health).current().state == "connected"
    assert required(connector.abilities.people).own_name == "bridge"
    assert connector.capabilities.echo
    assert connector.capabilities.history
    assert connector.capabilities.text_limit == 4096


async def test_a_channel_of_a_room_is_joined_without_another_word(local: Local) -> None:
    connector = local.connector()
    await local.start(connector)

    ref = required(connector.abilities.channels).with_id("#Rooms", None)

    assert ref == ids.channel_ref("local", "#rooms")
    await eventually(lambda: local.irc.members("#Rooms") == ["bridge"])
    assert [one.name for one in await required(connector.abilities.channels).visible()] == [
        "general",
        "Rooms",
    ]
    assert required(connector.abilities.channels).with_id("general", None) is None
    assert required(connector.abilities.channels).with_id("#x", "elsewhere") is None


async def test_a_channel_with_a_key_is_joined_with_it(local: Local) -> None:
    local.irc.world.channel("#locked").key = "sesame"
    local.tokens = GivenTokens({"KEY": "sesame\n"})
    connector = local.connector(
        channels=["#locked"], channel_keys={"#locked": SecretRef(env="KEY")}
    )
    await local.start(connector)

    assert local.irc.members("#locked") == ["bridge"]


async def test_a_channel_that_does_not_let_us_in_is_told_in_the_health(local: Local) -> None:
    local.irc.world.channel(CHANNEL).key = "secret"
    connector = local.connector()
    await local.start(connector)

    assert "#general: it has a key" in required(connector.abilities.health).current().note
    with pytest.raises(Refused, match="key"):
        await post(connector, local, "hello?")


async def test_a_login_that_is_refused_joins_nothing() -> None:
    async with local_network() as local:
        local.irc.world.accounts["acc"] = "right"
        local.tokens = GivenTokens({"PASSWORD": "wrong"})
        connector = local.connector(sasl="plain", account="acc", password=SECRET)

        with pytest.raises(AuthFailed, match="SASL"):
            await connector.run(local.inbox)

        assert local.irc.members(CHANNEL) == []


async def test_a_login_by_account_and_password_is_taken() -> None:
    async with local_network() as local:
        local.irc.world.accounts["acc"] = "right"
        local.tokens = GivenTokens({"PASSWORD": "right"})
        await local.start(local.connector(sasl="plain", account="acc", password=SECRET))

        assert local.irc.clients[0].account == "acc"


async def test_without_sasl_the_services_identify_the_bot_before_it_joins() -> None:
    async with local_network({**MODERN, "sasl": ""}) as local:
        local.irc.world.accounts["bridge"] = "right"
        local.tokens = GivenTokens({"PASSWORD": "right"})
        await local.start(local.connector(password=SECRET))

        assert local.irc.services == ["IDENTIFY bridge right"]
        assert local.irc.members(CHANNEL) == ["bridge"]


async def test_services_that_refuse_the_password_let_nothing_be_joined() -> None:
    async with local_network(PLAIN) as local:
        local.tokens = GivenTokens({"PASSWORD": "wrong"})

        with pytest.raises(AuthFailed, match="NickServ"):
            await local.connector(password=SECRET).run(local.inbox)

        assert local.irc.members(CHANNEL) == []


async def test_a_nick_in_use_is_replaced_and_taken_back_when_it_is_free(local: Local) -> None:
    local.irc.join("bridge", CHANNEL)
    connector = local.connector()
    await local.start(connector)
    assert required(connector.abilities.people).own_name == "bridge_"

    local.irc.quit("bridge")

    await eventually(lambda: required(connector.abilities.people).own_name == "bridge")


async def test_one_refused_capability_takes_no_other_with_it() -> None:
    async with local_network() as local:
        local.irc.naks = {"draft/multiline"}
        connector = local.connector()
        await local.start(connector)

        assert connector.capabilities.echo
        assert connector.capabilities.text_limit < 512


# --- sending --------------------------------------------------------------------------------


async def test_a_channel_without_colours_says_so_of_the_form(local: Local) -> None:
    connector = local.connector()
    await local.start(connector)
    local.irc.mode("alice", CHANNEL, "+c")

    (call,) = connector.encode(delivery_of(connector, local, "**bold**")).calls
    with pytest.raises(FormRefused):
        await connector.send(call)

    plain = required(connector.abilities.simpler_forms).in_words(call)
    assert plain is not None
    await connector.send(plain)
    assert texts(local)[-1] == "<Ann> bold"


async def test_a_moderated_channel_refuses_and_a_missing_person_is_not_found(local: Local) -> None:
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


async def test_without_a_connection_nothing_is_sent_and_nothing_is_in_doubt(local: Local) -> None:
    connector = local.connector()
    with pytest.raises(Unavailable):
        await post(connector, local, "hello")


async def test_direct_messages_go_both_ways(local: Local) -> None:
    connector = local.connector()
    await local.start(connector)
    local.irc.say("alice", "bridge", "psst")
    event = await until(local, MessagePosted)

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
    event = await until(local, MessagePosted)
    (call,) = connector.encode(delivery_of(connector, local, "between us")).calls
    call = call.model_copy(update={"channel": event.place.channel})
    assert event.place.channel == ids.channel_ref("local", "=robert")

    local.irc.rename("bob", "bobby")
    local.irc.say("bobby", CHANNEL, "I have another nick")
    await local.inbox.until(lambda: len(events(local)) >= 3)
    await connector.send(call)

    local.irc.quit("bobby")
    local.irc.join("bob", CHANNEL)
    await local.inbox.until(lambda: any(isinstance(one, MemberJoined) for one in events(local)))
    with pytest.raises(NotFound, match="robert"):
        await connector.send(call)


# --- a plain server -------------------------------------------------------------------------


async def test_on_a_plain_server_a_fence_settles_a_post() -> None:
    async with local_network(PLAIN) as local:
        local.irc.join("alice", CHANNEL)
        connector = local.connector()
        await local.start(connector)

        (receipt,) = await post(connector, local, "hello")

        assert ids.is_made(receipt.native_id)
        assert texts(local) == ["<Ann> hello"]
        assert (connector.capabilities.echo, connector.capabilities.history) == (False, False)


async def test_on_a_plain_server_a_refusal_comes_before_the_fence() -> None:
    async with local_network(PLAIN) as local:
        local.irc.join("alice", CHANNEL)
        connector = local.connector()
        await local.start(connector)
        local.irc.mode("alice", CHANNEL, "+m")

        with pytest.raises(Refused, match="404"):
            await post(connector, local, "hello")


async def test_on_a_plain_server_nothing_can_be_read_back() -> None:
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


async def test_a_server_with_echoes_and_without_labels_settles_by_the_echo() -> None:
    offers = {"echo-message": "", "server-time": "", "message-tags": ""}
    async with local_network(offers) as local:
        local.irc.join("alice", CHANNEL)
        connector = local.connector()
        await local.start(connector)

        receipts = await post(connector, local, "one\ntwo")

        assert [receipt.native_id for receipt in receipts] == [
            said.id for said in local.irc.messages(CHANNEL)
        ]


# --- breaking -------------------------------------------------------------------------------


async def test_a_broken_connection_is_made_anew(local: Local) -> None:
    await local.start(local.connector())

    local.irc.disconnect()
    await local.again()

    assert "bridge" in local.irc.members(CHANNEL)


async def test_what_was_written_and_not_answered_is_in_doubt_when_the_connection_breaks(
    local: Local,
) -> None:
    connector = local.connector()
    await local.start(connector)
    local.irc.fault(Fault("silent"))
    sending = asyncio.create_task(post(connector, local, "hello"))
    await eventually(lambda: not local.irc.world.faults)

    local.irc.disconnect()

    with pytest.raises(Unsettled):
        await sending


async def test_what_was_said_meanwhile_is_read_back_once_and_in_order(local: Local) -> None:
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

    assert [one.message.content[0].text for one in _posts(connector, raws)] == [  # type: ignore[union-attr]
        f"number {number}" for number in range(250)
    ]
    newest = await required(connector.abilities.history).newest(local.channel)
    assert newest == raws[-1].order_key  # type: ignore[union-attr]


def _posts(connector: IrcConnector, raws: Sequence[object]) -> list[MessagePosted]:
    found = [event for raw in raws if isinstance(raw, Raw) for event in connector.decode(raw)]
    return [event for event in found if isinstance(event, MessagePosted)]


async def test_one_message_can_be_asked_for(local: Local) -> None:
    connector = local.connector()
    await local.start(connector)
    said = await local.say("one of many")
    await local.say("another")
    await local.inbox.until(lambda: len(local.inbox.raws) == 2)

    found = await required(connector.abilities.lookup).fetch(local.channel, said, None)

    assert found is not None
    assert found.dedupe_key == local.inbox.raws[0].dedupe_key
    assert connector.decode(found)[0] == connector.decode(local.inbox.raws[0])[0]
    assert await required(connector.abilities.lookup).fetch(local.channel, "m999", None) is None


async def test_without_msgids_what_is_read_back_has_the_ids_of_live_events() -> None:
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
        assert [one.dedupe_key for one in raws] == [one.dedupe_key for one in live]  # type: ignore[union-attr]
        (event,) = connector.decode(live[2])
        assert isinstance(event, MessagePosted)
        assert (
            await required(connector.abilities.lookup).fetch(local.channel, event.native_id, None)
            is not None
        )


async def test_what_we_said_ourselves_is_not_read_back(local: Local) -> None:
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

    assert [one.author.name for one in _posts(connector, raws)] == ["alice"]


# --- hearing --------------------------------------------------------------------------------


async def test_who_comes_and_goes_is_told(local: Local) -> None:
    await local.start(local.connector())

    local.irc.person("bob", account="robert")
    local.irc.join("bob", CHANNEL)
    assert (await until(local, MemberJoined)).person.name == "bob"
    local.irc.topic("alice", CHANNEL, "news")
    assert (await until(local, TopicChanged)).topic == "news"
    local.irc.kick("alice", CHANNEL, "bob")
    assert (await until(local, MemberLeft)).actor == "irc:local:robert"


async def test_a_netsplit_of_many_is_told_once_and_so_is_their_return(local: Local) -> None:
    await local.start(local.connector())
    nicks = [f"person{n}" for n in range(60)]
    for nick in nicks:
        local.irc.join(nick, CHANNEL)
    await local.inbox.until(
        lambda: sum(isinstance(event, MemberJoined) for event in events(local)) == 60
    )

    local.irc.netsplit(nicks)
    left = await until(local, MemberLeft)
    for nick in nicks:
        local.irc.join(nick, CHANNEL)
    await local.inbox.until(
        lambda: sum(isinstance(event, MemberJoined) for event in events(local)) == 61
    )

    assert left.actor == "irc:local:*netsplit 60 hub.local leaf.local"
    assert sum(isinstance(event, MemberLeft) for event in events(local)) == 1


async def test_a_person_cannot_feign_a_netsplit(local: Local) -> None:
    await local.start(local.connector())
    local.irc.join("bob", CHANNEL)

    local.irc.quit("bob", "Quit: hub.local leaf.local")

    assert (await until(local, MemberLeft)).actor == "irc:local:~bob"


async def test_when_the_bot_is_kicked_that_is_told(local: Local) -> None:
    await local.start(local.connector())

    local.irc.kick("alice", CHANNEL, "bridge", "out")

    assert (await until(local, ChannelClosed)).reason == "alice kicked our bot: out"


async def test_a_reaction_is_heard_and_one_of_ours_is_put(local: Local) -> None:
    connector = local.connector()
    await local.start(connector)
    said = await local.say("hello")
    local.irc.react("alice", CHANNEL, said, "👍")

    event = await until(local, ReactionAdded)

    assert (event.target, event.emoji) == (said, "👍")
    assert required(connector.abilities.reactions).takes_reaction("👍")
    assert not required(connector.abilities.reactions).takes_reaction(":party:")


async def test_a_flood_of_ctcp_is_answered_once(local: Local) -> None:
    await local.start(local.connector())
    for _ in range(20):
        local.irc.say("alice", "bridge", "\x01VERSION\x01")
    await local.say("afterwards")
    await until(local, MessagePosted)

    assert [type(event) for event in events(local)].count(MessagePosted) == 1


async def test_an_invalid_byte_is_readable_text(local: Local) -> None:
    await local.start(local.connector())
    (client,) = local.irc.clients

    client.write(b":alice!u@h PRIVMSG #general :caf\xe9\r\n")

    event = await until(local, MessagePosted)
    assert event.message.content[0].text == "café"


# --- puppets --------------------------------------------------------------------------------


async def test_authors_speak_through_connections_of_their_own(local: Local) -> None:
    connector = local.connector(puppets=True, max_puppets=2)
    await local.start(connector)

    (receipt,) = await post(connector, local, "hello", name="Zoë")
    await local.say("hi Zoë")
    await local.inbox.until(lambda: bool(local.inbox.raws))

    (said, _) = local.irc.messages(CHANNEL)
    assert (said.nick, said.text, said.id) == ("Zoe[b]", "hello", receipt.native_id)
    assert [type(event) for event in events(local)] == [MessagePosted]


async def test_two_authors_whose_nicks_would_be_one_are_both_known_for_ours(local: Local) -> None:
    connector = local.connector(puppets=True)
    await local.start(connector)

    await post(connector, local, "one", name="Zoë")
    await post(connector, local, "two", name="Zoe")
    await local.say("afterwards")
    await until(local, MessagePosted)

    assert [said.nick for said in local.irc.messages(CHANNEL)] == ["Zoe[b]", "Zoe2[b]", "alice"]
    assert [type(event) for event in events(local)] == [MessagePosted]


async def test_there_are_no_more_connections_than_are_allowed(local: Local) -> None:
    connector = local.connector(puppets=True, max_puppets=2)
    await local.start(connector)

    for name in ("Ann", "Bob", "Cid"):
        await post(connector, local, "hello", name=name)

    await eventually(lambda: len(local.irc.clients) == 3)
    nicks = {client.nick for client in local.irc.clients}
    assert nicks == {"bridge", "Bob[b]", "Cid[b]"}


async def test_where_an_author_is_not_let_in_the_bot_speaks(local: Local) -> None:
    connector = local.connector(puppets=True)
    await local.start(connector)
    local.irc.banned = {"ann[b]"}

    sending = asyncio.create_task(post(connector, local, "hello"))
    await sending

    assert texts(local) == ["<Ann> hello"]
