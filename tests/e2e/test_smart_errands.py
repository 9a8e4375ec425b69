"""Smart Errands, the first use case of the Open Floor paper: a person, an assistant and four agents
of other makers, each a process of its own, on three platforms and in one archive."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bridge.app.build import Bridge
from bridge.app.cli.commands.speakers import speakers_of
from bridge.app.demo.stories.agents import program_of, story_agents, with_agents
from bridge.app.demo.stories.smart_errands import SMART_ERRANDS as STORY
from bridge.model import RoomId
from bridge.model.export_records import ArchiveFilter
from bridge.model.refs import BRIDGE
from bridge.uacs import TextPart
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running
from tests.waiting import LONGEST_WAIT

ROOM = "general"
DOCS = Path(__file__).parents[2] / "docs" / "openfloor.md"
PLATFORMS = ("slack", "discord", "teams")


def settings(local: Sandbox, folder: Path, urls: Mapping[str, str]) -> dict[str, Any]:
    found = configuration(local, folder / "bridge.sqlite3", channels=(ROOM,))
    with_agents(found, ROOM, STORY, urls)
    return found


async def archived(bridge: Bridge) -> list[tuple[str, str]]:
    """Who said what in the room, in order; without the bridge's notices and silent good-byes."""
    room = bridge.rooms.by_id[RoomId(ROOM)].conversation
    page = await bridge.store.archived_messages([room], ArchiveFilter(), after=None, limit=1000)
    said = [
        (stored.author, "\n\n".join(
            part.text for part in stored.message.content if isinstance(part, TextPart)
        ))
        for stored in page.messages
    ]  # fmt: skip
    return [(who.name, text) for who, text in said if text and who.id != BRIDGE]


async def until_said(bridge: Bridge, count: int) -> None:
    """Until so many lines were said, and no agent works."""
    async with asyncio.timeout(LONGEST_WAIT):
        while (  # noqa: ASYNC110
            len(await archived(bridge)) < count or await bridge.store.open_turns()
        ):
            await asyncio.sleep(0.02)
    await bridge.router.settled()


async def play(local: Sandbox, bridge: Bridge, errands: int) -> None:
    """Emmett says his lines, each after the answers to the one before."""
    lines = STORY.dialogue(errands)
    for number, (speaker, text) in enumerate(lines):
        if speaker == "Emmett":
            await until_said(bridge, number)
            await local.say("slack", ROOM, text)
    await until_said(bridge, len(lines))


def test_an_agent_of_the_story_runs_on_the_published_library() -> None:
    pytest.importorskip("openfloor", reason="the package openfloor is not installed")

    programs = {name: program_of(STORY, name, {})[0] for name in STORY.agents}

    assert [name for name, at in programs.items() if at.endswith("library_agent")] == ["pat"]


@pytest.mark.parametrize("errands", [1, pytest.param(4, marks=pytest.mark.long)])
async def test_the_dialogue_of_the_paper_stands_word_for_word_on_every_platform(
    tmp_path: Path, errands: int
) -> None:
    expected = STORY.dialogue(errands)
    async with (
        local_sandbox(names=PLATFORMS, limits=False) as local,
        story_agents(STORY) as urls,
    ):
        async with running(local, settings(local, tmp_path, urls)) as (bridge, _):
            await play(local, bridge, errands)
            said = [(who if who in STORY.agents else "Emmett", text)
                    for who, text in await archived(bridge)]  # fmt: skip
            holdings = await bridge.store.holdings()
            names = {url: name for name, url in urls.items()}
            drawn = await speakers_of(bridge.store, ROOM, 100, names)

        assert [plain(text) for _, text in said] == [plain(text) for _, text in expected]
        assert [who for who, _ in said] == [who for who, _ in expected]
        assert holdings == []
        if errands == 1:
            assert diagram_of("smart-errands") == person_in(drawn, "Emmett")
        for platform in PLATFORMS:
            standing = local.standing(platform, ROOM)
            texts = [plain(message.text) for message in standing]
            for speaker, text in expected:
                # Teams has no names for bots' posts: they stand before the words.
                authors = [f"{m.author} {m.text}" for m, own in zip(standing, texts, strict=True)
                           if plain(text) in own]  # fmt: skip
                assert authors, f"{platform}: {text}"
                if speaker != "Emmett":
                    assert any(speaker in author for author in authors), (platform, text, authors)
            one_by_one = iter(texts)
            for _, text in expected:
                assert any(plain(text) in shown for shown in one_by_one), f"{platform}: {text}"
            notices = [m.text for m in standing if "answers in this room" in m.text]
            ends = [m.text for m in standing if "is done" in m.text]
            assert (len(notices), len(ends)) == (errands, errands), (notices, ends)


def diagram_of(story: str) -> str:
    """The sequence diagram of a story in the documentation."""
    text = DOCS.read_text().partition(f"<!-- sequence {story} -->\n```mermaid\n")[2]
    return text.partition("\n```")[0]


def person_in(drawn: str, name: str, short: str = "S1") -> str:
    """The diagram with the story's person in place of the local platform's."""
    return re.sub(rf"participant {short} as .*", f"participant {short} as {name}", drawn)


def plain(text: str) -> str:
    """The words without what platforms add for markup."""
    return " ".join("".join(c for c in text if c.isalnum() or c.isspace()).split())
