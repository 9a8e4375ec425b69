"""A bridge whose store is a PostgreSQL database relays, and goes on after the server went away."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bridge.app.opening import open_to_read
from bridge.app.settings.store import StoreSettings
from bridge.runtime.clock import SystemClock
from bridge.store.postgresql.address import Address, connect
from tests.e2e.local_sandbox import PLATFORMS, Sandbox, configuration, local_sandbox, running
from tests.store.postgresql_server import empty_store

_END_CONNECTIONS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


@pytest.fixture
def database() -> Address:
    return empty_store()


def settings_for(local: Sandbox, folder: Path, database: Address) -> dict[str, Any]:
    settings = configuration(local, folder / "bridge.sqlite3")
    settings["store"]["url"] = database.url
    return settings


async def shown_once(local: Sandbox, *texts: str) -> None:
    def counts() -> list[int]:
        return [
            sum(text in message.text for message in local.standing(platform, "general"))
            for platform in PLATFORMS
            for text in texts
        ]

    await local.until(lambda: all(counts()))
    assert counts() == [1] * len(counts())


async def test_messages_are_relayed_and_archived_over_a_restart(
    tmp_path: Path, database: Address
) -> None:
    async with local_sandbox() as local:
        settings = settings_for(local, tmp_path, database)
        for text in ("before the restart", "behind the restart"):
            async with running(local, settings):
                for platform in PLATFORMS:
                    await local.say(platform, "general", f"{text}, {platform}")
                await shown_once(local, *(f"{text}, {platform}" for platform in PLATFORMS))
        assert not (tmp_path / "bridge.sqlite3").exists()

        store = await open_to_read(
            StoreSettings(path=tmp_path / "bridge.sqlite3", url=database.url), SystemClock()
        )
        status = await store.status()
        faults = (await store.verify_chain({})).faults
        await store.close()
        assert status.messages == 2 * len(PLATFORMS)
        assert not {"failed", "waiting"} & set(status.inbox)
        assert set(status.outbox) == {"done"}
        assert faults == []


async def test_nothing_is_lost_or_doubled_when_the_server_ends_every_connection(
    tmp_path: Path, database: Address
) -> None:
    async with (
        local_sandbox() as local,
        running(local, settings_for(local, tmp_path, database)),
    ):
        texts: list[str] = []
        for number in range(3):
            texts += [f"{number} of {platform}!" for platform in PLATFORMS]
            for platform in PLATFORMS:
                await local.say(platform, "general", f"{number} of {platform}!")
            with closing(connect(database)) as db:
                list(db.rows(_END_CONNECTIONS))
        await shown_once(local, *texts)
