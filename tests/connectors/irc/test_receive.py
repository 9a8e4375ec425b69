"""How the bot connects, logs in and joins, and connects again."""

from __future__ import annotations

import asyncio

import pytest

from bridge.errors import (
    AuthFailed,
    Refused,
    Unavailable,
    Unsettled,
)
from bridge.model.secret_refs import SecretRef
from bridge.testing.abilities import required
from connectors.irc import ids
from connectors.irc.sandbox import MODERN, PLAIN, Fault
from tests.connectors.irc.conftest import CHANNEL, GivenTokens, Local, eventually, local_network
from tests.connectors.irc.sending import post

PASSWORD_REF = SecretRef(env="PASSWORD")


async def test_the_bot_joins_its_channels_before_the_session_begins(
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


async def test_a_channel_of_a_room_is_joined_at_once(local: Local) -> None:
    connector = local.connector()
    await local.start(connector)

    ref = required(connector.abilities.channels).with_id("#Rooms", None)

    assert ref == ids.channel_ref("local", "#rooms")
    await eventually(lambda: local.irc.members("#Rooms") == ["bridge"])
    assert [found.name for found in await required(connector.abilities.channels).visible()] == [
        "general",
        "Rooms",
    ]
    assert required(connector.abilities.channels).with_id("general", None) is None
    assert required(connector.abilities.channels).with_id("#x", "elsewhere") is None


async def test_a_channel_with_a_key_is_joined_with_its_key(local: Local) -> None:
    local.irc.world.channel("#locked").key = "sesame"
    local.tokens = GivenTokens({"KEY": "sesame\n"})
    connector = local.connector(
        channels=["#locked"], channel_keys={"#locked": SecretRef(env="KEY")}
    )
    await local.start(connector)

    assert local.irc.members("#locked") == ["bridge"]


async def test_the_health_names_a_channel_that_the_bot_cannot_join(local: Local) -> None:
    local.irc.world.channel(CHANNEL).key = "secret"
    connector = local.connector()
    await local.start(connector)

    assert "#general: it has a key" in required(connector.abilities.health).current().note
    with pytest.raises(Refused, match="key"):
        await post(connector, local, "hello?")


async def test_after_a_refused_sasl_login_the_bot_joins_no_channel() -> None:
    async with local_network() as local:
        local.irc.world.accounts["acc"] = "right"
        local.tokens = GivenTokens({"PASSWORD": "wrong"})
        connector = local.connector(sasl="plain", account="acc", password=PASSWORD_REF)

        with pytest.raises(AuthFailed, match="SASL"):
            await connector.run(local.inbox)

        assert local.irc.members(CHANNEL) == []


async def test_sasl_logs_in_by_account_and_password() -> None:
    async with local_network() as local:
        local.irc.world.accounts["acc"] = "right"
        local.tokens = GivenTokens({"PASSWORD": "right"})
        await local.start(local.connector(sasl="plain", account="acc", password=PASSWORD_REF))

        assert local.irc.clients[0].account == "acc"


async def test_without_sasl_the_services_identify_the_bot_before_it_joins() -> None:
    async with local_network({**MODERN, "sasl": ""}) as local:
        local.irc.world.accounts["bridge"] = "right"
        local.tokens = GivenTokens({"PASSWORD": "right"})
        await local.start(local.connector(password=PASSWORD_REF))

        assert local.irc.services == ["IDENTIFY bridge right"]
        assert local.irc.members(CHANNEL) == ["bridge"]


async def test_after_a_refused_password_of_the_services_the_bot_joins_no_channel() -> None:
    async with local_network(PLAIN) as local:
        local.tokens = GivenTokens({"PASSWORD": "wrong"})

        with pytest.raises(AuthFailed, match="NickServ"):
            await local.connector(password=PASSWORD_REF).run(local.inbox)

        assert local.irc.members(CHANNEL) == []


async def test_the_bot_takes_another_nick_and_reclaims_its_own_when_that_is_free(
    local: Local,
) -> None:
    local.irc.join("bridge", CHANNEL)
    connector = local.connector()
    await local.start(connector)
    assert required(connector.abilities.people).own_name == "bridge_"

    local.irc.quit("bridge")

    await eventually(lambda: required(connector.abilities.people).own_name == "bridge")


async def test_a_refused_capability_disables_no_other() -> None:
    async with local_network() as local:
        local.irc.naks = {"draft/multiline"}
        connector = local.connector()
        await local.start(connector)

        assert connector.capabilities.echo
        assert connector.capabilities.text_limit < 512


async def test_the_bot_connects_again_when_the_connection_breaks(local: Local) -> None:
    await local.start(local.connector())

    local.irc.disconnect()
    await local.again()

    assert "bridge" in local.irc.members(CHANNEL)


async def test_a_post_without_a_connection_is_unavailable(local: Local) -> None:
    connector = local.connector()
    with pytest.raises(Unavailable):
        await post(connector, local, "hello")


async def test_a_post_without_an_answer_is_unsettled_when_the_connection_breaks(
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
