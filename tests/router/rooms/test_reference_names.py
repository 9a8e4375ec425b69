"""Whom and what a message mentions has a name wherever it is shown: texts, cards, notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from bridge.content.cards.json import SCHEMA_ID, card_to_json
from bridge.content.cards.reader import NO_CARDS
from bridge.content.cards.tree import Card, Prose
from bridge.content.messages.metadata import read_bridge_metadata
from bridge.content.text.tree import ChannelLink, GroupMention, Mention, Paragraph, Text
from bridge.model import AccountId, ActorId, ChannelRef, Person, TopicChanged
from bridge.ports.abilities import Abilities
from bridge.ports.abilities.channels import ChannelInfo
from bridge.router.rooms.options import RoomOptions
from bridge.router.rooms.people import People
from bridge.router.rooms.reference_names import ReferenceNames
from bridge.router.rooms.rooms import Member, Room, Rooms
from bridge.store import SqliteStore
from bridge.uacs import Actor, Message, StructuredDataPart, TextPart
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector
from tests.router.inbound.test_reactions import noting

SALES = AccountId("sales")
ANN = Mention(ActorId("fake:sales:U1"), "U1")
QUIET = ChannelLink("fake:sales:C9", "C9")
OPS = GroupMention("fake:sales:G7", "G7")


class Directory(FakeConnector):
    """A platform that knows names, and counts who asks for them."""

    def __init__(self, account: str, clock: FakeClock) -> None:
        super().__init__(account, clock)
        self.lookups: list[str] = []

    def own_abilities(self) -> Abilities:
        return replace(super().own_abilities(), channels=self, group_names=self)

    async def visible(self) -> Sequence[ChannelInfo]:
        return ()

    def with_id(self, channel: str, workspace: str | None) -> ChannelRef | None:
        return None

    async def person(self, actor: ActorId) -> Person | None:
        self.lookups.append(actor)
        return Person(id=actor, name="Ann") if actor.endswith("U1") else None

    async def name(self, channel: ChannelRef) -> str | None:
        self.lookups.append(channel.channel)
        return "quiet" if channel.channel == "C9" else None

    async def by_id(self, workspaces: object) -> dict[str, str]:
        self.lookups.append("groups")
        return {"G7": "ops"}


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def sales(clock: FakeClock) -> Directory:
    return Directory("sales", clock)


@pytest.fixture
def names(sales: Directory, clock: FakeClock, rig: RouterRig) -> ReferenceNames:
    rooms = Rooms(
        [Room(rig.rooms[0].id, rig.rooms[0].conversation,
              (Member(SALES, sales.channel("s"), name="general"),))]
    )  # fmt: skip
    connectors: dict[AccountId, Any] = {SALES: sales}
    people = People(SqliteStore.in_memory(clock), connectors, clock)
    return ReferenceNames(people, connectors, rooms, NO_CARDS, clock)


@pytest.fixture
def rig(clock: FakeClock, sales: Directory) -> RouterRig:
    billing = FakeConnector("billing", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"))
    return rig


def message(*parts: Any, **more: Any) -> Message:
    return Message(
        message_id="fake:sales:s:1", timestamp="2026-01-01T00:00:00Z",
        actor=Actor(id="fake:sales:bob", role="human", name="Bob"), content=parts, **more,
    )  # fmt: skip


def card(*inlines: Any) -> StructuredDataPart:
    data: Any = card_to_json(Card((Prose((Paragraph(inlines),)),)))
    return StructuredDataPart(schema_id=SCHEMA_ID, data=data)


async def test_people_channels_and_groups_in_a_text_have_names(
    names: ReferenceNames, sales: Directory
) -> None:
    said = message(
        TextPart(text="[@U1](uacs:actor/fake:sales:U1) see [#C9](uacs:channel/fake:sales:C9), "
                      "[@G7](uacs:group/fake:sales:G7), [#s](uacs:channel/fake:sales:s), "
                      "[#its own](uacs:channel/fake:sales:C8), `[@U1](uacs:actor/x)`"),
    )  # fmt: skip

    for _ in range(2):
        named = await names.named(SALES, said)
        assert named.content[0].text == (  # pyright: ignore[reportAttributeAccessIssue]
            "[@Ann](uacs:actor/fake:sales:U1) see [#quiet](uacs:channel/fake:sales:C9), "
            "[@ops](uacs:group/fake:sales:G7), [#general](uacs:channel/fake:sales:s), "
            "[#its own](uacs:channel/fake:sales:C8), `[@U1](uacs:actor/x)`"
        )
    assert sorted(sales.lookups) == ["C8", "C9", "fake:sales:U1", "groups"]


async def test_a_topic_names_whom_and_what_it_mentions_and_notifies_nobody(rig: RouterRig) -> None:
    sales, billing = rig.connectors.values()
    rig.rooms = [replace(rig.rooms[0], options=RoomOptions(announce=frozenset({"topics"})))]
    topic = (
        "On call: [@U1](uacs:actor/fake:sales:U1) see [#C9](uacs:channel/fake:sales:C9) "
        "[@G7](uacs:group/fake:sales:G7)"
    )
    async with rig.run():
        await sales.happen(TopicChanged, "s", topic=topic)
        await sales.happen(TopicChanged, "s", topic="On call: @U1 see #C9 @G7")  # as once noted
        await rig.clock.let_work()

    assert billing.texts("b") == ["The topic is now: **On call: @Ann see #quiet @ops**"]


async def test_the_names_that_a_payload_mentions_are_stored_and_read_with_it(
    names: ReferenceNames,
) -> None:
    said = message(card(Text("for "), ANN, Text(" in "), QUIET, Text(" or "), OPS))

    named = await names.named(SALES, said)

    assert named.content == said.content
    assert read_bridge_metadata(named)[0].names == {
        "fake:sales:U1": "Ann", "fake:sales:C9": "quiet", "fake:sales:G7": "ops",
    }  # fmt: skip
    read, _ = NO_CARDS.read(named)
    assert read.nodes[0].text[0].children[1::2] == (  # pyright: ignore
        Mention(ANN.actor, "Ann"),
        ChannelLink(QUIET.channel, "quiet"),
        GroupMention(OPS.group, "ops"),
    )


async def test_an_id_of_an_agents_payload_is_looked_up_in_the_only_workspace_there_is(
    names: ReferenceNames,
) -> None:
    named = await names.named(None, message(card(Mention(ActorId("fake::U1"), "U1"))))

    assert read_bridge_metadata(named)[0].names == {"fake::U1": "Ann"}


async def test_what_nobody_knows_keeps_its_id_and_is_asked_for_once_a_minute(
    names: ReferenceNames, sales: Directory, clock: FakeClock
) -> None:
    said = message(TextPart(text="[#C1](uacs:channel/fake:sales:C1)"))

    for _ in range(3):
        assert await names.named(SALES, said) == said
    assert sales.lookups == ["C1"]
    await clock.advance(61)
    await names.named(SALES, said)
    assert sales.lookups == ["C1", "C1"]


async def test_what_is_posted_edited_and_answered_shows_names(rig: RouterRig) -> None:
    sales = rig.connectors[SALES]
    async with rig.run():
        first = await sales.say("s", "[@U1](uacs:actor/fake:sales:U1)!")
        await rig.clock.let_work()
        await sales.edit("s", first, "[#C9](uacs:channel/fake:sales:C9)?")
        await rig.clock.let_work()

    posted = [text for _, _, text in rig.connectors[AccountId("billing")].sent]
    assert posted == [
        "[@Ann](uacs:actor/fake:sales:U1)!",
        "[#quiet](uacs:channel/fake:sales:C9)?",
    ]


async def test_a_note_names_who_reacts_though_they_were_only_mentioned_before(
    rig: RouterRig,
) -> None:
    """A mention made them known to the process, and never to the store."""
    sales, billing = rig.connectors[SALES], rig.connectors[AccountId("billing")]
    noting(rig, "b")
    async with rig.run():
        first = await sales.say("s", "[@U1](uacs:actor/fake:sales:U1), look", author="bob")
        await rig.clock.let_work()
        await sales.react("s", first, "👍", author="U1")
        await rig.clock.let_work()

    assert billing.texts("b")[-1] == "👍 Ann"
    assert await rig.store.person(ANN.actor) is not None
