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
from bridge.router.rooms.rooms import Member
from bridge.router.router import Router
from tests.router.conftest import House
from tests.router.inbound.test_changes import trio
from tests.router.paper import PaperConnector

__all__ = ["trio"]  # a fixture
Trio = tuple[House, PaperConnector, PaperConnector]
US = "[@bridge](uacs:actor/paper:slate:us)"
BOB = "[@Bob](uacs:actor/paper:slate:bob)"


@asynccontextmanager
async def ruled(house: House, *admins: str) -> AsyncGenerator[Router]:
    async with house.run() as router:
        router.reconfigure.change_admins(admins)
        yield router


async def give(house: House, paper: PaperConnector, text: str, author: str = "ann") -> str:
    """The answer; empty where there was none."""
    channel = "s" if paper.account == "slate" else "b"
    before = len(paper.channels[channel]) + 1
    await paper.say(channel, f"{US} {text}", author=author, addresses_us=True)
    await house.clock.let_work()
    return "".join(paper.texts(channel)[before:])


async def test_everybody_may_ask_and_is_answered_in_that_channel_alone(trio: Trio) -> None:
    house, slate, board = trio
    async with ruled(house):
        assert "bridged to" in await give(house, slate, "status")
        told = await give(house, slate, "help")
        assert "optout" in told
        assert "pause" not in told

    assert board.texts("b") == board.texts("c") == []
    assert await house.store.conversations() == []


async def test_help_lists_the_commands_of_everybody_before_those_of_admins(trio: Trio) -> None:
    house, slate, _ = trio
    async with ruled(house, "paper:slate:ann"):
        of_admin = names_in(await give(house, slate, "help"))
        of_others = names_in(await give(house, slate, "help", author="eve"))

    assert of_others == [
        "help", "status", "optout", "optin", "me", "take-over", "give-back", "hand-over", "why",
        "retry", "dm",
    ]  # fmt: skip
    assert of_admin == [
        *of_others, "pause", "resume", "block", "unblock", "blocked", "link", "unlink",
    ]  # fmt: skip


def names_in(help_text: str) -> list[str]:
    return [line.split()[0].replace("\\", "") for line in help_text.splitlines()]


async def test_only_admins_pause_and_resume_a_room(trio: Trio) -> None:
    house, slate, board = trio
    async with ruled(house, "paper:slate:ann") as router:
        assert "Only admins" in await give(house, slate, "pause", author="eve")
        assert not router.parts.rooms.bans.paused(RoomId("all"))
        assert "paused" in await give(house, slate, "pause")
        await slate.say("s", "unheard")
        await house.clock.let_work()
        assert "goes on" in await give(house, slate, "Resume")
        await slate.say("s", "heard")
        await house.clock.let_work()

    assert board.texts("b") == ["heard"]


async def test_a_person_is_blocked_and_unblocked_by_mention(trio: Trio) -> None:
    house, slate, board = trio
    async with ruled(house, "paper:*") as router:
        assert "blocked" in await give(house, slate, f"block {BOB}")
        assert [one.actor for one in router.parts.rooms.bans.barred()] == [
            ActorId("paper:slate:bob")
        ]
        await slate.say("s", "no", author="bob")
        assert "bob" in await give(house, slate, "blocked")
        await give(house, slate, f"unblock {BOB}")
        await slate.say("s", "yes", author="bob")
        await house.clock.let_work()

    assert board.texts("b") == ["yes"]


async def test_a_person_is_blocked_by_the_name_that_is_seen_and_nobody_by_one_that_is_not_known(
    trio: Trio,
) -> None:
    """Whose copies are seen here cannot be mentioned here."""
    house, slate, board = trio
    async with ruled(house, "paper:*") as router:
        await board.say("b", "hi", author="mallory", name="Mal Lory")
        await board.say("b", "hi", author="one", name="Ann")
        await slate.say("s", "hi", author="two", name="Ann")
        await house.clock.advance(1)

        told = await give(house, slate, "block @Nobody")
        assert "Nobody called 'Nobody' is known here" in told
        told = await give(house, slate, "block slak:T0:U1")
        assert "'slak:T0:U1' is nobody here" in told
        told = await give(house, slate, "block Ann")
        assert "could be any of: paper:board:one, paper:slate:two" in told
        assert router.parts.rooms.bans.barred() == []

        assert "paper:board:one is blocked" in await give(house, slate, "block Ann (board)")
        assert "paper:board:mallory is blocked" in await give(house, slate, "block @Mal Lory")
        assert await give(house, slate, "block the road for a while, please") == ""
        assert "not blocked any more" in await give(house, slate, "unblock @mal lory")
        assert [one.actor for one in router.parts.rooms.bans.barred()] == ["paper:board:one"]


async def test_a_channel_is_linked_by_its_mention(trio: Trio) -> None:
    house, slate, _ = trio
    asked: list[str] = []

    class Told:
        async def link(self, room: RoomId, account: str, channel: str, by: ActorId) -> str:
            asked.append(f"{account} {channel}")
            return "It is linked."

        async def unlink(self, room: RoomId, member: Member, by: ActorId) -> str:
            return ""

    async with ruled(house, "paper:*") as router:
        router.reconfigure.use_linker(Told())
        mentioned = "[#random](uacs:channel/paper:slate:19%253Ax@thread)"
        assert await give(house, slate, f"link slate {mentioned}") == "It is linked."
        elsewhere = "[#random](uacs:channel/other:T0:C1)"
        assert await give(house, slate, f"link slate {elsewhere}") == "It is linked."

    assert asked == ["slate 19:x@thread", "slate #random"]


async def test_who_opted_out_is_so_under_accounts_that_are_linked_later(trio: Trio) -> None:
    house, slate, board = trio
    ann, annie = actor_id_of("paper", "slate", "ann"), actor_id_of("paper", "board", "annie")
    async with house.run() as router:
        await router.parts.rooms.bans.bar(ann, "opted_out", str(ann), None)
        await board.say("b", "one", author="annie")
        await house.clock.advance(1)
        await router.parts.rooms.linking.link(ann, annie)
        await board.say("b", "two", author="annie")
        await house.clock.advance(1)
        await router.parts.rooms.bans.unbar(annie, "opted_out", None)
        await board.say("b", "three", author="annie")
        await house.clock.advance(1)

    assert slate.texts("s") == ["one", "three"]


async def test_who_opts_out_is_not_carried_until_they_opt_in(trio: Trio) -> None:
    house, slate, board = trio
    async with ruled(house):
        await give(house, slate, "optout", author="bob")
        await slate.say("s", "unheard", author="bob")
        await slate.say("s", "of Ann")
        assert "carried" in await give(house, slate, "optin", author="bob")
        await slate.say("s", "heard", author="bob")
        await house.clock.let_work()

    assert board.texts("b") == ["of Ann", "heard"]


@pytest.mark.parametrize(
    "text", ["status of the deploy?", "help me", "block", "dance", "pause the music please"]
)
async def test_what_is_no_command_as_a_whole_is_a_message(trio: Trio, text: str) -> None:
    house, slate, board = trio
    async with ruled(house, "paper:*"):
        assert await give(house, slate, text) == ""

    assert len(board.texts("b")) == 1
    assert text in board.texts("b")[0]


async def test_a_command_that_is_not_said_to_us_is_none(trio: Trio) -> None:
    house, slate, board = trio
    async with ruled(house, "paper:*") as router:
        await slate.say("s", "pause")
        await slate.say("s", f"{US} pause", bot=True, addresses_us=True)
        await house.clock.let_work()
        assert not router.parts.rooms.bans.paused(RoomId("all"))

    assert len(board.texts("b")) == 2


async def test_people_link_their_accounts_by_a_code_that_is_whispered(trio: Trio) -> None:
    house, slate, board = trio
    features = {**slate.capabilities.features, "whispers": Level.FULL}
    slate.capabilities = slate.capabilities.model_copy(update={"features": features})
    async with ruled(house):
        told = await give(house, slate, "me")
        code = told.rpartition(" ")[2]
        assert "not good any more" in await give(house, board, "me 0000-0000", author="eve")
        assert "one person" in await give(house, board, f"me {code}", author="annie")
        assert "not good any more" in await give(house, board, f"me {code}", author="eve")
        assert "Nobody can be whispered to" in await give(house, board, "me", author="eve")

    linked = await house.store.linked_accounts()
    assert [one.actor for one in linked] == ["paper:board:annie", "paper:slate:ann"]


def posts_of(paper: PaperConnector) -> list[PostMessage]:
    """What it is asked to post, from now on."""
    asked: list[PostMessage] = []
    encode = paper.encode

    def kept(delivery: Delivery) -> Encoded:
        if isinstance(delivery.operation, PostMessage):
            asked.append(delivery.operation)
        return encode(delivery)

    paper.encode = kept  # type: ignore[method-assign]
    return asked


async def test_a_slash_command_is_whispered_where_that_can_be(trio: Trio) -> None:
    house, slate, board = trio
    features = {**slate.capabilities.features, "whispers": Level.FULL}
    slate.capabilities = slate.capabilities.model_copy(update={"features": features})
    to_slate, to_board = posts_of(slate), posts_of(board)
    async with ruled(house, "paper:slate:ann") as router:
        for paper, channel in ((slate, "s"), (board, "b")):
            await paper.happen(CommandGiven, channel, command="/bridge", text="status")
            await house.clock.let_work()
        await slate.happen(CommandGiven, "s", by="eve", command="/bridge", text="pause")
        await house.clock.let_work()
        assert not router.parts.rooms.bans.paused(RoomId("all"))
        await slate.happen(CommandGiven, "s", command="/bridge", text="pause")
        await house.clock.let_work()
        assert router.parts.rooms.bans.paused(RoomId("all"))

    status, refused, paused = slate.texts("s")
    assert "bridged to" in status
    assert refused == "Only admins of this bridge may do that. You are paper:slate:eve"
    assert "paused" in paused
    assert [one.to for one in to_slate] == [f"paper:slate:{who}" for who in ("ann", "eve", "ann")]
    assert [one.to for one in to_board] == [None]


@pytest.mark.parametrize("text", ["dance", "block", "status now", "pause it please"])
async def test_a_slash_command_that_is_none_is_answered_too(trio: Trio, text: str) -> None:
    house, slate, board = trio
    async with ruled(house, "paper:*") as router:
        await slate.happen(CommandGiven, "s", command="/bridge", text=text)
        await house.clock.let_work()
        assert not router.parts.rooms.bans.paused(RoomId("all"))

    told = "".join(slate.texts("s"))
    assert text.split()[0] in told
    assert "/bridge help" in told
    assert board.texts("b") == []


async def test_an_answer_names_the_command_that_waits_for_it(trio: Trio) -> None:
    house, slate, _ = trio
    asked = posts_of(slate)
    async with ruled(house):
        await slate.happen(CommandGiven, "s", command="/bridge", answers="77")
        await house.clock.let_work()

    (post,) = asked
    assert (post.to, post.answers) == ("paper:slate:ann", "77")
    assert "optout" in "".join(slate.texts("s"))
