"""Secrets on disk: unreadable without the key, and never lost by a wrong one."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from bridge.errors import ConfigError, StoreError
from bridge.store import SqliteStore, load_or_make_key, open_sqlite, text_to_key
from bridge.store.seal import Seal, key_to_text
from bridge.testing.clock import ManualClock
from bridge.testing.store_contract import ACME, raw
from tests.store.conftest import KEY

SECRET = "xoxb-very-secret"


async def test_no_file_of_the_store_contains_a_plain_secret(store: SqliteStore, path: Path) -> None:
    await store.accept(raw(1, credentials={"/token": SECRET}), advance=False)
    await store.put_value(ACME, "hook", SECRET, sealed=True)
    await store.put_credential("token", SECRET)
    await store.put_value(ACME, "open", "in clear")

    contents = b"".join(file.read_bytes() for file in path.parent.iterdir())

    assert SECRET.encode() not in contents
    assert b"in clear" in contents


async def test_a_wrong_key_opens_no_secret_and_destroys_none(
    store: SqliteStore, path: Path, clock: ManualClock
) -> None:
    await store.put_credential("token", SECRET)
    await store.close()

    with pytest.raises(StoreError, match="start with the key that sealed it"):
        await open_sqlite(path, clock=clock, key=bytes(32))

    again = await open_sqlite(path, clock=clock, key=KEY)
    assert await again.credential("token") == SECRET
    await again.close()


async def test_without_a_key_everything_but_secrets_works(
    store: SqliteStore, path: Path, clock: ManualClock
) -> None:
    await store.put_credential("token", SECRET)
    await store.put_value(ACME, "open", "in clear")
    await store.close()

    keyless = await open_sqlite(path, clock=clock, key=None)

    assert await keyless.get_value(ACME, "open") == "in clear"
    with pytest.raises(StoreError, match="UACS_BRIDGE_KEY"):
        await keyless.credential("token")
    with pytest.raises(StoreError, match="UACS_BRIDGE_KEY"):
        await keyless.put_credential("other", SECRET)
    with pytest.raises(StoreError, match="UACS_BRIDGE_KEY"):
        await keyless.put_value(ACME, "hook", SECRET, sealed=True)
    row = await keyless.accept(raw(1, credentials={"/token": SECRET}), advance=False)
    assert row is not None
    assert await keyless.payload_credentials(row.id) == {}
    await keyless.close()


async def test_a_sealed_value_opens_only_under_its_own_name(store: SqliteStore) -> None:
    await store.put_credential("a", SECRET)
    await store.put_credential("b", "other")
    assert store.writer is not None
    await store.writer.run(
        lambda db: (
            db.execute(
                "UPDATE credentials SET sealed = (SELECT sealed FROM credentials WHERE name = 'a')"
            ).rowcount
        )
    )

    assert await store.credential("a") == SECRET
    with pytest.raises(StoreError, match="'b'"):
        await store.credential("b")


def test_sealing_a_text_twice_gives_different_bytes_that_both_open() -> None:
    seal = Seal(KEY)

    sealed = [seal.close(SECRET, "this") for _ in range(2)]

    assert sealed[0] != sealed[1]
    assert [seal.open(sealed_value, "this") for sealed_value in sealed] == [SECRET, SECRET]


@pytest.mark.parametrize(
    "damaged", [b"", b"\x01", b"\x01" + bytes(11), b"\x01" + bytes(40), b"\x02x"]
)
def test_damaged_secrets_are_errors(damaged: bytes) -> None:
    with pytest.raises(StoreError, match="The thing"):
        Seal(KEY).open(damaged, "The thing")


def test_a_key_file_is_created_once_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "data" / "bridge.key"

    key = load_or_make_key(path)

    assert len(key) == 32
    assert load_or_make_key(path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert text_to_key(path.read_text()) == key


@pytest.mark.parametrize("text", ["", "short", SECRET, "ü" * 44, key_to_text(KEY)[:-4]])
def test_an_invalid_key_is_refused_and_not_printed(text: str) -> None:
    with pytest.raises(ConfigError, match="32 bytes") as caught:
        text_to_key(text)

    assert not text or text not in str(caught.value)


def test_a_key_of_a_wrong_length_is_refused() -> None:
    with pytest.raises(ConfigError, match="not 5"):
        Seal(b"short")
