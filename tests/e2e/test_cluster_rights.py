"""What one process takes from people ends in all others within a second, with or without calls."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bridge.app.build import Bridge
from bridge.app.cli.commands.status import processes_of
from bridge.app.web.server import account_facts
from bridge.model import ActorId, RoomId
from bridge.model.assignments import Assignment
from bridge.model.turn_records import HandOver
from bridge.router.rooms.codes import digest_of
from bridge.router.turns.access import begin_pairing
from bridge.store.seal import load_or_make_key
from tests.e2e.local_sandbox import configuration, local_sandbox, running
from tests.e2e.servers import nats_server
from tests.store.postgresql_server import empty_store

ADA = ActorId("slack:T0ACME:U0ACME01")
ROOM = RoomId("general")
ECHO = Assignment("agent echo")


@pytest.fixture(params=["calls", "polls"])
def way(request: pytest.FixtureRequest) -> str:
    return request.param


@asynccontextmanager
async def two_bridges(folder: Path, way: str) -> AsyncGenerator[tuple[Bridge, Bridge]]:
    """Two processes' bridges over one store; `polls`: without a server for calls."""
    database = empty_store()
    load_or_make_key(folder / "bridge.key")
    async with local_sandbox() as local, nats_server() as nats:
        settings: dict[str, Any] = configuration(local, folder / "bridge.sqlite3")
        settings["store"]["url"] = database.url
        if way == "calls" and nats is None:
            pytest.skip("the program nats-server is not here")
        settings["cluster"] = {"nats": nats.url if nats and way == "calls" else None}
        async with (
            running(local, settings, wait=False) as (first, _),
            running(local, settings, wait=False) as (second, _),
        ):
            await until(lambda: len(_owned(first) | _owned(second)) == 5, 20)
            yield first, second


def _owned(bridge: Bridge) -> set[Assignment]:
    assert bridge.member is not None
    return {name for name in (ECHO, *map(_account, bridge.connectors)) if bridge.member.owns(name)}


def _account(name: str) -> Assignment:
    return Assignment(f"account {name}")


async def until(holds: Callable[[], bool], seconds: float) -> float:
    """Return after how many seconds it held."""
    began = time.monotonic()
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110 - another process, in what it knows
            await asyncio.sleep(0.01)
    return time.monotonic() - began


# Both are told within a second; a loaded machine gets the three that polls may take.
_SOON = 3.0


async def test_a_ban_and_its_end_hold_in_every_process(tmp_path: Path, way: str) -> None:
    async with two_bridges(tmp_path, way) as (first, second):
        bans = second.router.parts.rooms.bans
        await first.router.operations.set_blocked(ADA, "an admin", None, blocked=True)
        took = await until(lambda: bans.is_banned(ADA, ROOM), _SOON)
        await first.router.operations.set_blocked(ADA, "an admin", None, blocked=False)
        ended = await until(lambda: not bans.is_banned(ADA, ROOM), _SOON)
        print(f"{way}: banned after {took:.2f} s, not any more after {ended:.2f} s")


async def test_an_unpairing_holds_in_every_process(tmp_path: Path, way: str) -> None:
    async with two_bridges(tmp_path, way) as (first, second):
        paired: Any = vars(second.router.parts.turns.access)
        code = await begin_pairing(first.store, first.clock, "echo", "an admin", 5)
        assert await first.store.use_pairing_code(digest_of(code), ADA) == "paired"
        await until(lambda: (ADA, "echo") in paired["_paired"], _SOON)
        await first.router.operations.unpair(ADA, None)
        took = await until(lambda: not paired["_paired"], _SOON)
        print(f"{way}: unpaired after {took:.2f} s")


async def test_a_hand_over_holds_in_every_process(tmp_path: Path, way: str) -> None:
    async with two_bridges(tmp_path, way) as (first, second):
        held = second.router.parts.turns.hand_overs
        await first.store.hold(HandOver(ROOM, "", None, ADA, 1.0))
        took = await until(lambda: len(held.all) == 1, _SOON)
        print(f"{way}: handed over after {took:.2f} s")


async def test_both_processes_tell_whose_an_account_is(tmp_path: Path) -> None:
    async with two_bridges(tmp_path, "polls") as (first, second):
        await until(lambda: _told(first) == _told(second) and None not in _told(first).values(), 5)
        for name in first.connectors:
            states = [account_facts(one, name, ours=False)["state"] for one in (first, second)]
            assert states.count("elsewhere") == 1
        process = {first.member and first.member.process, second.member and second.member.process}
        assert {owner for owner, _ in _told(first).values()} <= process

        (running,) = [one for one in await processes_of(first.store) or () if one["assignments"]]
        assert set(running["assignments"]) >= {f"account {name}" for name in first.connectors}


def _told(bridge: Bridge) -> dict[str, tuple[Any, Any]]:
    facts = {name: account_facts(bridge, name, ours=False) for name in bridge.connectors}
    return {name: (one["process"], one["epoch"]) for name, one in facts.items()}
