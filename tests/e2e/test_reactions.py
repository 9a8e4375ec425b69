"""Reactions and pins of a person on one platform are on the others, through the real SDKs."""

from __future__ import annotations

from pathlib import Path

import pytest

from bridge.sandbox.faults import Fault
from tests.e2e.local_sandbox import PLATFORMS, Sandbox, configuration, local_sandbox, running

THUMB, HEART = "👍", "❤️"


def emoji(local: Sandbox, platform: str, index: int = 0) -> set[str]:
    return set(local.standing(platform, "general")[index].reactions)


def texts(local: Sandbox, platform: str) -> list[str]:
    return [message.text for message in local.standing(platform, "general")]


class Person:
    """Somebody on one of the platforms, and the only message there."""

    def __init__(self, local: Sandbox, platform: str, number: int = 0) -> None:
        self._platform = local.platforms[platform]
        self._place = local.place(platform, "general")
        self._who = local.person(platform, self._place[0], number)
        self._message = local.standing(platform, "general")[0].id

    async def react(self, emoji: str) -> None:
        await self._platform.react_as(*self._place, self._who, self._message, emoji)

    async def unreact(self, emoji: str) -> None:
        await self._platform.unreact_as(*self._place, self._who, self._message, emoji)

    async def pin(self, *, pinned: bool = True) -> None:
        await self._platform.pin_as(*self._place, self._who, self._message, pinned=pinned)


@pytest.mark.parametrize("origin", PLATFORMS)
async def test_reactions_on_copies_and_the_original_are_on_all(tmp_path: Path, origin: str) -> None:
    others = [name for name in PLATFORMS if name != origin]
    # Teams tells a bot of reactions to its own messages alone: there, one reacts to the copy.
    speaker = "slack" if origin == "teams" else others[0]
    showing_reactions = [name for name in PLATFORMS if name != origin]
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        async with running(local, settings) as (bridge, _):
            await local.say(speaker, "general", "hello")
            await local.until(
                lambda: all(len(texts(local, platform)) == 1 for platform in PLATFORMS)
            )
            ann, bob = Person(local, origin), Person(local, origin, 1)

            await ann.react(THUMB)
            await bob.react(THUMB)
            await bob.react(HEART)
            await local.until(
                lambda: all(
                    emoji(local, platform) == {THUMB, HEART} for platform in showing_reactions
                )
            )
            assert emoji(local, origin) == {THUMB, HEART}

            await ann.unreact(THUMB)
            await bob.unreact(HEART)
            await local.until(
                lambda: all(emoji(local, platform) == {THUMB} for platform in showing_reactions)
            )
            await bob.unreact(THUMB)
            await local.until(lambda: not any(emoji(local, platform) for platform in PLATFORMS))
            assert await bridge.store.dead_letters() == []
            assert all(len(texts(local, platform)) == 1 for platform in PLATFORMS)


@pytest.mark.parametrize("origin", ["slack", "discord"])
async def test_pins_are_carried_and_removed(tmp_path: Path, origin: str) -> None:
    (other,) = {"slack", "discord"} - {origin}
    async with local_sandbox() as local:

        def pinned(platform: str) -> bool:
            return local.standing(platform, "general")[0].pinned

        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        settings["rooms"]["general"]["moderation"] = "room"  # copies may be unpinned for all
        async with running(local, settings) as (bridge, _):
            await local.say(origin, "general", "hello")
            await local.until(
                lambda: all(len(texts(local, platform)) == 1 for platform in PLATFORMS)
            )

            await Person(local, origin).pin()
            await local.until(lambda: pinned(other) and len(texts(local, "teams")) == 2)
            assert "pinned" in texts(local, "teams")[1]

            await Person(local, other).pin(pinned=False)
            await local.until(lambda: not pinned(origin) and len(texts(local, "teams")) == 1)
            assert await bridge.store.dead_letters() == []


async def test_a_note_names_who_reacts_where_bots_cannot(tmp_path: Path) -> None:
    async with local_sandbox() as local:
        local.platforms["teams"].tenant.bots_react = False  # type: ignore[attr-defined]
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        async with running(local, settings):
            await local.say("slack", "general", "hello")
            await local.until(
                lambda: all(len(texts(local, platform)) == 1 for platform in PLATFORMS)
            )
            ann = Person(local, "slack")

            await ann.react(THUMB)
            await local.until(lambda: len(texts(local, "teams")) == 2)
            assert "👍 Ada Park" in texts(local, "teams")[1]
            assert emoji(local, "discord") == {THUMB}

            await ann.unreact(THUMB)
            await local.until(lambda: len(texts(local, "teams")) == 1)


async def test_a_note_names_people_who_have_not_posted_before(tmp_path: Path) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        async with running(local, settings):
            await local.say("slack", "general", "hello")
            await local.until(
                lambda: all(len(texts(local, platform)) == 1 for platform in PLATFORMS)
            )

            await Person(local, "teams").react(":ownpicture:")  # none of Discord's
            await local.until(lambda: len(texts(local, "discord")) == 2)

            assert texts(local, "discord")[1].endswith(":ownpicture: Ada Lindqvist")


async def test_faults_of_events_and_answers_leave_the_same_reactions_everywhere(
    tmp_path: Path,
) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        async with running(local, settings) as (bridge, _):
            await local.say("discord", "general", "hello")
            await local.until(
                lambda: all(len(texts(local, platform)) == 1 for platform in PLATFORMS)
            )
            people = [Person(local, "slack", number) for number in range(3)]
            _, channel = local.place("slack", "general")
            route = f"slack:event:{channel}"
            add = local.context.faults.add
            add(Fault(kind="duplicate", where=route))
            add(Fault(kind="reorder", where=route, seconds=0.3))
            add(Fault(kind="delay", where=route, seconds=0.5))
            add(Fault(kind="lose_answer", where="discord:reaction.add:*"))
            add(Fault(kind="status", where="discord:reaction.*:*", status=503))
            add(Fault(kind="rate_limited", where="teams:reaction.*:*", seconds=1))

            for person in people:
                await person.react(THUMB)
                await person.react(HEART)
                await person.unreact(THUMB)
            others = [name for name in PLATFORMS if name != "slack"]
            await local.until(lambda: all(emoji(local, other) == {HEART} for other in others))
            for person in people:
                await person.unreact(HEART)
            await local.until(lambda: not any(emoji(local, platform) for platform in PLATFORMS))
            assert await bridge.store.dead_letters() == []
            assert all(len(texts(local, platform)) == 1 for platform in PLATFORMS)
