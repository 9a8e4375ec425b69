"""An agent is told which thread a message is in and what it answers, in few words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bridge.agents.codec.speakers import header
from bridge.content.messages.llm_tokens import tokens_of
from bridge.model import ActorId, MessageId, TurnId
from bridge.model.admission import Admission
from bridge.model.archive_records import NewMessage, Relation, StoredMessage
from bridge.model.room_records import RoomForm
from bridge.ports.store.whole import Store
from bridge.router import AgentMembership, Room, Timeouts
from bridge.router.rooms.options import RoomOptions
from bridge.router.turns.history import History
from bridge.store import SqliteStore
from tests.router.fake_clock import FakeClock
from tests.router.turns.test_history import LOBBY, START, new_message


@pytest.fixture
def store() -> Store:
    return SqliteStore.in_memory(FakeClock())


class Plaza:
    """A room in which things are said one after another."""

    def __init__(self, store: Store, room: Room = LOBBY) -> None:
        self.store = store
        self.room = room
        self.said: list[NewMessage] = []

    async def say(
        self,
        text: str,
        *,
        root: NewMessage | None = None,
        to: NewMessage | None = None,
        **more: Any,
    ) -> NewMessage:
        n = len(self.said)
        new = replace(
            new_message(n, text, START + 60 * n), root=_id(root), reply_to=_id(to), **more
        )
        self.said.append(new)
        await self.store.admit(Admission("routed", message=new, timelines=(self.room.timeline,)))
        return new

    async def read(self, **membership: Any) -> list[str]:
        """The headers of what the agent is shown when it is asked the last thing."""
        last = self.said[-1]
        question = StoredMessage(
            last.message, last.author, last.time, last.place, last.native_id, last.root, "complete"
        )
        history = History(self.store, Timeouts())
        conversation = await history.of(
            self.room, AgentMembership("bot", **membership), TurnId("t"), last.message, question
        )
        return [header(message) for message in conversation.messages]


def _id(new: NewMessage | None) -> MessageId | None:
    return None if new is None else MessageId(new.message.message_id)


async def test_relations_of_what_is_kept_are_known(store: Store) -> None:
    plaza = Plaza(store)
    root = await plaza.say("Root")
    reply = await plaza.say("Reply", root=root, to=root)
    ids = [MessageId(root.message.message_id), MessageId(reply.message.message_id)]

    relations = await store.relations([*ids, MessageId("nobody said this")])

    assert dict(relations) == {ids[0]: Relation(), ids[1]: Relation(ids[0], ids[0])}


async def test_thread_and_reply_context_is_added_where_the_order_does_not_show_it(
    store: Store,
) -> None:
    plaza = Plaza(store)
    deploy = await plaza.say("Deploy **on Friday**, or what do you all think of it then?")
    lunch = await plaza.say("Lunch?")
    await plaza.say("Yes!", to=lunch)
    await plaza.say("Monday", root=deploy)
    await plaza.say("Pizza", to=lunch)
    await plaza.say("Why?", root=deploy, to=deploy)

    thread = 'in thread "Deploy on Friday, or what do you all think of…"'
    assert await plaza.read(session="room") == [
        '[from "Ann"]', '[from "Ann"]', '[from "Ann"]', f'[from "Ann", {thread}]',
        '[from "Ann", to "Ann": "Lunch?"]', f'[from "Ann", {thread}]',
    ]  # fmt: skip


async def test_no_thread_context_is_added_where_all_messages_are_in_one_thread(
    store: Store,
) -> None:
    plaza = Plaza(store)
    root = await plaza.say("Deploy?")
    await plaza.say("Elsewhere")
    await plaza.say("Monday", root=root)
    await plaza.say("Why?", root=root)

    assert await plaza.read(session="thread") == ['[from "Ann"]'] * 3


async def test_threads_with_equal_first_words_are_distinguished(store: Store) -> None:
    plaza = Plaza(store)
    first, second = await plaza.say("Hi"), await plaza.say("Hi")
    await plaza.say("one", root=first)
    await plaza.say("two", root=second)
    await plaza.say("three", root=first)

    *_, one, two, three = await plaza.read(session="room")
    assert one == three != two
    assert one.startswith('[from "Ann", in thread "Hi #')


async def test_thread_context_contains_no_words_that_the_agent_may_not_see(store: Store) -> None:
    plaza = Plaza(store)
    secret = await plaza.say("The code is 1234", audience=(ActorId("fake:sales:bob"),))
    gone = await plaza.say("Forget 5678")
    await plaza.say("Aha", root=secret, to=secret)
    await plaza.say("Well", to=gone)
    await store.change_message(gone.message, "deleted")
    await plaza.say("So?")

    words = " ".join(await plaza.read(session="room"))
    assert "1234" not in words
    assert "5678" not in words
    assert 'in thread "#' in words


async def test_a_root_before_the_agents_time_is_not_quoted(store: Store) -> None:
    options = RoomOptions(history="from_joining")
    room = replace(LOBBY, agents=(AgentMembership("bot"),), options=options)
    plaza = Plaza(store, room)
    for members in (("fake",), ("fake", "agent:bot")):
        (standing,) = await store.stand_rooms([RoomForm(room.id, repr(members), members)])
        plaza.room = replace(room, epoch=standing.epoch, joined=standing.joined)
        await plaza.say(f"Said to {' and '.join(members)}")
    await plaza.say("Now", root=plaza.said[0])
    await plaza.say("And?")

    headers = await plaza.read()
    assert len(headers) == 3
    assert "Said to" not in " ".join(headers)
    assert 'in thread "#' in headers[1]


async def test_what_is_told_counts_as_tokens(store: Store) -> None:
    plaza = Plaza(store)
    root = await plaza.say("Deploy?")
    await plaza.say("Other")
    for _ in range(200):
        await plaza.say("yes", root=root)
    last = plaza.said[-1].message

    headers = await plaza.read(session="room", history_tokens=500)

    assert len(headers) * (tokens_of(last) + 5) <= 500 + 40
