"""Contract suite for stores, part: pages, history, events, search and API tokens."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from bridge.errors import StoreError
from bridge.model import ActorId, Person, Place
from bridge.model.admission import Admission
from bridge.model.api_records import ApiToken
from bridge.model.archive_records import Change, HistoryPiece, NewMessage, Position, View
from bridge.model.reaction_records import ReactionChange
from bridge.model.search_records import Search, Words
from bridge.ports.store.whole import Store
from bridge.testing.clock import START
from bridge.testing.store_contract import (
    ANN,
    AWAY,
    HOME,
    HOME_TIMELINE,
    ROOM_TIMELINE,
    ann_message,
    edit_admission,
    new_message,
)

ROBOT = ActorId("api:bridge:robot")
LOBBY = ROOM_TIMELINE.id
TOKEN = ApiToken(
    name="robot",
    digest="d1",
    role="assistant",
    rooms=("lobby", "team-*"),
    scopes=("read", "post"),
    created=START,
    expires=START + 60,
    per_minute=120,
)


async def _say(store: Store, *names: str, **changes: object) -> list[NewMessage]:
    news = [replace(new_message(name, f"words of {name}"), **changes) for name in names]
    for new in news:
        await store.admit(
            Admission("routed", message=new, timelines=(HOME_TIMELINE, ROOM_TIMELINE))
        )
    return news


def _reaction(new: NewMessage, time: float) -> Admission:
    change = ReactionChange(
        new.id, HOME, new.native_id or "", time, present=True, actor=ANN.id, emoji="👍"
    )
    return Admission("reaction", reactions=(change,))


class ReadingContract:
    """Inherit it beside `StoreContract`; it needs the fixtures `store` and `clock`."""

    async def test_a_room_is_read_page_by_page(self, store: Store) -> None:
        await _say(store, "m1", "m2", "m3", "m4")
        await store.admit(
            Admission("deleted", changes=(Change(ann_message("m3"), "deleted", START + 1),))
        )

        newest = await store.page(LOBBY, limit=2, viewer=ROBOT)
        older = await store.page(LOBBY, limit=2, viewer=ROBOT, before=newest.first)

        assert [m.message_id for m in newest.conversation.messages] == [
            new_message("m2").id,
            new_message("m4").id,
        ]
        assert (newest.first, newest.more) == (2, True)
        assert [m.message_id for m in older.conversation.messages] == [new_message("m1").id]
        assert (older.first, older.more) == (1, False)
        assert newest.conversation.conversation_id == str(LOBBY)

    async def test_a_page_of_an_unknown_room_is_an_error(self, store: Store) -> None:
        with pytest.raises(StoreError, match="no conversation"):
            await store.page(LOBBY, limit=2, viewer=ROBOT)

    async def test_history_is_read_backwards_in_pieces(self, store: Store) -> None:
        await _say(store, "m1", "m2", "m3", "m4", "m5")
        await store.change_message(ann_message("m3"), "deleted")
        await store.change_message(ann_message("m2", "now"), "edited")

        newest = await store.past(LOBBY, rows=2)
        older = await store.past(LOBBY, rows=2, before=newest.first)
        oldest = await store.past(LOBBY, rows=2, before=older.first)

        assert newest == HistoryPiece(
            (ann_message("m5", "words of m5"), ann_message("m4", "words of m4")), 4, 2
        )
        assert older == HistoryPiece((ann_message("m2", "now"),), 2, 2)
        assert oldest == HistoryPiece((ann_message("m1", "words of m1"),), None, 1)
        assert await store.number_of(LOBBY, new_message("m4").id) == 4
        assert await store.number_of(LOBBY, new_message("m9").id) is None
        assert await store.past(UUID(int=77), rows=2) == HistoryPiece((), None, 0)

    async def test_history_is_limited_to_the_view(self, store: Store) -> None:
        await _say(store, "m1", "m2")
        await _say(store, "m3", place=Place(channel=AWAY))
        await _say(store, "m4", audience=(ANN.id,))

        past = await store.past(LOBBY, rows=10, view=View(channel=HOME))

        assert past == HistoryPiece(
            (ann_message("m2", "words of m2"), ann_message("m1", "words of m1")), None, 4
        )

    async def test_changed_since_reports_changes_of_messages_before_a_position(
        self, store: Store
    ) -> None:
        await _say(store, "m1", "m2")
        position = await store.position(LOBBY)
        (own,) = await _say(store, "m3", author=Person(id=ActorId("agent:bot"), name="bot"))
        await store.change_message(own.message, "complete")
        await store.admit(_reaction(new_message("m1"), START + 5))

        assert not await store.changed_since(LOBBY, position, "agent:bot")
        await _say(store, "m4")
        await store.change_message(ann_message("m4", "a later one"), "edited")
        assert not await store.changed_since(LOBBY, position, "agent:bot")
        await store.change_message(ann_message("m1"), "deleted")
        assert await store.changed_since(LOBBY, position, "agent:bot")
        position = await store.position(LOBBY)
        assert not await store.changed_since(LOBBY, position, "agent:bot")
        await store.change_message(own.message, "deleted")
        assert await store.changed_since(LOBBY, replace(position, posted=2), "agent:bot")
        assert not await store.changed_since(LOBBY, replace(position, posted=2), "agent:other")

    async def test_the_position_of_a_room_is_that_of_its_newest_event(self, store: Store) -> None:
        assert await store.position(LOBBY) == Position()

        first, _ = await _say(store, "m1", "m2")
        await store.admit(edit_admission(first, "other words", START + 5))

        assert await store.position(LOBBY) == Position(2, 1)
        assert await store.events_after(LOBBY, Position(2, 1), limit=9, viewer=ROBOT) == []

    async def test_events_after_a_position_are_listed_in_order(self, store: Store) -> None:
        first, second = await _say(store, "m1", "m2")
        await store.admit(edit_admission(first, "other words", START + 5))
        await store.admit(_reaction(second, START + 6))
        await store.admit(_reaction(second, START + 6))  # a repeat is no event
        await store.change_message(second.message, "deleted")

        events = await store.events_after(LOBBY, Position(1, 0), limit=9, viewer=ROBOT)

        assert [(event.what, event.position, event.stored.state) for event in events] == [
            ("said", Position(2, 0), "deleted"),
            ("changed", Position(2, 1), "edited"),
            ("reacted", Position(2, 2), "deleted"),
            ("changed", Position(2, 3), "deleted"),
        ]
        assert events[1].stored.message.content == ann_message("m1", "other words").content

    async def test_many_events_are_read_in_pieces(self, store: Store) -> None:
        first, *_ = await _say(store, "m1", "m2", "m3")
        await store.admit(edit_admission(first, "other words", START + 5))
        at, pieces = Position(), list[list[str]]()

        while events := await store.events_after(LOBBY, at, limit=2, viewer=ROBOT):
            pieces.append([f"{event.what} {event.stored.native_id}" for event in events])
            at = events[-1].position

        assert pieces == [["said m1", "said m2"], ["said m3", "changed m1"]]

    async def test_only_its_audience_can_read_a_whisper(self, store: Store) -> None:
        await _say(store, "m1")
        (whisper,) = await _say(store, "m2", audience=(ANN.id,))

        for viewer, numbers in ((ROBOT, [1]), (ANN.id, [1, 2])):
            page = await store.page(LOBBY, limit=9, viewer=viewer)
            events = await store.events_after(LOBBY, Position(), limit=9, viewer=viewer)
            search = Search((Words("words"),), conversations=(LOBBY,), readers=(viewer,))
            results = await store.find(search, limit=9)
            rooms = await store.rooms_of(whisper.id, viewer=viewer)
            assert len(page.conversation.messages) == len(numbers)
            assert [event.position.posted for event in events] == numbers
            assert len(results.found) == len(numbers)
            assert list(rooms) == ([LOBBY] if len(numbers) == 2 else [])

    async def test_the_rooms_of_a_message_are_those_of_its_timelines(self, store: Store) -> None:
        (message,) = await _say(store, "m1")
        elsewhere = new_message("m9")
        await store.admit(Admission("routed", message=elsewhere, timelines=(HOME_TIMELINE,)))

        assert list(await store.rooms_of(message.id, viewer=ROBOT)) == [LOBBY]
        assert list(await store.rooms_of(elsewhere.id, viewer=ROBOT)) == []
        assert list(await store.rooms_of(new_message("m8").id, viewer=ROBOT)) == []

    async def test_a_search_finds_all_words_in_any_case_newest_first(self, store: Store) -> None:
        texts = {"m1": 'The Größe of a "ship"', "m2": "a ship", "m3": "GRÖSSE, ship", "m4": "no"}
        for name, text in texts.items():
            new = new_message(name, text)
            await store.admit(Admission("routed", message=new, timelines=(ROOM_TIMELINE,)))
        both = Search((Words("größe"), Words("SHIP")), conversations=(LOBBY,))
        ship = Search((Words("ship"),), conversations=(LOBBY,))

        results = await store.find(both, limit=9)
        newest = await store.find(ship, limit=1)
        older = await store.find(ship, limit=9, before=newest.more)
        elsewhere = await store.find(replace(ship, conversations=()), limit=9)

        assert [result.stored.native_id for result in results.found] == ["m3", "m1"]
        assert results.more is None
        assert [result.stored.native_id for result in newest.found] == ["m3"]
        assert [result.stored.native_id for result in older.found] == ["m2", "m1"]
        assert elsewhere.found == ()

    async def test_api_tokens_are_stored_replaced_and_revoked(self, store: Store) -> None:
        await store.put_token(TOKEN)
        await store.put_token(replace(TOKEN, digest="d2", expires=None))
        await store.put_token(replace(TOKEN, name="another"))

        assert await store.token("robot") == replace(TOKEN, digest="d2", expires=None)
        assert [token.name for token in await store.tokens()] == ["another", "robot"]
        assert await store.revoke_token("robot")
        assert not await store.revoke_token("robot")
        assert await store.token("robot") is None
