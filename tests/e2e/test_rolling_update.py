"""Processes are updated one after the other, to a version that changes the schema, and one back
again: nothing is lost, doubled or out of order."""

from __future__ import annotations

import asyncio
import random
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from bridge.app.settings.store import StoreSettings
from bridge.store.postgresql import schema
from bridge.store.postgresql.address import connect
from tests.e2e.processes import ROOT, BridgeProcess
from tests.e2e.reckoning import reckon, settled
from tests.e2e.tally import TeamsLog, always
from tests.e2e.test_cluster import MIX, SEED, Scene, scene
from tests.e2e.traffic import Traffic
from tests.store.postgresql_server import empty_database
from tests.waiting import LONGEST_WAIT

pytestmark = pytest.mark.process

OLD = schema.newest_version()
MIGRATION = f"""-- Works with: {OLD}
ALTER TABLE inbox ADD COLUMN mood text COLLATE "C" NOT NULL DEFAULT 'calm';
"""
VERSION = """def bridge_version() -> str:
    return "next"
"""


def next_version(folder: Path) -> Path:
    """Make a checkout of a version that has one more column."""
    for name in ("bridge", "connectors"):
        shutil.copytree(ROOT / name, folder / name)
    (folder / "tests").symlink_to(ROOT / "tests")
    (folder / "bridge/runtime/version.py").write_text(VERSION)
    migrations = folder / "bridge/store/postgresql/migrations"
    (migrations / f"{OLD + 1:04}_next.sql").write_text(MIGRATION)
    return folder


def versions(here: Scene) -> set[str]:
    with closing(connect(here.database)) as db:
        return {version for (version,) in db.rows("SELECT version FROM processes")}


async def replace(here: Scene, process: BridgeProcess, checkout: Path) -> None:
    assert await process.stop() == 0
    process.checkout = checkout
    await process.start()
    async with asyncio.timeout(LONGEST_WAIT):
        while await process.health() is None:
            assert process.process is not None
            assert process.process.returncode is None, process.log.read_text()[-3000:]
            await asyncio.sleep(0.05)
    await here.cluster.connected(60)


@pytest.mark.timeout(200)
async def test_an_update_of_one_process_after_the_other_loses_and_reorders_nothing(
    tmp_path: Path,
) -> None:
    newer = next_version(tmp_path / "next")
    async with scene(tmp_path, count=2, database=empty_database("update")) as here:
        first, second = here.cluster.processes
        traffic = Traffic(here.local, here.rooms, random.Random(SEED), MIX)
        log, store = TeamsLog(here.local), StoreSettings(url=here.database.url)
        await traffic.one_each()
        await settled(here.local, traffic, here.cluster, log, always, 60, store)
        (own_version,) = versions(here)
        updates = ((first, newer, 2), (second, newer, 1), (second, ROOT, 2))
        for process, checkout, different in updates:
            acting = asyncio.create_task(traffic.act(20, 0.1))
            await replace(here, process, checkout)
            assert len(versions(here)) == different
            await acting
        assert versions(here) == {own_version, "next"}
        result = await reckon(
            here.local, traffic, here.cluster, log, always, seconds=60, store=store
        )
    print(f"\n{len(traffic.posts)} posts, one process after the other: {result}")
    result.hold(unproved_per_lane=0)
