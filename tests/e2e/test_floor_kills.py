"""kill -9 while a guest is invited, and while it says good-bye: after the start the floor is as it
must be, and nothing is said twice."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.floor_peer import floor_peer
from tests.e2e.processes import (
    BridgeProcess,
    SandboxProcess,
    Spot,
    bridge_beside,
    rooms_across,
    sandbox_beside,
)
from tests.waiting import LONGEST_WAIT


@dataclass
class Kiosk:
    """A room with a host, and a guest to whom it connects people."""

    local: SandboxProcess
    bridge: BridgeProcess
    spot: Spot
    log: Path
    folder: Path

    async def say(self, text: str) -> None:
        await self.local.say(self.spot, self.spot.people[0], text)

    async def count(self, words: str) -> int:
        return sum(words in message.text for message in await self.local.standing(self.spot))

    async def until(self, words: str, times: int = 1) -> None:
        async with asyncio.timeout(LONGEST_WAIT):
            while await self.count(words) < times:  # noqa: ASYNC110 - another program
                await asyncio.sleep(0.02)

    def heard(self) -> list[list[str]]:
        """The kinds of the events that the guest got, by envelope."""
        envelopes = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [[event["eventType"] for event in one["events"]] for one in envelopes]

    async def until_heard(self, count: int) -> None:
        async with asyncio.timeout(LONGEST_WAIT):
            while len(self.heard()) < count:  # noqa: ASYNC110 - another program
                await asyncio.sleep(0.02)

    def let(self, name: str) -> None:
        """Let the guest go on."""
        (self.folder / name).touch()

    def hold(self, name: str) -> None:
        (self.folder / name).unlink(missing_ok=True)


@asynccontextmanager
async def kiosk(folder: Path) -> AsyncGenerator[Kiosk]:
    guest_rules: tuple[dict[str, Any], ...] = (
        {"on": "thanks", "hold": str(folder / "bye"),
         "events": [{"eventType": "bye"}, {"say": "Farewell from the guest"}]},
        {"on": "invite", "hold": str(folder / "invite"),
         "events": [{"eventType": "acceptInvite"}, {"say": "Welcome to the guest"}]},
        {"on": "utterance", "events": [{"say": "The guest listens"}]},
    )  # fmt: skip
    async with AsyncExitStack() as stack:
        guest, log = await stack.enter_async_context(floor_peer(folder, "guest", *guest_rules))
        invite = {"eventType": "invite", "to": {"serviceUrl": guest}}
        connecting: dict[str, Any] = {"on": "connect", "events": [{"say": "I connect you"}, invite]}
        host_rules = (connecting, {"on": "hello host", "events": [{"say": "The host is here"}]})
        host, _ = await stack.enter_async_context(floor_peer(folder, "host", *host_rules))
        local = await stack.enter_async_context(sandbox_beside(channels=1, limits=False))
        parts, rooms = rooms_across(local, ("slack",))
        name, room = next(iter(parts["rooms"].items()))
        parts["agents"] = {
            agent: {"kind": "openfloor", "url": url, "private_addresses": True}
            for agent, url in (("host", host), ("guest", guest))
        }
        parts["rooms"] = {name: {**room, "agents": [
            {"agent": "host", "listen": "always"}, {"agent": "guest"}]}}  # fmt: skip
        settings = {**parts, "store": {"path": str(folder / "bridge.sqlite3")}}
        bridge = await stack.enter_async_context(bridge_beside(local, settings, folder))
        await bridge.start()
        await bridge.connected(120)
        yield Kiosk(local, bridge, rooms[0][0], log, folder)


async def test_a_kill_between_an_invitation_and_its_answer(tmp_path: Path) -> None:
    async with kiosk(tmp_path) as here:
        await here.say("please connect me")
        await here.until_heard(1)
        await here.bridge.kill()
        here.let("invite")
        await here.bridge.start()
        await here.until("Welcome to the guest")
        await here.say("hello guest")
        await here.until("The guest listens")
        times = await here.count("Welcome to the guest"), await here.count("I connect you")
        heard = here.heard()

    assert times == (1, 1)
    assert heard == [["invite"], ["invite"], ["utterance"]]  # asked again, with the same envelope


async def test_a_kill_between_a_good_bye_and_its_last_words(tmp_path: Path) -> None:
    async with kiosk(tmp_path) as here:
        here.let("invite")
        for number, pause in enumerate((None, 0.02), 1):
            before = len(here.heard())
            await here.say(f"please connect me, number {number}")
            await here.until("Welcome to the guest", number)
            await here.say("thanks")
            await here.until_heard(before + 2)
            if pause is None:  # before the guest answers; after that, while its words are kept
                await here.bridge.kill()
            here.let("bye")
            if pause is not None:
                await asyncio.sleep(pause)
                await here.bridge.kill()
            await here.bridge.start()
            await here.until("Farewell from the guest", number)
            await here.until("@guest is done", number)
            here.hold("bye")
            await here.say("hello host")
            await here.until("The host is here", number)
        await asyncio.sleep(0.3)  # for what is said too often
        counts = [
            await here.count(words)
            for words in ("Welcome to the guest", "Farewell from the guest", "@guest is done",
                          "The host is here", "could not")
        ]  # fmt: skip

    assert counts == [2, 2, 2, 2, 0]
