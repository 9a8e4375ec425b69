"""Members who come and go, topics, kicks, netsplits and reactions."""

from __future__ import annotations

from bridge.model import (
    ChannelClosed,
    MemberJoined,
    MemberLeft,
    ReactionAdded,
    TopicChanged,
)
from bridge.testing.abilities import required
from tests.connectors.irc.conftest import CHANNEL, Local


async def test_joins_topics_and_kicks_are_events(local: Local) -> None:
    await local.start(local.connector())

    local.irc.person("bob", account="robert")
    local.irc.join("bob", CHANNEL)
    assert (await local.event(MemberJoined)).person.name == "bob"
    local.irc.topic("alice", CHANNEL, "news")
    assert (await local.event(TopicChanged)).topic == "news"
    local.irc.kick("alice", CHANNEL, "bob")
    assert (await local.event(MemberLeft)).actor == "irc:local:robert"


async def test_a_netsplit_is_one_event_and_so_is_the_return(local: Local) -> None:
    await local.start(local.connector())
    nicks = [f"person{n}" for n in range(60)]
    for nick in nicks:
        local.irc.join(nick, CHANNEL)
    await local.inbox.until(
        lambda: sum(isinstance(event, MemberJoined) for event in local.events()) == 60
    )

    local.irc.netsplit(nicks)
    left = await local.event(MemberLeft)
    for nick in nicks:
        local.irc.join(nick, CHANNEL)
    await local.inbox.until(
        lambda: sum(isinstance(event, MemberJoined) for event in local.events()) == 61
    )

    assert left.actor == "irc:local:*netsplit 60 hub.local leaf.local"
    assert sum(isinstance(event, MemberLeft) for event in local.events()) == 1


async def test_a_person_cannot_feign_a_netsplit(local: Local) -> None:
    await local.start(local.connector())
    local.irc.join("bob", CHANNEL)

    local.irc.quit("bob", "Quit: hub.local leaf.local")

    assert (await local.event(MemberLeft)).actor == "irc:local:~bob"


async def test_a_kick_of_the_bot_closes_the_channel(local: Local) -> None:
    await local.start(local.connector())

    local.irc.kick("alice", CHANNEL, "bridge", "out")

    assert (await local.event(ChannelClosed)).reason == "alice kicked our bot: out"


async def test_a_reaction_is_an_event_and_the_connector_accepts_unicode_reactions_alone(
    local: Local,
) -> None:
    connector = local.connector()
    await local.start(connector)
    message = await local.say("hello")
    local.irc.react("alice", CHANNEL, message, "👍")

    event = await local.event(ReactionAdded)

    assert (event.target, event.emoji) == (message, "👍")
    assert required(connector.abilities.reactions).takes_reaction("👍")
    assert not required(connector.abilities.reactions).takes_reaction(":party:")
