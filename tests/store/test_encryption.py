"""An encrypted store does all that a store does, and its files say nothing without the key."""

from __future__ import annotations

import io
import random
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path

import pytest

from bridge.errors import ConfigError, FileDamaged, StoreError
from bridge.model.archive_records import channel_timeline
from bridge.model.export_records import ImportBatch
from bridge.store import SqliteStore, maintenance, open_sqlite, open_sqlite_to_read, vault
from bridge.store import blobs as of_blobs
from bridge.store.blobs import open_blobs, open_stored
from bridge.store.encrypted_files import HEAD, MAGIC, DecryptedFile, Encryptor, plain_size
from bridge.store.engine import errors
from bridge.store.schema import open_to_write
from bridge.store.vault import (
    NEW_VARIABLE,
    VARIABLE,
    data_key_of,
    files_key_of,
    is_encrypted,
    vault_of,
)
from bridge.testing.clock import ManualClock
from bridge.testing.store_contract import HOME, StoreContract, admit, new_message
from tests.archive.conversation import exported
from tests.store.conftest import KEY

pytest.importorskip("sqlcipher3", reason="sqlcipher3 is not installed")

USERS_KEY = "correct horse battery staple"
WORDS = (b"quicksilver", b"Annabelle", b"payloadword", b"filewords")


@pytest.fixture(autouse=True)
def users_key(monkeypatch: pytest.MonkeyPatch) -> None:
    use_key(monkeypatch)


def use_key(patched: pytest.MonkeyPatch) -> None:
    patched.setenv(VARIABLE, USERS_KEY)
    patched.setitem(vault.SCRYPT, "n", 2)  # 0.1 s each is for real keys


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty encrypted store to copy from: its migrations cost more than a test."""
    path = tmp_path_factory.mktemp("encrypted") / "data" / "bridge.sqlite3"
    with pytest.MonkeyPatch.context() as patched:
        use_key(patched)
        maintenance.create(path)
        maintenance.encrypt(path)
    return path


@pytest.fixture
def encrypted(path: Path, empty: Path) -> Path:
    """An empty encrypted store."""
    shutil.copytree(empty.parent, path.parent)
    return path


class TestEncryptedStore(StoreContract):
    """The contract of every store, kept by an encrypted one."""

    @pytest.fixture
    async def store(self, encrypted: Path, clock: ManualClock) -> AsyncIterator[SqliteStore]:
        store = await open_sqlite(encrypted, clock=clock, key=KEY)
        yield store
        await store.close()


async def filled(path: Path) -> str:
    """A store with words in every part, and the id of its file."""
    store = await open_sqlite(path, clock=ManualClock(), key=KEY)
    timelines = (channel_timeline(HOME),)
    await admit(store, new_message("m1", "quicksilver by Annabelle"), timelines=timelines)
    batch = ImportBatch("tin", "tin", messages=(exported(7, text="payloadword quicksilver"),))
    await store.add_imported(batch)
    await store.close()
    blobs = await open_blobs(
        path.with_suffix(".blobs"), clock=ManualClock(), key=files_key_of(path)
    )

    async def chunks() -> AsyncIterator[bytes]:
        yield b"filewords " * 20_000

    ref = await blobs.put(chunks(), limit=1_000_000)
    await blobs.close()
    return ref.file_id


def remains(path: Path) -> set[bytes]:
    """The words that are in any file of the store."""
    files = [file for file in path.parent.rglob("*") if file.is_file()]
    return {word for word in WORDS for file in files if word in file.read_bytes()}


async def read_back(path: Path, file_id: str) -> None:
    """Everything is there, with its chain."""
    store = await open_sqlite(path, clock=ManualClock(), key=KEY)
    try:
        message = await store.message(new_message("m1").id)
        assert message
        assert "quicksilver" in message.message.model_dump_json()
        assert (await store.verify_chain({})).faults == []
    finally:
        await store.close()
    file = open_stored(path.with_suffix(".blobs"), files_key_of(path), file_id)
    assert file
    with closing(file):
        assert file.read() == b"filewords " * 20_000


async def test_nothing_can_be_read_in_the_files_of_an_encrypted_store(
    encrypted: Path, clock: ManualClock
) -> None:
    file_id = await filled(encrypted)

    assert remains(encrypted) == set()
    await read_back(encrypted, file_id)
    store = await open_sqlite(encrypted, clock=clock, key=KEY)  # and with a write-ahead log
    await admit(store, new_message("m2", "quicksilver"), timelines=(channel_timeline(HOME),))
    assert remains(encrypted) == set()
    await store.close()


async def test_an_existing_store_is_encrypted_and_decrypted_whole(path: Path) -> None:
    file_id = await filled(path)
    assert remains(path) >= {b"filewords", b"quicksilver"}

    assert maintenance.encrypt(path) == 1
    assert is_encrypted(path)
    assert remains(path) == set()
    await read_back(path, file_id)
    assert maintenance.encrypt(path) == 0

    assert maintenance.decrypt(path) == 1
    assert not is_encrypted(path)
    assert not vault_of(path).exists()
    await read_back(path, file_id)
    with pytest.raises(StoreError, match="is not encrypted"):
        maintenance.decrypt(path)


async def test_a_new_key_opens_the_store_and_the_old_one_does_not(
    encrypted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file_id = await filled(encrypted)
    monkeypatch.setenv(NEW_VARIABLE, "another key of a user")

    maintenance.change_key(encrypted)

    with pytest.raises(StoreError, match=f"The key in {VARIABLE} does not open"):
        await open_sqlite(encrypted, clock=ManualClock(), key=KEY)
    monkeypatch.setenv(VARIABLE, "another key of a user")
    await read_back(encrypted, file_id)


@pytest.mark.parametrize(
    ("key", "error", "what"),
    [
        ("", StoreError, f"is encrypted; set {VARIABLE}"),
        ("short", ConfigError, "has 5 characters; a key needs 16"),
        ("a key that is another one", StoreError, "give the key with which the store"),
    ],
)
async def test_without_the_right_key_the_error_says_what_to_set(
    encrypted: Path, monkeypatch: pytest.MonkeyPatch, key: str, error: type[Exception], what: str
) -> None:
    monkeypatch.setenv(VARIABLE, key)

    with pytest.raises(error, match=what):
        await open_sqlite(encrypted, clock=ManualClock(), key=KEY)
    with pytest.raises(error, match=what):
        await open_sqlite_to_read(encrypted, clock=ManualClock(), key=KEY)


async def test_the_key_can_be_in_a_file(
    encrypted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "key"
    secret.write_text(f"{USERS_KEY}\n")
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setenv(f"{VARIABLE}_FILE", str(secret))

    assert data_key_of(encrypted) is not None
    monkeypatch.setenv(f"{VARIABLE}_FILE", str(tmp_path / "none"))
    with pytest.raises(ConfigError, match="cannot be read"):
        data_key_of(encrypted)


@pytest.mark.parametrize("contents", [b"", b"{}", b"[]", b'{"version": 1, "salt": "!"}', b"\xff"])
def test_a_damaged_vault_is_told(encrypted: Path, contents: bytes) -> None:
    vault_of(encrypted).write_bytes(contents)

    with pytest.raises(StoreError, match="is damaged; put its copy from a backup there"):
        data_key_of(encrypted)


async def test_a_backup_is_encrypted_and_can_be_restored(encrypted: Path, tmp_path: Path) -> None:
    file_id = await filled(encrypted)
    backup = tmp_path / "backups" / "b.sqlite3"

    maintenance.backup(encrypted, backup)
    assert is_encrypted(backup)
    assert remains(backup) == set()
    aside = maintenance.restore(backup, encrypted)

    await read_back(encrypted, file_id)
    assert aside
    assert is_encrypted(aside)
    assert data_key_of(aside) == data_key_of(encrypted)


STEPS: list[tuple[str, str]] = [
    ("write_vault", "before"), ("_convert", "before"), ("_overwrite", "before"),
    ("_convert", "after"), ("recrypt", "before"), ("recrypt", "after"),
]  # fmt: skip


@pytest.mark.parametrize(("step", "when"), STEPS)
@pytest.mark.parametrize("to_encrypted", [True, False])
async def test_an_interrupted_call_is_finished_by_the_next_one(
    path: Path, step: str, when: str, to_encrypted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    file_id = await filled(path)
    if not to_encrypted:
        maintenance.encrypt(path)
    change = maintenance.encrypt if to_encrypted else maintenance.decrypt
    whole: Callable[..., object] = getattr(maintenance, step)

    def cut(*arguments: object, **options: object) -> object:
        if when == "after":
            whole(*arguments, **options)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(maintenance, step, cut)
        try:
            change(path)
        except KeyboardInterrupt:
            pass
        else:
            assert (step, to_encrypted) == ("write_vault", False)  # it is not written then
    if is_encrypted(path) or to_encrypted:
        await read_back(path, file_id)

    if is_encrypted(path) != to_encrypted or to_encrypted:
        change(path)

    assert is_encrypted(path) == to_encrypted
    await read_back(path, file_id)
    if to_encrypted:
        assert remains(path) == set()


def test_errors_of_both_engines_are_translated(encrypted: Path) -> None:
    with closing(open_to_write(encrypted, checked=True)) as db, pytest.raises(errors()):
        db.execute("SELECT nonsense")


# --- files ------------------------------------------------------------------------------------


def sealed(plain: bytes, *, pieces: int = 7000) -> bytes:
    encryptor = Encryptor(KEY)
    chunks = [encryptor.update(plain[at : at + pieces]) for at in range(0, len(plain), pieces)]
    return b"".join([encryptor.head, *chunks, encryptor.finish()])


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537, 131_072, 200_000])
def test_a_file_comes_back_from_any_place(size: int) -> None:
    plain = random.Random(size).randbytes(size)
    stored = sealed(plain)
    file = DecryptedFile(io.BytesIO(stored), KEY, "f")

    assert stored.startswith(MAGIC)
    assert plain_size(len(stored)) == size == file.seek(0, io.SEEK_END)
    for start in {0, size // 2, max(size - 1, 0), size}:
        file.seek(start)
        assert file.read(70_000) == plain[start : start + 70_000]
    file.seek(0)
    assert file.read() == plain


@pytest.mark.parametrize(
    "harm",
    [
        lambda stored: stored[:-1],
        lambda stored: stored[: HEAD + 65_552],  # a whole chunk is cut off
        lambda stored: stored[: HEAD + 30] + bytes([stored[HEAD + 30] ^ 1]) + stored[HEAD + 31 :],
        lambda stored: stored[:HEAD] + stored[HEAD + 65_552 : HEAD + 2 * 65_552]
        + stored[HEAD : HEAD + 65_552] + stored[HEAD + 2 * 65_552 :],
        lambda stored: stored[:10] + b"!" + stored[11:],  # another salt
        lambda stored: stored + stored[HEAD:],
    ],
)  # fmt: skip
def test_a_changed_file_is_damaged(harm: Callable[[bytes], bytes]) -> None:
    stored = harm(sealed(bytes(150_000)))

    with pytest.raises(FileDamaged, match="'f' is damaged"):
        DecryptedFile(io.BytesIO(stored), KEY, "f").read()


async def test_files_of_before_the_encryption_are_read_too(path: Path) -> None:
    file_id = await filled(path)
    blobs = await open_blobs(path.with_suffix(".blobs"), clock=ManualClock(), key=KEY)

    async with blobs.open(file_id, start=5, end=12) as pieces:
        assert b"".join([piece async for piece in pieces]) == b"ords fi"
    assert (await blobs.stat(file_id)).size == 200_000  # type: ignore[union-attr]
    of_blobs.recrypt(blobs.folder, KEY, encrypt=True)
    async with blobs.open(file_id, start=5, end=12) as pieces:
        assert b"".join([piece async for piece in pieces]) == b"ords fi"
    assert (await blobs.stat(file_id)).size == 200_000  # type: ignore[union-attr]
    await blobs.close()
