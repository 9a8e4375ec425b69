"""Plays a story in the demo: the person says the lines, each after the answers to the last."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import click

from bridge.app.demo.acting import Cast
from bridge.app.demo.lines import Line
from bridge.app.demo.page import archived
from bridge.app.demo.reading import bare, read_archived
from bridge.app.demo.running import Demo
from bridge.app.demo.script import transcript
from bridge.app.demo.stories.story import Story
from bridge.app.demo.world import ROOMS, demo_types
from bridge.errors import StoreError
from bridge.model import ActorId, RoomId
from bridge.model.archive_records import View
from bridge.model.refs import BRIDGE

_LOOK = 0.05
_PATIENCE = 60.0  # seconds for the answers to one line

Said = Sequence[tuple[str, str]]


def lines_of_story(story: Story) -> tuple[Line, ...]:
    """Return the lines of the story's person, on the first platform."""
    platform = next(iter(demo_types()))
    return tuple(
        Line(platform, story.person, text) for who, text in story.dialogue() if who == story.person
    )


async def play_story(demo: Demo, story: Story) -> int:
    """Play the story and print what each platform shows; returns 0 if everybody said what the story
    has them say, else 1."""
    said = await tell(demo, story, pause=0.0)
    click.echo("\n\n".join(transcript(demo, platform) for platform in demo.sides))
    expected = [(who, bare(text)) for who, text in story.dialogue()]
    is_right = [(who, bare(text)) for who, text in said] == expected
    if story.mediation is not None:
        click.echo("\nBehind the scenes\n=================")
        click.echo("\n".join(await _behind(demo, story)))
    agents = ", ".join(dict.fromkeys(who for who, _ in expected if who != story.person))
    click.echo(
        f"\n{len(said)} lines of {story.person} and {agents}: "
        + ("word for word as the story has them" if is_right else "NOT as the story has them")
    )
    return 0 if is_right else 1


async def _behind(demo: Demo, story: Story) -> list[str]:
    """What the host and those it asked said to one another, a line each."""
    room = demo.bridge.rooms.by_id[RoomId(ROOMS[0])].conversation
    store, reader = demo.bridge.store, ActorId(f"agent:{story.host}")
    seen = {m.message_id for m in (await store.conversation(room)).messages}
    whole = await store.conversation(room, view=View(readers=(reader,)))
    return [
        f"{m.actor.name}: {read_archived(m)}" for m in whole.messages if m.message_id not in seen
    ]


async def tell(demo: Demo, story: Story, *, pause: float) -> Said:
    """Play the story, with seconds between its lines. Returns what was said."""
    cast, dialogue = Cast(demo), story.dialogue()
    for number, (who, text) in enumerate(dialogue):
        if who == story.person:
            await _until(demo, number)
            await demo.bridge.router.settled()
            await asyncio.sleep(pause)
            await cast.say(Line(next(iter(demo_types())), who, text))
    said = await _until(demo, len(dialogue))
    await demo.bridge.router.settled()
    return said


async def _until(demo: Demo, count: int) -> Said:
    """Wait until so many lines were said and no agent works, or for a minute."""
    loop = asyncio.get_running_loop()
    end = loop.time() + _PATIENCE
    while True:
        said = await _said(demo)
        works = await demo.bridge.store.open_turns()
        if (len(said) >= count and not works) or loop.time() > end:
            return said
        await asyncio.sleep(_LOOK)


async def _said(demo: Demo) -> Said:
    """Who said what in the room; without notices of the bridge and silent good-byes."""
    try:
        conversation = await archived(demo, ROOMS[0])
    except StoreError:  # nobody has said anything
        return ()
    texts = [(m.actor, read_archived(m)) for m in conversation.messages]
    return [(actor.name or "", text) for actor, text in texts if text and actor.id != BRIDGE]
