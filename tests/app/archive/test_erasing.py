"""`uacs-bridge archive erase`, `erasures` and `hold`, with and without a running bridge."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result

from bridge.app.archive.erasing import clean_up, erase
from bridge.app.build import Bridge, build
from bridge.app.control import ControlAccess
from bridge.app.settings.file import settings_of
from bridge.app.web.server import WebServer, web_app
from bridge.archive.formats.uacs_lines import UacsLines
from bridge.errors import StoreError
from bridge.model import ChannelRef
from bridge.model.erasure_records import Erasure
from bridge.model.export_records import ExportedMessage, ImportBatch
from bridge.model.refs import message_id_of
from bridge.store import SqliteStore, erasing, open_sqlite
from bridge.testing.clock import ManualClock
from bridge.testing.export_contract import write_all
from bridge.testing.memory_blobs import MemoryBlobs
from bridge.uacs import FilePart, MediaSource
from tests.app.running import cli
from tests.archive.conversation import ANN, HOME, a_conversation, exported

FIRST = message_id_of(HOME, "1")


def archive(*args: object) -> Result:
    return cli("archive", *map(str, args))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with the small conversation."""
    lines, path = tmp_path / "in.jsonl", tmp_path / "archive.sqlite3"
    write_all(UacsLines(), a_conversation(), lines, "tin")
    assert archive("import", lines, "--store", path).exit_code == 0
    lines.unlink()
    return path


def shown(store: Path, tmp_path: Path) -> str:
    out = tmp_path / "out.jsonl"
    archive("export", out, "--format", "uacs-lines", "--store", store, "--deleted")
    text = out.read_text("utf-8")
    out.unlink()
    out.with_name("out.jsonl.sha256").unlink()
    return text


def contents(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


def test_without_yes_an_erasure_is_only_counted(store: Path, tmp_path: Path) -> None:
    before = shown(store, tmp_path)

    result = archive("erase", "message", FIRST, "--store", store)

    assert "This would be erased:\n         1 messages" in result.output
    assert "the same command with --yes" in result.output
    assert shown(store, tmp_path) == before


def test_an_erased_message_is_in_no_file_and_the_erasure_is_listed(
    store: Path, tmp_path: Path
) -> None:
    assert "message 1" in shown(store, tmp_path)

    result = archive("erase", "message", FIRST, "--yes", "--store", store, "--reason", "by mail")

    assert result.exit_code == 0, result.output
    assert "message 1" not in shown(store, tmp_path)
    assert all(
        b"message 1" not in file.read_bytes() for file in tmp_path.iterdir() if file.is_file()
    )
    (listed,) = json.loads(archive("erasures", "--store", store, "--json").stdout)
    assert (listed["subject"], listed["reason"], listed["cleaned"]) == ("message", "by mail", True)
    assert "by mail" in archive("erasures", "--store", store).output


def test_a_message_is_erased_by_its_link(store: Path, tmp_path: Path) -> None:
    link = "https://chat.test/W1/home/1?from=a-reader"

    counted = archive("erase", "message", link, "--store", store)
    erased = archive("erase", "message", link, "--yes", "--store", store)

    assert counted.exit_code == erased.exit_code == 0, erased.output
    assert f"The message is {FIRST}" in counted.stdout
    assert "message 1" not in shown(store, tmp_path)


def test_a_link_that_names_several_messages_erases_none(store: Path, tmp_path: Path) -> None:
    again = exported(1, channel=ChannelRef(platform="tin", workspace="W1", channel="other"))

    async def add() -> None:
        opened = await open_sqlite(store, clock=ManualClock(), key=None)
        await opened.add_imported(ImportBatch("tin", "tin", messages=(again,)))
        await opened.close()

    asyncio.run(add())
    result = archive("erase", "message", "1", "--yes", "--store", store)

    assert result.exit_code == 1
    named = f"{FIRST}, {again.posted.message.message_id}"
    assert f"'1' names 2 messages; write the id of one: {named}" in result.output
    assert "message 1" in shown(store, tmp_path)


def test_a_person_is_erased_by_name(store: Path, tmp_path: Path) -> None:
    result = json.loads(
        archive("erase", "person", "tin:Ann", "--yes", "--store", store, "--json").stdout
    )

    assert result["counts"]["messages"] == 5
    assert result["erased"]
    assert ANN.id not in shown(store, tmp_path)
    assert ANN.name not in shown(store, tmp_path).replace("Annex", "")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("erase", "message", "tin:W1:home:99"), "has no message 'tin:W1:home:99'"),
        (("erase", "person", "Nobody"), "Nobody called 'Nobody' is known"),
        (("erase", "person", "tin:W1:U99"), "nothing of 'tin:W1:U99'"),
        (("hold", "remove", "x"), "no legal hold 'x'"),
        (("hold", "add", "x", "--reason", "r", "--channel", "c"), "'c' is no key of a channel"),
        (("hold", "add", "x", "--reason", "r", "--since", "May"), "'May' is no time"),
    ],
)
def test_mistakes_are_named(store: Path, args: tuple[str, ...], said: str) -> None:
    result = archive(*args, "--store", store)

    assert result.exit_code in (1, 2)
    assert said in result.output.replace("\n", " ")


def test_no_store_is_made_by_an_erasure(tmp_path: Path) -> None:
    result = archive("erase", "message", FIRST, "--store", tmp_path / "none.sqlite3")

    assert "There is no store" in result.output
    assert not list(tmp_path.iterdir())


def test_a_hold_is_listed_protects_and_ends(store: Path) -> None:
    archive("hold", "add", "case-17", "--person", "Ann", "--reason", "lawsuit", "--store", store)

    refused = archive("erase", "person", "Ann", "--yes", "--store", store)
    listed = archive("hold", "list", "--store", store)
    ended = archive("hold", "remove", "case-17", "--store", store)
    erased = archive("erase", "person", "Ann", "--yes", "--store", store)

    assert refused.exit_code == 1
    assert "legal hold 'case-17' (lawsuit)" in refused.output.replace("\n", " ")
    assert "case-17" in listed.output
    assert ANN.id in listed.output
    assert (ended.exit_code, erased.exit_code) == (0, 0)


# --- with a running bridge --------------------------------------------------------------------


@pytest.fixture
async def running(store: Path) -> AsyncIterator[tuple[Bridge, Path]]:
    """A bridge without accounts on the store, which commands reach."""
    bridge = await build(settings_of({"store": {"path": str(store)}}))
    control = ControlAccess.new()
    server = WebServer(web_app(bridge, control), "127.0.0.1", 0)
    await server.start()
    control.open(store, server.url)
    yield bridge, store
    control.close()
    await server.stop()
    await bridge.close()


async def test_a_running_bridge_erases_and_takes_holds(running: tuple[Bridge, Path]) -> None:
    bridge, store = running

    counted = await asyncio.to_thread(archive, "erase", "message", FIRST, "--store", store)
    await asyncio.to_thread(
        archive, "hold", "add", "h", "--reason", "r", "--channel", HOME.key, "--store", store
    )
    refused = await asyncio.to_thread(archive, "erase", "message", FIRST, "--yes", "--store", store)
    await asyncio.to_thread(archive, "hold", "remove", "h", "--store", store)
    erased = await asyncio.to_thread(archive, "erase", "message", FIRST, "--yes", "--store", store)

    assert "This would be erased" in counted.output
    assert "legal hold 'h'" in refused.output.replace("\n", " ")
    assert "Erased:\n         1 messages" in erased.output
    (record,) = await bridge.store.erasures()
    assert record.cleaned
    assert b"message 1" not in contents(store.parent)


# --- stopped in the middle --------------------------------------------------------------------


@pytest.fixture
async def archived(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = await open_sqlite(tmp_path / "a.sqlite3", clock=ManualClock(), key=None)
    await store.add_imported(ImportBatch("tin", "tin", messages=(exported(1), exported(2))))
    yield store
    await store.close()


@pytest.mark.parametrize("step", range(len(erasing.STEPS)))
async def test_an_erasure_that_fails_at_any_step_is_undone(
    archived: SqliteStore, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    def fail(_work: object) -> None:
        raise StoreError("no room")

    def dump() -> dict[str, list[tuple[object, ...]]]:
        with closing(sqlite3.connect(archived.path)) as db:
            tables = db.execute(
                "SELECT name FROM sqlite_master"
                " WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
            ).fetchall()
            return {name: db.execute(f'SELECT * FROM "{name}"').fetchall() for (name,) in tables}

    before = dump()
    steps = (*erasing.STEPS[: step + 1], fail)
    monkeypatch.setattr(erasing, "STEPS", steps)
    with pytest.raises(StoreError, match="no room"):
        await archived.erase(Erasure("e", "op", "", actors=(ANN.id,)))

    assert dump() == before


async def test_the_file_of_an_erased_message_is_removed_unless_another_message_has_it(
    archived: SqliteStore,
) -> None:
    blobs = MemoryBlobs(ManualClock())
    own, shared = [(await blobs.put(pieces(word), limit=9)).file_id for word in (b"own", b"shared")]
    first, second = with_files(21, own, shared), with_files(22, shared)
    await archived.add_imported(ImportBatch("tin", "tin", messages=(first, second)))

    await erase(
        archived, blobs, Erasure("e", "op", "", message=message_id_of(HOME, "21")),
        alone=True,
    )  # fmt: skip

    assert await blobs.stat(own) is None
    assert await blobs.stat(shared) is not None


async def pieces(content: bytes) -> AsyncIterator[bytes]:
    yield content


def with_files(number: int, *ids: str) -> ExportedMessage:
    message = exported(number)
    parts = tuple(FilePart(source=MediaSource(file_id=i), media_type="text/plain") for i in ids)
    whole = message.posted.message.model_copy(update={"content": parts})
    return replace(message, posted=message.posted.model_copy(update={"message": whole}))


async def test_clean_up_goes_on_where_it_failed(
    archived: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    blobs = MemoryBlobs(ManualClock())

    async def fail(*, alone: bool) -> bool:
        del alone
        raise StoreError("busy")

    with monkeypatch.context() as failing:
        failing.setattr(archived, "overwrite_freed", fail)
        _, cleaned = await erase(archived, blobs, Erasure("e", "op", "", message=FIRST), alone=True)
        assert not cleaned
        assert not await clean_up(archived, blobs, alone=True)
    assert await clean_up(archived, blobs, alone=True)
    assert (await archived.erasures())[0].cleaned
