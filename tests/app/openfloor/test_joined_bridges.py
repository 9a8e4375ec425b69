"""Two bridges, each an Open Floor agent of the other's room: people on both sides hear one
another, and agents that answer one another come to an end."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from bridge.app.build import Bridge
from bridge.model import RoomId
from tests.app.api.served import ROOM, token_for
from tests.e2e.local_sandbox import configuration, local_sandbox, running
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
