"""Agents in direct messages (`direct`): nobody is answered until they are paired by a code."""

from __future__ import annotations

from pathlib import Path

from bridge.router.turns.access import begin_pairing
from tests.e2e.local_sandbox import configuration, local_sandbox, running
from tests.e2e.test_directs import PLATFORMS, Somebody


async def test_an_agent_answers_direct_messages_only_after_pairing(tmp_path: Path) -> None:
    async with local_sandbox(channels=1) as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        settings["direct"] = [{"account": "*", "agents": [{"agent": "echo", "listen": "always"}]}]
        people = [Somebody(local, platform) for platform in PLATFORMS]
        async with running(local, settings) as (bridge, _):
            for person in people:
                await person.write("is anybody there?")
            for person in people:
                await local.until(lambda person=person: person.has("echo does not know you yet"))
            await bridge.router.settled()
            assert not any(person.has("anybody there?", "echo") for person in people)

            codes = [
                await begin_pairing(bridge.store, bridge.clock, "echo", "test", 10) for _ in people
            ]
            for person, code in zip(people, codes, strict=True):
                await person.write(code)
            for person in people:
                await local.until(lambda person=person: person.has("You are paired"))
            for person in people:
                await person.write("the roses are red")
            for person in people:
                await local.until(
                    lambda person=person: (
                        sum("roses are red" in str(m.raw) for m in person.read()) == 2
                    ),
                    20,
                )
            await bridge.router.settled()

            assert len(await bridge.router.parts.turns.access.pairings()) == 3
            archived = [
                str((await bridge.store.conversation(timeline.id)).messages)
                for timeline, _ in await bridge.store.conversations()
            ]
            assert not any(code in text for code in codes for text in archived)
            assert await bridge.store.dead_letters() == []
