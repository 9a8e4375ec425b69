"""A search finds messages by words and facts, newest first, and nothing that its reader may not
see."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.model import Place, conversation_id_of
from bridge.model.admission import Admission
from bridge.model.archive_records import Change, NewMessage, channel_timeline
from bridge.model.export_records import ExportedMessage, ImportBatch
from bridge.model.search_records import Condition, Search, Words
from bridge.store import SqliteStore
from bridge.store.sql_store import SqlStore
from bridge.uacs import Message, TextPart
from tests.archive.conversation import ANN, BOB, DEN, HOME, START, exported


@pytest.fixture
def store(each_store: SqlStore) -> SqlStore:
    return each_store


async def add(store: SqlStore, *messages: ExportedMessage) -> None:
    await store.add_imported(ImportBatch("tin", "tin", messages=messages))


async def found(store: SqlStore, search: Search, limit: int = 50) -> list[str]:
    page = await store.find(search, limit=limit)
    return [message.stored.native_id or "" for message in page.found]


def words(*texts: str) -> Search:
    return Search(tuple(Words(text) for text in texts))


def where(kind: str, *values: str, excluded: bool = False) -> Search:
    return Search(conditions=(Condition(kind, values, excluded),))  # pyright: ignore[reportArgumentType]


TEXTS = {
    1: "The deploy went wrong on staging",
    2: "went home; nothing wrong",
    3: "DEPLOY again, `make deploy`",
    4: "déploiement naïve",
    5: "東京の天気は晴れです",
    6: "한국어 문장입니다",
    7: "see https://example.test/deploying",
    8: 'say "quoted" AND NOT (text:x) * NEAR/2',
}


@pytest.fixture
async def archive(store: SqlStore) -> SqlStore:
    await add(store, *(exported(number, text=text) for number, text in TEXTS.items()))
    return store


@pytest.mark.parametrize(
    ("search", "numbers"),
    [
        (words("deploy"), ["3", "1"]),
        (words("WRONG", "went"), ["2", "1"]),
        (words("went wrong"), ["1"]),
        (Search((Words("deplo", prefix=True),)), ["7", "4", "3", "1"]),
        (words("deploiement"), ["4"]),
        (words("naive"), ["4"]),
        (words("天気"), ["5"]),
        (words("気天"), []),
        (words("東京", "晴"), ["5"]),
        (words("국어"), ["6"]),
        (Search((Words("wrong"), Words("home", excluded=True))), ["1"]),
        (Search((Words("wrong", excluded=True),)), ["8", "7", "6", "5", "4", "3"]),
        (words("nobody"), []),
        (where("has", "link"), ["7"]),
        (where("has", "code"), ["3"]),
        (words('"quoted" AND NOT'), ["8"]),
        (words("text:x"), ["8"]),
        (words("facets:xall"), []),
        (words("xall"), []),
        (words('" OR "deploy'), []),
        (words("NEAR/2"), ["8"]),
        (words("\0deploy"), ["3", "1"]),
    ],
    ids=str,
)
async def test_a_search_finds_words_phrases_prefixes_and_any_script(
    archive: SqlStore, search: Search, numbers: list[str]
) -> None:
    assert await found(archive, search) == numbers


async def test_a_found_message_has_its_surroundings_as_its_reader_may_see_them(
    store: SqlStore,
) -> None:
    messages = [exported(number, text=f"word{number}") for number in range(1, 8)]
    posted = messages[3].posted.model_copy(update={"audience": (BOB.id,)})
    messages[3] = replace(messages[3], posted=posted)
    messages[5] = replace(messages[5], deleted=True)
    await add(store, *messages)
    (found,) = (await store.find(words("word5"), limit=9)).found

    async def shown(search: Search, count: int) -> tuple[list[str | None], list[str | None]]:
        around = await store.around(found, found.conversations[0], search, count=count)
        return [m.stored.native_id for m in around.before], [
            m.stored.native_id for m in around.behind
        ]

    assert await shown(Search(), 2) == (["2", "3"], ["7"])
    assert await shown(Search(readers=(BOB.id,), deleted=True), 2) == (["3", "4"], ["6", "7"])
    assert await shown(Search(), 0) == ([], [])


async def test_conditions_are_combined(store: SqlStore) -> None:
    await add(
        store,
        exported(1, ANN),
        exported(2, BOB, root="1"),
        exported(3, BOB, channel=DEN),
        exported(4, ANN, edited=True),
    )
    home = str(conversation_id_of(Place(channel=HOME)))
    by_bob = Condition("author", (BOB.id,))

    assert await found(store, Search(conditions=(by_bob,))) == ["3", "2"]
    assert await found(store, Search(conditions=(by_bob, Condition("conversation", (home,))))) == [
        "2"
    ]
    assert await found(store, where("author", ANN.id, BOB.id)) == ["4", "3", "2", "1"]
    assert await found(store, where("author", BOB.id, excluded=True)) == ["4", "1"]
    assert await found(store, where("author")) == []
    assert await found(store, where("is", "edited")) == ["4"]
    assert await found(store, where("is", "reply")) == ["2"]
    root = exported(2, root="1").relations()[0]
    assert await found(store, where("thread", str(root))) == ["2"]


async def test_a_period_limits_the_search(archive: SqlStore) -> None:
    begin = START.timestamp()
    search = Search(since=begin + 3, until=begin + 6)

    assert await found(archive, search) == ["5", "4", "3"]


async def test_pages_follow_one_another_without_gap_or_double(store: SqlStore) -> None:
    await add(store, *(exported(number) for number in range(1, 26)))
    before, numbers = None, list[str]()
    while True:
        page = await store.find(words("message"), limit=10, before=before)
        numbers += [message.stored.native_id or "" for message in page.found]
        if (before := page.more) is None:
            break

    assert numbers == [str(number) for number in range(25, 0, -1)]


async def test_an_edit_is_found_by_its_new_words_only(archive: SqlStore) -> None:
    (first,) = (await archive.find(words("staging"), limit=1)).found
    message = first.stored.message.model_copy(update={"content": (TextPart(text="all is well"),)})
    change = Change(message, "edited", START.timestamp() + 100)

    await archive.admit(Admission("edited", changes=(change,)))

    assert await found(archive, words("staging")) == []
    assert await found(archive, words("well")) == ["1"]
    assert await found(archive, where("is", "edited")) == ["1"]


async def test_deleted_messages_are_found_only_with_the_right(archive: SqlStore) -> None:
    (first,) = (await archive.find(words("staging"), limit=1)).found

    await archive.admit(
        Admission(
            "deleted", changes=(Change(first.stored.message, "deleted", START.timestamp() + 9),)
        )
    )

    assert await found(archive, words("staging")) == []
    assert await found(archive, replace(words("staging"), deleted=True)) == ["1"]


async def test_a_whisper_is_found_by_its_readers_only(store: SqlStore) -> None:
    whisper = exported(1)
    posted = whisper.posted.model_copy(update={"audience": (BOB.id,)})
    await add(store, replace(whisper, posted=posted), exported(2))

    assert await found(store, words("message")) == ["2"]
    assert await found(store, replace(words("message"), readers=(ANN.id,))) == ["2"]
    assert await found(store, replace(words("message"), readers=(BOB.id,))) == ["2", "1"]


async def test_a_growing_answer_is_found_when_it_is_complete(store: SqlStore) -> None:
    posted = exported(1).posted
    growing = NewMessage(
        posted.message, ANN, START.timestamp(), place=posted.place, native_id="1", state="streaming"
    )
    await store.admit(Admission("kept", message=growing, timelines=(channel_timeline(HOME),)))
    before = await found(store, words("message"))
    whole: Message = posted.message.model_copy(update={"content": (TextPart(text="the answer"),)})

    await store.change_message(whole, "complete")

    assert before == []
    assert await found(store, words("answer")) == ["1"]
    assert await found(store, words("message")) == []


async def test_an_index_of_another_version_is_built_anew_with_the_same_results(
    archive: SqlStore,
) -> None:
    from bridge.store import search

    assert archive.writer is not None
    expected = await found(archive, words("deploy"))
    await archive.writer.run(lambda db: db.execute(search.SQL["forget_all"]).rowcount)
    emptied = await found(archive, words("deploy"))

    await archive.writer.run(search.build)

    assert emptied == []
    assert await found(archive, words("deploy")) == expected


async def test_the_index_holds_no_word_of_a_message_that_was_unindexed(
    archive: SqlStore,
) -> None:
    (first,) = (await archive.find(words("staging"), limit=1)).found
    message = first.stored.message.model_copy(update={"content": (TextPart(text="gone"),)})
    await archive.admit(
        Admission("edited", changes=(Change(message, "edited", START.timestamp() + 9),))
    )

    assert (await archive.find(words("staging"), limit=1)).found == ()
    if isinstance(archive, SqliteStore):  # FTS5 trusts what it is told to remove
        assert archive.writer is not None
        await archive.writer.run(
            lambda db: db.execute("INSERT INTO words (words) VALUES ('integrity-check')").rowcount
        )


async def test_rooms_and_channels_are_found_by_name_or_key_in_any_case(
    archive: SqlStore,
) -> None:
    home = str(conversation_id_of(Place(channel=HOME)))

    assert await archive.conversations_named("TIN:w1:home") == [home]
    assert await archive.conversations_named("attic") == []
