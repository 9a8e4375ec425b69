"""After an erasure, nothing of a message or a person is in any file of the store, or in any row."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import JsonValue

from bridge.errors import ErasureForbidden, StoreError
from bridge.model import AccountId, ActorId, Loss, MessageId, OperationId, Person, RoomId, TurnId
from bridge.model.admission import Admission
from bridge.model.archive_records import Change, NewMessage, channel_timeline
from bridge.model.blob_ids import sha256_of
from bridge.model.erasure_records import Erasure, LegalHold
from bridge.model.export_records import ImportBatch
from bridge.model.outbox_records import Settlement
from bridge.model.people_records import DisplayName
from bridge.model.reaction_records import ReactionChange
from bridge.model.refs import BRIDGE, actor_id_of
from bridge.model.search_records import Search, Words
from bridge.model.turn_records import Approval, MessageRating, NewTurn
from bridge.store import open_sqlite, packing
from bridge.store.sql_store import SqlStore
from bridge.testing.clock import START, ManualClock
from bridge.testing.store_contract import (
    ANN,
    AWAY,
    HOME,
    ROOM,
    ROOM_TIMELINE,
    admit,
    copy,
    head,
    new_message,
    post,
    raw,
)
from bridge.uacs import Actor, FilePart, MediaSource, Message, StructuredDataPart, TextPart
from tests.archive.conversation import exported
from tests.store.conftest import KEY, Remains

BOB = Person(id=actor_id_of("tin", "W1", "U2"), name="Bob")
ANN_NAMED = Person(id=actor_id_of("tin", "W1", "UANNID"), name="Annabelle Secretname")
FILE = "blob:sha256-" + "ab" * 32
ONE = MessageId("tin:W1:home:m1")
# What is somewhere in the store before an erasure.
SECRETS = (
    "quicksilver", "formerword", "cardword", "payloadword", "editpayload", "lossword",
    "turnerror", "argumentword", "commentword", "quoteword",
)  # fmt: skip


@pytest.fixture
def store(each_store: SqlStore) -> SqlStore:
    return each_store


@pytest.fixture(autouse=True)
def stored_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values are packed without compression, so that a word that is left can be found."""
    monkeypatch.setattr(packing, "_COMPRESSOR", packing.compressor(0))


def by(person: Person, new: NewMessage) -> NewMessage:
    actor = Actor(id=person.id, role="human", name=person.name)
    return replace(new, message=new.message.model_copy(update={"actor": actor}), author=person)


async def fill(store: SqlStore, author: Person) -> None:
    """A room in which the author posts, edits and is quoted; the words of SECRETS are everywhere
    where a store keeps content."""
    text = "the first formerword stood here before"
    payload = json.dumps({"id": "m1", "text": "payloadword " * 30}).encode()
    row = await store.accept(raw(1, payload=payload), advance=False)
    assert row
    first = by(author, new_message("m1", text))
    posted = post("o1", first)
    posted = posted.model_copy(
        update={"byline": posted.byline.model_copy(update={"name": author.name})}
    )
    turn = NewTurn(TurnId("t1"), "helper", ROOM, ONE)
    await store.admit(
        Admission(
            "routed", row.id, first, people=(author,), operations=(posted,), turns=(turn,),
            timelines=(channel_timeline(HOME), ROOM_TIMELINE),
        )
    )  # fmt: skip
    edit_row = await store.accept(
        raw(2, kind="edit", payload=b'{"of": "m1", "text": "editpayload"}'), advance=False
    )
    assert edit_row
    edited = Message(
        message_id=ONE,
        timestamp=first.message.timestamp,
        actor=first.message.actor,
        content=(
            TextPart(text="quicksilver is the secret of this quoteword text"),
            StructuredDataPart(schema_id="x", data={"title": "cardword"}),
            FilePart(source=MediaSource(file_id=FILE), media_type="text/plain"),
        ),
    )
    await store.admit(
        Admission("edited", edit_row.id, changes=(Change(edited, "edited", START + 1),))
    )
    await store.begin(OperationId("o1"))
    loss = Loss(path="", kind="x", what="lossword")
    await store.settle(
        Settlement(OperationId("o1"), "done", (copy("c1"),), error="lossword", losses=(loss,))
    )
    reaction = ReactionChange(ONE, HOME, "m1", START + 2, present=True, actor=author.id, emoji="👍")
    rating = MessageRating(ONE, author.id, "good", "commentword", START, HOME, ROOM, None)
    await store.admit(Admission("reacted", reactions=(reaction,), feedback=(rating,)))
    await store.set_turn(TurnId("t1"), "failed", error="turnerror")
    await store.ask_approval(
        Approval(
            "a1", TurnId("t1"), ROOM, "helper", "tool", "c", '{"x": "argumentword"}', "why", ONE,
            author.id, (author.id,), 1, START, START + 9,
        )
    )  # fmt: skip
    quote = "> quicksilver is the secret of this quoteword text\n\nI see"
    await admit(
        store, by(BOB, new_message("m2", quote, reply_to=ONE)), timelines=(channel_timeline(HOME),)
    )
    notice = new_message("m3", "> *Ann*: quicksilver is the secret of this quote…\n\nlost")
    await admit(
        store,
        replace(
            notice,
            message=notice.message.model_copy(update={"message_id": f"{BRIDGE}:n1"}),
            native_id=None,
            place=None,
        ),
    )


async def erase(store: SqlStore, **subject: object) -> None:
    await store.erase(Erasure("e1", "operator", "asked by mail", **subject))  # pyright: ignore[reportArgumentType]
    assert await store.overwrite_freed(alone=True)
    await store.set_cleaned()


async def test_an_erased_message_is_in_no_file_of_the_store(
    store: SqlStore, remains: Remains
) -> None:
    await fill(store, ANN)
    assert remains(*SECRETS) == {*SECRETS}

    await erase(store, message=ONE)

    assert remains(*SECRETS) == set()
    stored = await store.message(ONE)
    assert stored
    assert stored.state == "deleted"
    assert (await store.find(Search((Words("quicksilver"),)), limit=5)).found == ()
    assert FILE not in await store.files_in_use()
    answer = await store.message(MessageId("tin:W1:home:m2"))
    assert answer
    assert answer.message.content == (TextPart(text="> [erased]\n\nI see"),)


async def test_what_was_heard_in_a_file_of_an_erased_message_is_erased(
    store: SqlStore, remains: Remains
) -> None:
    await fill(store, ANN)
    agent = AccountId("agent:bot")
    await store.put_value(agent, f"derived:transcript:m1:{sha256_of(FILE)}", "heard quicksilver")
    await store.put_value(agent, f"derived:transcript:m1:{'0' * 64}", "something else")

    await erase(store, message=ONE)

    assert remains("quicksilver") == set()
    assert len(await store.value_keys(agent, "derived:")) == 1


async def test_translations_of_an_erased_message_are_erased_and_of_a_person_all(
    store: SqlStore, remains: Remains
) -> None:
    await fill(store, ANN_NAMED)
    await admit(store, by(BOB, new_message("m5", "hello Annabelle")))
    five = MessageId("tin:W1:home:m5")
    await store.put_translation(ONE, "de", "d", ["Quecksilbergeheimnis"])
    await store.put_translation(five, "de", "d", ["Hallo Annabelle"])

    await erase(store, message=ONE)
    kept = await store.translation(five, "de", "d")
    await store.erase(Erasure("e2", "operator", "asked", actors=(ANN_NAMED.id,)))

    assert remains("Quecksilbergeheimnis") == set()
    assert await store.translation(ONE, "de", "d") is None
    assert kept == ("Hallo Annabelle",)
    assert await store.translation(five, "de", "d") is None


async def test_an_erased_person_is_in_no_file_of_the_store(
    store: SqlStore, remains: Remains
) -> None:
    await fill(store, ANN_NAMED)
    mention = f"hello [@Annabelle Secretname](uacs:actor/{ANN_NAMED.id}) and @Annabelle Secretname"
    native: dict[str, JsonValue] = {
        "user": {"id": "UANNID", "username": "Secretname"}, "text": "<@UANNID> hi",
    }  # fmt: skip
    naming = by(BOB, new_message("m5", mention))
    part = StructuredDataPart(schema_id="x", data=native)
    content = (*naming.message.content, part)
    naming = replace(naming, message=naming.message.model_copy(update={"content": content}))
    await admit(store, naming)
    whisper = by(BOB, new_message("m6", "between us", audience=(ANN_NAMED.id, BOB.id)))
    await admit(store, whisper)
    await store.save_names([DisplayName(ROOM, ANN_NAMED.id, ANN_NAMED.name, "Annabelle (tin)")])
    await store.link_people(ANN_NAMED.id, BOB.id, "command")
    of_bob = ReactionChange(
        naming.id, HOME, "m5", START, present=True, actor=ANN_NAMED.id, emoji="👍"
    )
    await store.admit(Admission("reacted", reactions=(of_bob,)))
    await store.accept(raw(9, payload=b'{"user": "UANNID", "x": "payloadword"}'), advance=False)
    imported = replace(exported(7), payload=b'{"user":"UANNID","text":"payloadword"}')
    await store.add_imported(ImportBatch("tin", "tin", messages=(imported,)))

    await erase(store, actors=(ANN_NAMED.id,))

    assert remains(*SECRETS, "UANNID", "Annabelle", "Secretname") == set()
    named = await store.message(naming.id)
    assert named
    assert "Erased person" in str(named.message.content[0])
    assert named.message.metadata is None or "reactions" not in named.message.metadata
    assert (await store.find(Search((Words("hello"),)), limit=5)).found
    assert not await store.waiting_rows()


async def test_a_dry_run_counts_and_changes_nothing(store: SqlStore) -> None:
    await fill(store, ANN)
    before = await store.message(ONE)

    record = await store.erase(Erasure("e1", "operator", "", message=ONE), dry_run=True)

    assert record.counts["messages"] == 1
    assert record.counts["versions"] == 1
    assert record.counts["payloads"] == 2
    assert await store.message(ONE) == before
    assert await store.erasures() == []


async def test_erasures_are_recorded_without_content(store: SqlStore) -> None:
    await fill(store, ANN)

    await store.erase(Erasure("e1", "operator", "asked by mail", message=ONE))

    (record,) = await store.erasures()
    assert (record.by, record.reason, record.subject) == ("operator", "asked by mail", "message")
    assert not record.cleaned
    assert await store.files_to_remove() == [FILE]
    await store.set_cleaned()
    (record,) = await store.erasures()
    assert record.cleaned
    assert await store.files_to_remove() == []


async def test_an_import_and_the_platform_bring_an_erased_message_not_back(
    store: SqlStore, remains: Remains
) -> None:
    message = exported(1, text="quicksilver")
    await store.add_imported(ImportBatch("tin", "tin", messages=(message,)))
    own_id = MessageId(message.posted.message.message_id)
    await erase(store, message=own_id)

    await store.add_imported(ImportBatch("tin", "tin", messages=(message,)))
    await store.add_imported(ImportBatch("tin", "tin", messages=(replace(message, editor=BOB.id),)))

    assert remains("quicksilver") == set()


async def test_copies_are_deleted_on_the_platforms_if_asked(store: SqlStore) -> None:
    await fill(store, ANN)

    await store.erase(Erasure("e1", "operator", "", message=ONE, copies=True))

    operation = (await head(store)).delivery.operation
    assert (operation.type, operation.channel) == ("delete_message", AWAY)


HOLDS = [
    LegalHold("all", "op", "a lawsuit", START),
    LegalHold("room", "op", "a lawsuit", START, room=RoomId("lobby")),
    LegalHold("channel", "op", "a lawsuit", START, channel=HOME),
    LegalHold("person", "op", "a lawsuit", START, actor=ANN.id),
    LegalHold("time", "op", "a lawsuit", START, since=START - 1, until=START + 1),
]
NO_HOLDS = [
    LegalHold("room", "op", "", START, room=RoomId("kitchen")),
    LegalHold("channel", "op", "", START, channel=AWAY),
    LegalHold("person", "op", "", START, actor=BOB.id),
    LegalHold("later", "op", "", START, since=START + 1),
    LegalHold("earlier", "op", "", START, until=START),
]


@pytest.mark.parametrize("hold", HOLDS, ids=lambda hold: hold.name)
async def test_a_legal_hold_forbids_an_erasure_and_is_named(
    store: SqlStore, hold: LegalHold
) -> None:
    await store.room_ids([RoomId("lobby")])
    await fill_room(store)
    await store.add_hold(hold)

    with pytest.raises(ErasureForbidden, match=f"{hold.name}.*a lawsuit.*hold remove"):
        await store.erase(Erasure("e1", "operator", "", message=ONE))

    assert await store.remove_hold(hold.name)
    assert (await store.erase(Erasure("e1", "operator", "", message=ONE))).counts["messages"] == 1


async def test_a_hold_on_another_s_message_forbids_to_change_it(store: SqlStore) -> None:
    await fill(store, ANN_NAMED)
    mention = f"[@Annabelle Secretname](uacs:actor/{ANN_NAMED.id})"
    await admit(store, by(BOB, new_message("m5", mention)))
    before = [await store.message(MessageId(f"tin:W1:home:{name}")) for name in ("m2", "m5")]
    await store.add_hold(LegalHold("bob", "op", "a lawsuit", START, actor=BOB.id))

    for subject in ({"message": ONE}, {"actors": (ANN_NAMED.id,)}):
        with pytest.raises(ErasureForbidden, match="'bob'"):
            await store.erase(Erasure("e1", "operator", "", **subject))  # pyright: ignore[reportArgumentType]

    after = [await store.message(MessageId(f"tin:W1:home:{name}")) for name in ("m2", "m5")]
    assert after == before


async def test_a_person_who_is_only_mentioned_can_be_erased(
    store: SqlStore, remains: Remains
) -> None:
    mention = f"hello [@Annabelle Secretname](uacs:actor/{ANN_NAMED.id})"
    await admit(store, by(BOB, new_message("m5", mention)))

    await erase(store, actors=(ANN_NAMED.id,))

    assert remains("UANNID", "Annabelle") == set()


@pytest.mark.parametrize("hold", NO_HOLDS, ids=lambda hold: hold.name)
async def test_a_legal_hold_protects_nothing_else(store: SqlStore, hold: LegalHold) -> None:
    await fill_room(store)
    await store.add_hold(hold)

    assert (await store.erase(Erasure("e1", "operator", "", message=ONE))).counts["messages"] == 1


async def fill_room(store: SqlStore) -> None:
    """A message in the timeline of the room."""
    (conversation,) = (await store.room_ids([RoomId("lobby")])).values()
    room = replace(ROOM_TIMELINE, id=conversation)
    await admit(store, new_message("m1"), timelines=(channel_timeline(HOME), room))


async def test_holds_are_listed_and_have_names_of_their_own(store: SqlStore) -> None:
    for hold in HOLDS:
        await store.add_hold(hold)

    assert await store.holds() == sorted(HOLDS, key=lambda hold: hold.name)
    with pytest.raises(StoreError, match="'room' already"):
        await store.add_hold(HOLDS[1])
    assert not await store.remove_hold("nothing")


@pytest.mark.parametrize(
    "subject", [{"message": MessageId("tin:W1:home:none")}, {"actors": (ActorId("tin:W1:U99"),)}]
)
async def test_what_is_not_there_cannot_be_erased(
    store: SqlStore, subject: dict[str, object]
) -> None:
    with pytest.raises(StoreError, match=r"The archive has no(thing| message)"):
        await store.erase(Erasure("e1", "operator", "", **subject))  # pyright: ignore[reportArgumentType]


async def test_a_store_of_an_earlier_version_is_written_anew_before_it_counts_as_clean(
    path: Path, clock: ManualClock
) -> None:
    store = await open_sqlite(path, clock=clock, key=KEY)
    assert store.writer
    await store.writer.run(lambda db: db.execute("DELETE FROM meta WHERE key = 'overwrites_freed'"))
    await admit(store, new_message("m1"))
    await store.erase(Erasure("e1", "operator", "", message=ONE))

    assert not await store.overwrite_freed(alone=False)
    assert await store.overwrite_freed(alone=True)
    assert await store.overwrite_freed(alone=False)
    await store.close()
