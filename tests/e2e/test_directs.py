"""People of two platforms write to one another alone, through the real SDKs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from bridge.app.build import Bridge
from bridge.model import ActorId, actor_id_of
from bridge.model.archive_records import View
from bridge.router.rooms.direct_messages import conversation_between
from bridge.sandbox.feed import LocalMessage
from connectors.discord.sandbox.local import LocalDiscord
from connectors.slack.sandbox.local import LocalSlack
from connectors.teams.sandbox.local import LocalTeams
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running
from tests.e2e.test_commands import mention, registered

PAIRS = (("slack", "discord"), ("discord", "teams"), ("teams", "slack"))
# Without IRC: the local IRC shows no direct messages.
PLATFORMS = ("slack", "discord", "teams")


class Somebody:
    """The first person of a platform, in the channel and alone with the bot."""

    def __init__(self, local: Sandbox, platform: str) -> None:
        self.local, self.platform = local, platform
        self.workspace, self.channel = local.place(platform, "general")
        self.id = local.person(platform, self.workspace)
        people = local.platforms[platform].world().people
        self.name = next(person.name for person in people if person.id == self.id)

    @property
    def alone(self) -> tuple[str, str]:
        """The workspace and the channel of what they and the bot write to one another."""
        place = self.local.platforms[self.platform]
        app = place.world().apps[0]
        if isinstance(place, LocalSlack):
            workspace = place.slack.workspaces[self.workspace]
            return self.workspace, workspace.direct(app["bot_user"], self.id, 0.0).id
        if isinstance(place, LocalTeams):
            return self.workspace, place.personal_chat(app["app_id"], self.id)
        assert isinstance(place, LocalDiscord)
        users = place.state.users
        return "@me", str(place.state.dm_of(users[int(self.id)], users[int(app["bot_id"])]).id)

    async def command(self, text: str) -> None:
        """By a slash command where there is one, else as a message to the bot."""
        place = self.local.platforms[self.platform]
        if isinstance(place, LocalTeams):
            where = (self.workspace, self.channel) if text in ("dm on", "dm off") else self.alone
            words = f"{mention(self.local, 'teams')} {text}" if where[1] == self.channel else text
            await place.post_as(*where, self.id, words)
            return
        assert isinstance(place, LocalSlack | LocalDiscord)
        await place.command_as(self.workspace, self.channel, self.id, "/bridge", text)

    async def write(self, text: str) -> None:
        await self.local.platforms[self.platform].post_as(*self.alone, self.id, text)

    def read(self) -> Sequence[LocalMessage]:
        return self.local.platforms[self.platform].messages(*self.alone)

    def has(self, *words: str) -> bool:
        """One message with all of these."""
        return any(
            all(word in f"{message.text} {message.author}" for word in words)
            for message in self.read()
        )

    def actor(self) -> ActorId:
        return actor_id_of(self.platform, self.workspace, self.id)


async def nobody_else_has(local: Sandbox, bridge: Bridge, words: str) -> bool:
    """Neither a channel nor what an archive shows to all."""
    for platform in PLATFORMS:
        if any(
            words in f"{message.text} {message.raw}"
            for message in local.standing(platform, "general")
        ):
            return False
    for timeline, _ in await bridge.store.conversations():
        for view in (None, View(readers=(), member="agent:echo")):
            conversation = await bridge.store.conversation(timeline.id, view=view)
            if words in str(conversation.messages):
                return False
    return True


@pytest.mark.parametrize(("platform", "other"), PAIRS)
async def test_a_private_conversation_of_two_people_is_shown_to_nobody_else(
    tmp_path: Path, platform: str, other: str
) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        settings["rooms"]["general"]["agents"] = [{"agent": "echo", "listen": "always"}]
        ann, bob = Somebody(local, platform), Somebody(local, other)
        async with running(local, settings) as (bridge, _):
            await local.until(lambda: registered(local))
            for person in (ann, bob):
                await person.command("dm on")
            await local.until(
                lambda: len(bridge.router.parts.rooms.directs.reachable(ann.actor())) == 1
            )
            for person in (ann, bob):
                await local.say(person.platform, "general", f"{person.name} is here")
            await local.until(
                lambda: all(
                    any(f"{one.name} is here" in m.text for m in local.standing(there, "general"))
                    for one, there in ((ann, other), (bob, platform))
                )
            )
            await bridge.router.settled()

            await ann.command(f"dm {bob.name} the roses are red")
            await local.until(lambda: bob.has("the roses are red", ann.name))
            await bob.write("and the violets are blue")
            await local.until(lambda: ann.has("the violets are blue", bob.name))
            await bridge.router.settled()

            two = conversation_between(ann.actor(), bob.actor())
            read = await bridge.store.conversation(two, view=View(readers=(bob.actor(),)))
            assert len(read.messages) == 2
            assert await nobody_else_has(local, bridge, "roses")
            assert await nobody_else_has(local, bridge, "violets")
            assert await bridge.store.dead_letters() == []
