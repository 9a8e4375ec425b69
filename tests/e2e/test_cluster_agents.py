"""An agent whose turns run in one process is asked, followed and stopped through others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.app.build import Bridge
from bridge.model import AccountId, ChannelRef, message_id_of
from bridge.model.assignments import account_assignment, agent_assignment
from bridge.store.postgresql.address import Address
from bridge.store.seal import load_or_make_key
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running
from tests.store.postgresql_server import empty_store

PLATFORMS = ("slack", "discord", "teams")
ECHO = agent_assignment("echo")


@dataclass
class Pair:
    """Two processes' bridges: `with_agent` runs the turns, `other` works for `platform`."""

    sandbox: Sandbox
    with_agent: Bridge
    other: Bridge
    platform: str
    database: Address


@asynccontextmanager
async def pair(folder: Path, *, pace: float) -> AsyncGenerator[Pair]:
    database = empty_store()
    load_or_make_key(folder / "bridge.key")
    async with local_sandbox(names=PLATFORMS) as local:
        settings: dict[str, Any] = configuration(local, folder / "bridge.sqlite3")
        settings["agents"]["echo"]["pace"] = pace
        settings["store"]["url"] = database.url
        settings["cluster"] = {"nats": None}
        first, second = (running(local, settings, wait=False) for _ in range(2))
        (one, _), (two, _) = await asyncio.gather(first.__aenter__(), second.__aenter__())
        try:
            await local.until(lambda: all(_works(name, one, two) for name in PLATFORMS))
            await local.until(lambda: owns_agent(one) or owns_agent(two))
            await local.until(lambda: _connected(one, two))
            with_agent, other = (one, two) if owns_agent(one) else (two, one)
            there = [name for name in PLATFORMS if _works(name, other)]
            yield Pair(local, with_agent, other, (there or PLATFORMS)[0], database)
        finally:
            await asyncio.gather(
                first.__aexit__(None, None, None), second.__aexit__(None, None, None)
            )


def owns_agent(bridge: Bridge) -> bool:
    return bridge.member is not None and bridge.member.owns(ECHO)


def _works(platform: str, *bridges: Bridge) -> bool:
    part = account_assignment(AccountId(platform))
    return any(bridge.member is not None and bridge.member.owns(part) for bridge in bridges)


def _connected(*bridges: Bridge) -> bool:
    owned = [
        connector.abilities.health.current().state
        for bridge in bridges
        for name, connector in bridge.connectors.items()
        if _works(name, bridge) and connector.abilities.health is not None
    ]
    return all(state in ("connected", "listening") for state in owned)


async def test_an_agent_answers_questions_that_another_process_heard(tmp_path: Path) -> None:
    async with pair(tmp_path, pace=0.0) as two:
        local = two.sandbox
        await local.say(two.platform, "general", "@echo one two three")

        def answers(platform: str) -> int:
            said = [message.text for message in local.standing(platform, "general")]
            return sum("this is what reached me" in text for text in said)

        await local.until(lambda: all(answers(name) for name in PLATFORMS))
        assert {name: answers(name) for name in PLATFORMS} == dict.fromkeys(PLATFORMS, 1)


async def test_a_turn_is_stopped_through_another_process(tmp_path: Path) -> None:
    async with pair(tmp_path, pace=0.5) as two:
        local = two.sandbox
        native = await local.say(two.platform, "general", f"@echo {'word ' * 200}")
        workspace, channel = local.place(two.platform, "general")
        place = ChannelRef(platform=two.platform, workspace=workspace, channel=channel)
        turns = two.with_agent.router.parts.turns.queue
        await local.until(lambda: not turns.idle)

        await two.other.router.operations.cancel(message_id_of(place, native))

        await local.until(lambda: turns.idle)
