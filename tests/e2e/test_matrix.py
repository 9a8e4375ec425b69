"""Each event of the table reaches each platform as the table says."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import get_args

import pytest
import pytest_asyncio

from bridge.app.build import Bridge
from bridge.model import Event
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running
from tests.e2e.matrix import ASIDES, EVENTS, KINDS, PAGE, ROWS, page
from tests.e2e.scene import PLATFORMS, ROOMS, Row, Scene, away

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox(
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncGenerator[tuple[Sandbox, Bridge]]:
    """Rooms with two channels of each platform, which lie in different workspaces."""
    async with local_sandbox(channels=len(ROOMS), limits=False) as local:
        store = tmp_path_factory.mktemp("matrix") / "bridge.sqlite3"
        settings = configuration(local, store, channels=list(ROOMS.values()))
        settings["files"] = {"allow_loopback": True}
        accounts: dict[str, str] = {}
        for platform in PLATFORMS:
            app = local.app_in(platform, away(local, platform, "general")[0])
            accounts[platform] = f"{platform}-{app}" if app else platform
            settings["accounts"][accounts[platform]] = local.account(platform, app)
        for name, room in settings["rooms"].items():
            room["announce"] = ["topics", "names", "polls", "threads", "joins"]
            room["members"] += [
                dict(zip(("workspace", "channel"), away(local, platform, name), strict=True))
                | {"account": accounts[platform]}
                for platform in PLATFORMS
            ]
        async with running(local, settings) as (bridge, _):
            yield local, bridge


@pytest.mark.parametrize(
    ("row", "origin"),
    [
        pytest.param(row, origin, id=f"{row.name}-{origin}")
        for row in ROWS
        for origin in PLATFORMS
        if origin not in row.lacks
    ],
)
async def test_the_event_has_its_documented_effect_on_every_platform(
    sandbox: tuple[Sandbox, Bridge], row: Row, origin: str
) -> None:
    local, bridge = sandbox
    scene = Scene(local, origin, row.rooms.get(origin, ""))

    await row.do_at(origin)(scene)
    for there in PLATFORMS:
        if there not in row.cannot:
            await local.until(lambda there=there: row.holds_at(there)(scene, there))

    assert await bridge.store.dead_letters() == []


async def test_every_kind_of_event_is_in_the_tables() -> None:
    kinds = {kind.model_fields["type"].default for kind in get_args(get_args(Event)[0])}
    asides = [one.event for one in ASIDES]

    assert sorted([*EVENTS, *asides]) == sorted(kinds)
    assert set(EVENTS.values()) <= {row.name for row in ROWS}
    for one in (*ASIDES, *KINDS):
        file, _, test = one.test.partition("::")
        assert f"def {test}(" in (ROOT / file).read_text(), one.test


async def test_every_cell_is_tested_or_has_a_reason() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)
    for row in ROWS:
        for reasons in (row.lacks, row.cannot, row.shown_as):
            assert reasons.keys() <= set(PLATFORMS), row.name
            assert all(reasons.values()), row.name
        assert not row.cannot.keys() & row.shown_as.keys(), row.name


async def test_docs_features_is_generated_from_the_table() -> None:
    assert PAGE.read_text() == page(), "python -m tests.e2e.matrix"
