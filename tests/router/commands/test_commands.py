"""Commands in a channel: read as a whole, answered there alone, and only for those who may."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from bridge.model import (
    ActorId,
    CommandGiven,
    Delivery,
    Encoded,
    Level,
    PostMessage,
    RoomId,
    actor_id_of,
)
from bridge.router.commands.channels import Invited
from bridge.router.rooms.rooms import Member
from bridge.router.router import Router
from tests.router.conftest import RouterRig
from tests.router.fake_connector import FakeConnector
from tests.router.inbound.test_changes import trio

__all__ = ["trio"]  # a fixture
Trio = tuple[RouterRig, FakeConnector, FakeConnector]
US = "[@bridge](uacs:actor/fake:sales:us)"
BOB = "[@Bob](uacs:actor/fake:sales:bob)"


@asynccontextmanager
async def ruled(rig: RouterRig, *admins: str) -> AsyncGenerator[Router]:
    async with rig.run() as router:
        router.reconfigure.change_admins(admins)
        yield router


async def give(rig: RouterRig, fake: FakeConnector, text: str, author: str = "ann") -> str:
    """The answer; empty where there was none."""
    channel = "s" if fake.account == "sales" else "b"
    before = len(fake.channels[channel]) + 1
    await fake.say(channel, f"{US} {text}", author=author, addresses_us=True)
    await rig.clock.let_work()
    return "".join(fake.texts(channel)[before:])


async def test_everybody_may_ask_and_is_answered_in_that_channel_alone(trio: Trio) -> None:
    rig, sales, billing = trio
    async with ruled(rig):
        assert "bridged to" in await give(rig, sales, "status")
        notices = await give(rig, sales, "help")
        assert "optout" in notices
        assert "pause" not in notices

    assert billing.texts("b") == billing.texts("c") == []
    assert await rig.store.conversations() == []


async def test_help_lists_the_commands_of_everybody_before_those_of_admins(trio: Trio) -> None:
    rig, sales, _ = trio
    async with ruled(rig, "fake:sales:ann"):
        of_admin = names_in(await give(rig, sales, "help"))
        of_others = names_in(await give(rig, sales, "help", author="eve"))

    assert of_others == [
        "help", "status", "optout", "optin", "me", "take-over", "give-back", "hand-over", "why",
        "retry", "dm",
    ]  # fmt: skip
    assert of_admin == [
        *of_others, "pause", "resume", "ban", "unban", "banned", "link", "unlink", "invite",
        "uninvite",
    ]  # fmt: skip


def names_in(help_text: str) -> list[str]:
    return [line.split()[0].replace("\\", "") for line in help_text.splitlines()]


async def test_only_admins_pause_and_resume_a_room(trio: Trio) -> None:
    rig, sales, billing = trio
    async with ruled(rig, "fake:sales:ann") as router:
        assert "Only admins" in await give(rig, sales, "pause", author="eve")
        assert not router.parts.rooms.bans.paused(RoomId("all"))
        assert "paused" in await give(rig, sales, "pause")
        await sales.say("s", "unheard")
        await rig.clock.let_work()
        assert "goes on" in await give(rig, sales, "Resume")
        await sales.say("s", "heard")
        await rig.clock.let_work()

    assert billing.texts("b") == ["heard"]


async def test_a_person_is_banned_and_unbanned_by_mention(trio: Trio) -> None:
    rig, sales, billing = trio
    async with ruled(rig, "fake:*") as router:
        assert "banned" in await give(rig, sales, f"ban {BOB}")
        assert [one.actor for one in router.parts.rooms.bans.bans()] == [ActorId("fake:sales:bob")]
        await sales.say("s", "no", author="bob")
        assert "bob" in await give(rig, sales, "banned")
        await give(rig, sales, f"unban {BOB}")
        await sales.say("s", "yes", author="bob")
        await rig.clock.let_work()

    assert billing.texts("b") == ["yes"]


async def test_a_command_works_by_its_former_name_and_names_the_new_one(trio: Trio) -> None:
    rig, sales, _ = trio
    async with ruled(rig, "fake:*") as router:
        banned = await give(rig, sales, f"block {BOB}")
        listed = await give(rig, sales, "blocked")
        unbanned = await give(rig, sales, f"unblock {BOB}")

        assert router.parts.rooms.bans.bans() == []
    assert ('"block" is now called "ban".' in banned, "is banned from" in banned) == (True, True)
    assert '"blocked" is now called "banned".' in listed
    assert '"unblock" is now called "unban".' in unbanned


async def test_a_person_is_banned_by_a_displayed_name_and_nobody_by_an_unknown_one(
    trio: Trio,
) -> None:
    """Whose copies are seen here cannot be mentioned here."""
    rig, sales, billing = trio
    async with ruled(rig, "fake:*") as router:
        await billing.say("b", "hi", author="mallory", name="Mal Lory")
        await billing.say("b", "hi", author="one", name="Ann")
        await sales.say("s", "hi", author="two", name="Ann")
        await rig.clock.advance(1)

        told = await give(rig, sales, "ban @Nobody")
        assert "Nobody called 'Nobody' is known here" in told
        told = await give(rig, sales, "ban slak:T0:U1")
        assert "'slak:T0:U1' is nobody here" in told
        told = await give(rig, sales, "ban Ann")
        assert "could be any of: fake:billing:one, fake:sales:two" in told
        assert router.parts.rooms.bans.bans() == []

        assert "fake:billing:one is banned" in await give(rig, sales, "ban Ann (billing)")
        assert "fake:billing:mallory is banned" in await give(rig, sales, "ban @Mal Lory")
        assert await give(rig, sales, "ban the road for a while, please") == ""
        assert "not banned any more" in await give(rig, sales, "unban @mal lory")
        assert [one.actor for one in router.parts.rooms.bans.bans()] == ["fake:billing:one"]


async def test_a_channel_is_linked_by_its_mention(trio: Trio) -> None:
    rig, sales, _ = trio
    calls: list[str] = []

    class Told:
        async def link(self, room: RoomId, account: str, channel: str, by: ActorId) -> str:
            calls.append(f"{account} {channel}")
            return "It is linked."

        async def unlink(self, room: RoomId, member: Member, by: ActorId) -> str:
            return ""

        async def invite(self, room: RoomId, who: str) -> Invited:
            calls.append(f"invite {who}")
            return Invited("pat", new=len(calls) == 1)

        async def uninvite(self, room: RoomId, agent: str) -> str:
            calls.append(f"uninvite {agent}")
            return "It left."

    async with ruled(rig, "fake:*") as router:
        router.reconfigure.use_linker(Told())
        said = await give(rig, sales, "invite https://pat.test/of")
        assert "pat is in this room" in said
        assert await give(rig, sales, "uninvite @pat") == "It left."
        invitations, calls[:] = list(calls), []
        mentioned = "[#random](uacs:channel/fake:sales:19%253Ax@thread)"
        assert await give(rig, sales, f"link sales {mentioned}") == "It is linked."
        elsewhere = "[#random](uacs:channel/other:T0:C1)"
        assert await give(rig, sales, f"link sales {elsewhere}") == "It is linked."

    assert invitations == ["invite https://pat.test/of", "uninvite pat"]
    assert calls == ["sales 19:x@thread", "sales #random"]


async def test_an_opt_out_holds_for_accounts_that_are_linked_later(trio: Trio) -> None:
    rig, sales, billing = trio
    ann, annie = actor_id_of("fake", "sales", "ann"), actor_id_of("fake", "billing", "annie")
    async with rig.run() as router:
        await router.parts.rooms.bans.ban(ann, "opted_out", str(ann), None)
        await billing.say("b", "one", author="annie")
        await rig.clock.advance(1)
        await router.parts.rooms.linking.link(ann, annie)
        await billing.say("b", "two", author="annie")
        await rig.clock.advance(1)
        await router.parts.rooms.bans.unban(annie, "opted_out", None)
        await billing.say("b", "three", author="annie")
        await rig.clock.advance(1)

    assert sales.texts("s") == ["one", "three"]


async def test_messages_of_a_person_who_opted_out_are_not_carried_until_they_opt_in(
    trio: Trio,
) -> None:
    rig, sales, billing = trio
    async with ruled(rig):
        await give(rig, sales, "optout", author="bob")
        await sales.say("s", "unheard", author="bob")
        await sales.say("s", "of Ann")
        assert "carried" in await give(rig, sales, "optin", author="bob")
        await sales.say("s", "heard", author="bob")
        await rig.clock.let_work()

    assert billing.texts("b") == ["of Ann", "heard"]


@pytest.mark.parametrize(
    "text", ["status of the deploy?", "help me", "ban", "dance", "pause the music please"]
)
async def test_a_message_that_only_begins_like_a_command_is_a_message(
    trio: Trio, text: str
) -> None:
    rig, sales, billing = trio
    async with ruled(rig, "fake:*"):
        assert await give(rig, sales, text) == ""

    assert len(billing.texts("b")) == 1
    assert text in billing.texts("b")[0]


async def test_a_command_without_a_mention_or_from_a_bot_is_a_message(trio: Trio) -> None:
    rig, sales, billing = trio
    async with ruled(rig, "fake:*") as router:
        await sales.say("s", "pause")
        await sales.say("s", f"{US} pause", bot=True, addresses_us=True)
        await rig.clock.let_work()
        assert not router.parts.rooms.bans.paused(RoomId("all"))

    assert len(billing.texts("b")) == 2


async def test_people_link_their_accounts_by_a_code_that_is_whispered(trio: Trio) -> None:
    rig, sales, billing = trio
    features = {**sales.capabilities.features, "whispers": Level.FULL}
    sales.capabilities = sales.capabilities.model_copy(update={"features": features})
    async with ruled(rig):
        notices = await give(rig, sales, "me")
        code = notices.rpartition(" ")[2]
        assert "not good any more" in await give(rig, billing, "me 0000-0000", author="eve")
        assert "one person" in await give(rig, billing, f"me {code}", author="annie")
        assert "not good any more" in await give(rig, billing, f"me {code}", author="eve")
        assert "Nobody can be whispered to" in await give(rig, billing, "me", author="eve")

    linked = await rig.store.linked_accounts()
    assert [one.actor for one in linked] == ["fake:billing:annie", "fake:sales:ann"]


def posts_of(fake: FakeConnector) -> list[PostMessage]:
    """What it is asked to post, from now on."""
    calls: list[PostMessage] = []
    encode = fake.encode

    def encoded(delivery: Delivery) -> Encoded:
        if isinstance(delivery.operation, PostMessage):
            calls.append(delivery.operation)
        return encode(delivery)

    fake.encode = encoded  # type: ignore[method-assign]
    return calls


async def test_a_slash_command_is_whispered_where_that_can_be(trio: Trio) -> None:
    rig, sales, billing = trio
    features = {**sales.capabilities.features, "whispers": Level.FULL}
    sales.capabilities = sales.capabilities.model_copy(update={"features": features})
    to_sales, to_board = posts_of(sales), posts_of(billing)
    async with ruled(rig, "fake:sales:ann") as router:
        for fake, channel in ((sales, "s"), (billing, "b")):
            await fake.happen(CommandGiven, channel, command="/bridge", text="status")
            await rig.clock.let_work()
        await sales.happen(CommandGiven, "s", by="eve", command="/bridge", text="pause")
        await rig.clock.let_work()
        assert not router.parts.rooms.bans.paused(RoomId("all"))
        await sales.happen(CommandGiven, "s", command="/bridge", text="pause")
        await rig.clock.let_work()
        assert router.parts.rooms.bans.paused(RoomId("all"))

    status, refused, paused = sales.texts("s")
    assert "bridged to" in status
    assert refused == "Only admins of this bridge may do that. You are fake:sales:eve"
    assert "paused" in paused
    assert [to_sale.to for to_sale in to_sales] == [
        f"fake:sales:{who}" for who in ("ann", "eve", "ann")
    ]
    assert [one.to for one in to_board] == [None]


@pytest.mark.parametrize("text", ["dance", "ban", "status now", "pause it please"])
async def test_an_unknown_slash_command_is_answered_too(trio: Trio, text: str) -> None:
    rig, sales, billing = trio
    async with ruled(rig, "fake:*") as router:
        await sales.happen(CommandGiven, "s", command="/bridge", text=text)
        await rig.clock.let_work()
        assert not router.parts.rooms.bans.paused(RoomId("all"))

    notices = "".join(sales.texts("s"))
    assert text.split()[0] in notices
    assert "/bridge help" in notices
    assert billing.texts("b") == []


async def test_an_answer_names_the_command_that_waits_for_it(trio: Trio) -> None:
    rig, sales, _ = trio
    calls = posts_of(sales)
    async with ruled(rig):
        await sales.happen(CommandGiven, "s", command="/bridge", answers="77")
        await rig.clock.let_work()

    (post,) = calls
    assert (post.to, post.answers) == ("fake:sales:ann", "77")
    assert "optout" in "".join(sales.texts("s"))
