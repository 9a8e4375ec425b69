"""Smart Library, the second use case of the Open Floor paper: the assistant asks a directory and a
library behind the scenes; the channels show the person and the assistant alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bridge.app.cli.commands.speakers import speakers_of
from bridge.app.demo.stories.agents import story_agents, with_agents
from bridge.app.demo.stories.smart_library import SMART_LIBRARY as STORY
from bridge.model import ActorId
from bridge.model.archive_records import View
from bridge.model.refs import BRIDGE
from tests.e2e.local_sandbox import configuration, local_sandbox, running
from tests.e2e.test_smart_errands import diagram_of, person_in, plain

PLATFORMS = ("slack", "discord", "teams")


async def test_the_channels_show_lea_and_juri_and_the_archive_has_what_was_asked_behind(
    tmp_path: Path,
) -> None:
    (host, welcome), (lea, question), (juri, answer) = STORY.dialogue()
    async with (
        local_sandbox(names=PLATFORMS, limits=False) as local,
        story_agents(STORY) as urls,
    ):
        settings: dict[str, Any] = configuration(
            local, tmp_path / "bridge.sqlite3", channels=("general",)
        )
        with_agents(settings, "general", STORY, urls)
        async with running(local, settings) as (bridge, _):
            for platform in PLATFORMS:
                await local.until(
                    lambda platform=platform: any(
                        plain(welcome) in plain(m.text) for m in local.standing(platform, "general")
                    )
                )
            await local.say("teams", "general", question)
            for platform in PLATFORMS:
                await local.until(
                    lambda platform=platform: any(
                        plain(answer) in plain(m.text) for m in local.standing(platform, "general")
                    )
                )
            await bridge.router.settled()
            room = bridge.rooms.all[0].conversation
            for_all = await bridge.store.conversation(room)
            names = {url: name for name, url in urls.items()}
            drawn = await speakers_of(bridge.store, "general", 100, names, (ActorId("agent:juri"),))
            for_juri = await bridge.store.conversation(
                room, view=View(readers=(ActorId("agent:juri"),))
            )

    assert diagram_of("smart-library") == person_in(drawn, "Lea", "S3")
    assert (host, lea, juri) == ("juri", "Lea", "juri")
    said_by = [m.actor.id for m in for_all.messages if m.actor.id != BRIDGE]
    assert (said_by[0], *said_by[2:]) == ("agent:juri", "agent:juri")
    behind = [m for m in for_juri.messages if m not in for_all.messages]
    assert [m.actor.name for m in behind] == ["juri", "andres", "juri", "smartlibrary"]
    assert "Can you send me a list of Assistants" in str(behind[0].content)
    assert "Here it's a list of Assistants" in str(behind[1].content)
    assert all(name in str(behind[1].content) for name in ("smartlibrary", "Heli", "Kalev"))
    assert "the pen name for Lydia Emilie Florentine Jannsen" in str(behind[3].content)
    for platform in PLATFORMS:
        said = [m.text for m in local.standing(platform, "general")]
        assert len(said) == 3, said
