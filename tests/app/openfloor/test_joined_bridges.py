"""Two bridges, each an Open Floor agent of the other's room: people on both sides hear one
another, and agents that answer one another come to an end."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from bridge.app.build import Bridge
from bridge.model import RoomId
from tests.app.api.served import ROOM, token_for
from tests.e2e.local_sandbox import configuration, local_sandbox, running
from tests.free_ports import free_port
from tests.waiting import LONGEST_WAIT


async def until_archived(bridge: Bridge, words: str) -> None:
    """Until the room has a message with these words."""
    room = bridge.rooms.by_id[RoomId(ROOM)].conversation
    async with asyncio.timeout(LONGEST_WAIT):
        while words not in str(await bridge.store.conversation(room)):  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_a_person_of_one_bridge_speaks_in_a_room_of_another(tmp_path: Path) -> None:
    async with local_sandbox(names=("slack",)) as here, local_sandbox(names=("discord",)) as there:
        far = configuration(there, tmp_path / "there.sqlite3", channels=(ROOM,))
        async with running(there, far) as (bridge, url):
            token = await token_for(bridge.store, bridge.clock, "neighbour", role="human")
            key = tmp_path / "token"
            key.write_text(token)
            near: dict[str, Any] = configuration(here, tmp_path / "here.sqlite3", channels=(ROOM,))
            near["agents"]["library"] = {
                "kind": "openfloor", "url": f"{url}/openfloor/{ROOM}", "private_addresses": True,
                "api_key": {"file": str(key)},
            }  # fmt: skip
            near["rooms"][ROOM]["agents"] = [{"agent": "library", "listen": "always"}]
            async with running(here, near):
                await here.say("slack", ROOM, "Is anybody in the library?")
                await there.until(
                    lambda: any("in the library" in m.text for m in there.standing("discord", ROOM))
                )
                await there.say("discord", ROOM, "Yes, I am!")
                await until_archived(bridge, "Yes, I am!")
                await here.say("slack", ROOM, "Wonderful")
                await here.until(
                    lambda: any("Yes, I am!" in m.text for m in here.standing("slack", ROOM))
                )

            (heard,) = [m for m in there.standing("discord", ROOM) if "in the library" in m.text]
            assert heard.author.endswith("(neighbour)")


async def test_bridges_that_are_agents_of_one_another_come_to_an_end(tmp_path: Path) -> None:
    async with local_sandbox(names=("slack",)) as here, local_sandbox(names=("discord",)) as there:
        ends: list[tuple[Any, Any]] = []
        async with AsyncExitStack() as stack:
            for local, name in ((here, "here"), (there, "there")):
                settings = configuration(local, tmp_path / f"{name}.sqlite3", channels=(ROOM,))
                settings["web"] = {**settings.get("web", {}), "port": free_port()}
                ends.append((local, settings))
            for (_, own), (_, other) in (ends, reversed(ends)):
                key = tmp_path / f"{own['web']['port']}.token"
                key.write_text("until the other bridge runs")
                own["agents"]["neighbour"] = {
                    "kind": "openfloor", "private_addresses": True, "api_key": {"file": str(key)},
                    "url": f"http://127.0.0.1:{other['web']['port']}/openfloor/{ROOM}",
                }  # fmt: skip
                own["rooms"][ROOM]["agents"] = [
                    {"agent": "neighbour", "listen": "always", "bots": True}
                ]
                own["rooms"][ROOM] |= {"agents_talk": "mention", "agents_turns": 3}
            bridges = [(await stack.enter_async_context(running(*end)))[0] for end in ends]
            for (_, own), other in zip(ends, reversed(bridges), strict=True):
                token = await token_for(other.store, other.clock, "neighbour", role="human")
                (tmp_path / f"{own['web']['port']}.token").write_text(token)

            await here.say("slack", ROOM, "Is there an echo?")
            await there.until(
                lambda: any("an echo" in m.text for m in there.standing("discord", ROOM))
            )
            for bridge in bridges * 2:
                await bridge.router.settled()
            turns = [
                await bridge.store.turns_of_room(RoomId(ROOM), since=0.0, limit=100)
                for bridge in bridges
            ]

        for local, platform in ((here, "slack"), (there, "discord")):
            texts = [message.text for message in local.standing(platform, ROOM)]
            assert sum("Is there an echo?" in text for text in texts) == 1, texts
        assert [len(each) for each in turns] == [1, 1]
        assert {turn.state for each in turns for turn in each} == {"done"}
