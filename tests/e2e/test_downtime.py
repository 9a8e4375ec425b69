"""The bridge is away while people go on: afterwards all sides say what they say, or it is told."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bridge.app.build import Bridge
from bridge.runtime.clock import SystemClock
from bridge.sandbox.feed import LocalMessage
from connectors.discord.sandbox import LocalDiscord
from connectors.slack.sandbox import LocalSlack
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running

READ_BACK = ("slack", "discord")
EVERYWHERE = (*READ_BACK, "teams")  # IRC: its downtimes are in test_irc.py, test_irc_kills.py


@dataclass
class PersonPost:
    """A message of a person, as it stands on its own platform."""

    number: int
    platform: str
    channel: str
    native_id: str
    thread: str | None
    version: int = 0
    gone: bool = False
    looked_at: bool = False  # somebody put 👀 on it

    @property
    def tag(self) -> str:
        return f"#{self.number:05}"

    @property
    def text(self) -> str:
        return f"{self.tag} version {self.version}."


def is_looked_at(message: LocalMessage) -> bool | None:
    """Whether 👀 is on it; None on Teams, where bots put none."""
    if message.platform == "teams":
        return None
    reactions = message.raw.get("reactions") or []
    return any(reaction.get("name") == "eyes" or "emoji" in reaction for reaction in reactions)


@dataclass
class Traffic:
    """People who post, answer in threads, edit and delete at random, on some of the platforms."""

    local: Sandbox
    channels: Sequence[str]
    chance: random.Random
    posts: list[PersonPost] = field(default_factory=list[PersonPost])
    done: dict[str, int] = field(default_factory=dict[str, int])

    async def act(self, count: int, platforms: Sequence[str]) -> None:
        kinds = ("post", "post", "reply", "edit", "edit", "react", "delete")
        for _ in range(count):
            kind = self.chance.choice(kinds)
            platform, channel = self.chance.choice(platforms), self.chance.choice(self.channels)
            here = [
                post
                for post in self.posts
                if (post.platform, post.channel, post.gone) == (platform, channel, False)
            ]
            if kind == "react" and platform == "teams":
                kind = "edit"  # there bots hear of reactions to their own messages alone
            if kind == "post" or not here:
                await self.say(platform, channel, None)
                kind = "post"
            elif kind == "reply":
                roots = [message for message in here if message.thread is None] or [None]
                root = self.chance.choice(roots)
                await self.say(platform, channel, root.native_id if root else None)
            elif kind == "react":
                await self.look_at(self.chance.choice(here))
            elif kind == "edit":
                await self.edit(self.chance.choice(here))
            else:
                await self.delete(self.chance.choice(here))
            self.done[kind] = self.done.get(kind, 0) + 1

    async def say(self, platform: str, channel: str, thread: str | None) -> None:
        post = PersonPost(len(self.posts), platform, channel, "", thread)
        post.native_id = await self.local.say(platform, channel, post.text, thread=thread)
        self.posts.append(post)

    async def edit(self, post: PersonPost) -> None:
        post.version += 1
        workspace, channel = self.local.place(post.platform, post.channel)
        person = self.local.person(post.platform, workspace)
        local = self.local.platforms[post.platform]
        await local.edit_as(workspace, channel, person, post.native_id, post.text)

    async def look_at(self, post: PersonPost) -> None:
        """Put 👀 on it, or take it back."""
        workspace, channel = self.local.place(post.platform, post.channel)
        person = self.local.person(post.platform, workspace)
        local = self.local.platforms[post.platform]
        act = local.unreact_as if post.looked_at else local.react_as
        await act(workspace, channel, person, post.native_id, "👀")
        post.looked_at = not post.looked_at

    async def delete(self, post: PersonPost) -> None:
        post.gone = True
        workspace, channel = self.local.place(post.platform, post.channel)
        person = self.local.person(post.platform, workspace)
        await self.local.platforms[post.platform].delete_as(
            workspace, channel, person, post.native_id
        )

    def wrong(self, unproved: Collection[str]) -> list[str]:
        """What does not stand on the other platforms as it stands at home, and the other way; on
        Teams less what nobody can say of whether it arrived."""
        differences: list[str] = []
        for platform in EVERYWHERE:
            for channel in self.channels:
                standing = self.local.standing(platform, channel)
                differences += self._wrong_in(platform, channel, standing, unproved)
        return differences

    def _wrong_in(
        self,
        platform: str,
        channel: str,
        messages: Sequence[LocalMessage],
        unproved: Collection[str],
    ) -> list[str]:
        differences: list[str] = []
        for post in self.posts:
            if post.channel != channel or post.platform == platform:
                continue
            if platform == "teams" and post.tag in unproved:
                continue
            copies = [
                message
                for message in messages
                if post.tag in message.text and "a thread:" not in message.text
            ]
            expected = 0 if post.gone else 1
            right = all(
                post.text in copy.text and is_looked_at(copy) in (None, post.looked_at)
                for copy in copies
            )
            if len(copies) != expected or not right:
                differences.append(f"{post} on {platform}: {[copy.text for copy in copies]}")
        return differences


async def agree(traffic: Traffic, bridge: Bridge, seconds: float) -> None:
    """Wait until all sides say the same; what does not is told. A post of which nobody can say
    whether it arrived is excused where the bridge lists it itself."""
    wrong: list[str] = []
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while wrong := traffic.wrong(await listed_tags(bridge)):  # noqa: ASYNC110 - as `until`
                await asyncio.sleep(0.05)
    if wrong:
        pytest.fail(f"{len(wrong)} wrong: " + "; ".join(wrong[:5]))


async def listed_tags(bridge: Bridge) -> set[str]:
    letters = await bridge.store.dead_letters()
    return {letter.excerpt[:6] for letter in letters if letter.state == "unproved"}


async def be_away(
    folder: Path, *, events: int, channels: Sequence[str], seconds: float, limits: bool = False
) -> Traffic:
    """People act before, while the bridge is away, and after; all must be right in the end."""
    async with local_sandbox(channels=max(3, len(channels)), limits=limits) as local:
        settings: dict[str, Any] = configuration(
            local, folder / "bridge.sqlite3", channels=channels
        ) | {"catch_up": {"requests_per_minute": 6000, "reconcile_requests": 5000}}
        traffic = Traffic(local, channels, random.Random(7))
        async with running(local, settings) as (bridge, _):
            await traffic.act(events // 3, EVERYWHERE)
            await agree(traffic, bridge, seconds)
        before = dict(traffic.done)
        await traffic.act(events, READ_BACK)
        away = {kind: count - before.get(kind, 0) for kind, count in traffic.done.items()}
        async with running(local, settings) as (bridge, _):
            await agree(traffic, bridge, seconds)
            await traffic.act(events // 6, EVERYWHERE)
            await agree(traffic, bridge, seconds)
            letters = await bridge.store.dead_letters()
            assert {letter.state for letter in letters} <= {"unproved"}
        print(
            f"\naway: {away}; {len(traffic.posts)} messages in all, {len(letters)} copies on Teams "
            "unproved and listed"
        )
    return traffic


@pytest.mark.timeout(400)
async def test_events_of_a_downtime_are_recovered(tmp_path: Path) -> None:
    traffic = await be_away(tmp_path, events=60, channels=("general", "random"), seconds=40)

    assert traffic.done.keys() == {"post", "reply", "edit", "react", "delete"}


@pytest.mark.long
@pytest.mark.timeout(1800)
async def test_a_thousand_events_of_a_downtime_are_recovered(tmp_path: Path) -> None:
    channels = ("general", "random", "help", "ch-4", "ch-5", "ch-6")
    await be_away(tmp_path, events=1000, channels=channels, seconds=900, limits=True)


def reactions_on(local: Sandbox, platform: str, words: str) -> set[str]:
    """The emoji on the message with these words; Slack names them."""
    messages = [message for message in local.standing(platform, "general") if words in message.text]
    reactions = [message.raw.get("reactions") or [] for message in messages]
    return {
        reaction["name"] if platform == "slack" else reaction["emoji"]["name"]
        for reaction in reactions[0]
    }


async def react(
    local: Sandbox, platform: str, words: str, emoji: str, *, taken_back: bool = False
) -> None:
    workspace, channel = local.place(platform, "general")
    person, twin = local.person(platform, workspace), local.platforms[platform]
    (message,) = [
        message.id for message in twin.messages(workspace, channel) if words in message.text
    ]
    act = twin.unreact_as if taken_back else twin.react_as
    await act(workspace, channel, person, message, emoji)


async def test_reactions_of_a_downtime_are_found_on_originals_and_copies(tmp_path: Path) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",)) | {
            "catch_up": {"requests_per_minute": 6000}
        }
        async with running(local, settings):
            await local.say("slack", "general", "from slack")
            await local.say("discord", "general", "from discord")
            await local.until(
                lambda: all(len(local.standing(platform, "general")) == 2 for platform in READ_BACK)
            )
            await react(local, "slack", "from slack", "👀")
            await react(local, "discord", "from discord", "👀")
            await local.until(lambda: reactions_on(local, "discord", "from slack") == {"👀"})
            await local.until(lambda: reactions_on(local, "slack", "from discord") == {"eyes"})

        await react(local, "slack", "from slack", "👀", taken_back=True)
        await react(local, "discord", "from discord", "👀", taken_back=True)
        await react(local, "slack", "from slack", "🎉")
        await react(local, "slack", "from discord", "👍")  # on our copy
        await react(local, "discord", "from discord", "🎉")
        await react(local, "discord", "from slack", "👍")  # on our copy

        async with running(local, settings) as (bridge, _):
            await local.until(lambda: not bridge.router.operations.reconciling)
            for words in ("from slack", "from discord"):
                await local.until(
                    lambda words=words: reactions_on(local, "slack", words) == {"tada", "+1"}, 15
                )
                await local.until(
                    lambda words=words: reactions_on(local, "discord", words) == {"🎉", "👍"}, 15
                )
            assert await bridge.store.dead_letters() == []


async def test_threads_deleted_during_a_downtime_are_deleted_everywhere(
    tmp_path: Path,
) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",)) | {
            "catch_up": {"requests_per_minute": 6000}
        }
        threads: dict[str, list[str]] = {}
        async with running(local, settings):
            for platform in READ_BACK:
                root = await local.say(platform, "general", f"root on {platform}")
                more = [
                    await local.say(platform, "general", f"{word} on {platform}", thread=root)
                    for word in ("one", "two")
                ]
                threads[platform] = [root, *more]
            await local.until(
                lambda: all(
                    len(local.standing(platform, "general")) == 6 for platform in EVERYWHERE
                )
            )

        team, channel = local.place("slack", "general")
        person = local.person("slack", team)
        for message in threads["slack"]:
            await local.platforms["slack"].delete_as(team, channel, person, message)
        discord = local.platforms["discord"]
        assert isinstance(discord, LocalDiscord)
        guild, channel = local.place("discord", "general")
        owner = local.person("discord", guild)
        await discord.delete_thread_as(guild, channel, owner, threads["discord"][0])

        def standing(platform: str) -> list[str]:
            return [
                message.text
                for message in local.standing(platform, "general")
                if " on " in message.text
            ]

        async with running(local, settings) as (bridge, _):
            await local.until(lambda: not bridge.router.operations.reconciling, 15)
            for platform in EVERYWHERE:
                await local.until(lambda platform=platform: len(standing(platform)) == 1, 15)
            assert await bridge.store.dead_letters() == []


async def test_one_notice_announces_a_gap_of_teams(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ago = 3600.0

    class ShiftedClock(SystemClock):
        def time(self) -> float:
            return super().time() - ago

    monkeypatch.setattr("bridge.app.build.SystemClock", ShiftedClock)
    async with local_sandbox(names=("slack", "teams")) as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",)) | {
            "catch_up": {"announce_after": 1800, "requests_per_minute": 6000}
        }

        def notice_count(platform: str) -> int:
            words = "Messages on Teams "
            return sum(words in message.text for message in local.standing(platform, "general"))

        async with running(local, settings):
            pass
        await local.say("teams", "general", "nobody hears this")
        ago = 0.0
        async with running(local, settings):
            await local.until(lambda: notice_count("slack") == notice_count("teams") == 1)
        async with running(local, settings) as (bridge, _):
            await local.until(lambda: not bridge.router.operations.catching_up)
            await local.say("teams", "general", "heard again")
            await local.until(
                lambda: any(
                    "heard again" in message.text for message in local.standing("slack", "general")
                )
            )
            await bridge.router.settled()

        assert (notice_count("slack"), notice_count("teams")) == (1, 1)


async def test_messages_during_the_bots_absence_from_a_slack_channel_follow_later(
    tmp_path: Path,
) -> None:
    async with local_sandbox(names=("slack", "discord")) as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("random",))
        token = local.platforms["slack"].world().apps[0]["bot_token"]
        bot = AsyncWebClient(token, base_url=f"{local.context.base_url}/slack/api/")
        workspace, channel = local.place("slack", "random")
        slack, person = local.platforms["slack"], local.person("slack", workspace)

        def arrived() -> list[str]:
            return [
                message.text
                for message in local.standing("discord", "random")
                if "number" in message.text
            ]

        async with running(local, settings) as (bridge, _):
            await local.until(lambda: not bridge.router.operations.catching_up)
            await slack.post_as(workspace, channel, person, "number one", None)
            await local.until(lambda: len(arrived()) == 1)
            await bot.conversations_leave(channel=channel)
            await slack.post_as(workspace, channel, person, "number two", None)
            await bot.conversations_join(channel=channel)
            await slack.post_as(workspace, channel, person, "number three", None)
            await local.until(lambda: len(arrived()) == 3)

    assert arrived() == ["number one", "number two", "number three"]


async def test_pins_names_topics_and_polls_of_a_downtime_are_found(tmp_path: Path) -> None:
    async with local_sandbox() as local:
        settings: dict[str, Any] = configuration(
            local, tmp_path / "bridge.sqlite3", channels=("general",)
        ) | {"catch_up": {"requests_per_minute": 6000}}
        settings["rooms"]["general"]["announce"] = ["topics", "names", "polls"]
        slack, discord = local.platforms["slack"], local.platforms["discord"]
        assert isinstance(slack, LocalSlack)
        assert isinstance(discord, LocalDiscord)
        people = {
            platform: _person_of(local, platform) for platform in EVERYWHERE
        }  # channels change their names
        at_slack, at_discord = people["slack"], people["discord"]

        def standing(platform: str) -> list[LocalMessage]:
            return local.platforms[platform].messages(*people[platform][:2])

        def pinned(platform: str) -> set[str]:
            messages = standing(platform)
            return {message.text.rpartition(" ")[2] for message in messages if message.pinned}

        async with running(local, settings) as (bridge, _):
            native_id = await local.say("slack", "general", "message one")
            two = await local.say("discord", "general", "message two")
            three = await local.say("discord", "general", "message three")
            four = await local.say("discord", "general", "message four", thread=two)
            five = await local.say("discord", "general", "message five", thread=two)
            poll = await discord.poll_as(*at_discord, "Tea?", ["Yes", "No"])
            await discord.vote_as(*at_discord, poll.id, [1])
            await local.until(lambda: all(len(standing(platform)) == 6 for platform in EVERYWHERE))
            await slack.pin_as(*at_slack, native_id)
            for message in (two, four):
                await discord.pin_as(*at_discord, message)
            before = {"one", "two", "four"}
            for platform in READ_BACK:
                await local.until(lambda platform=platform: pinned(platform) == before)
            await local.until(lambda: not bridge.router.operations.reconciling, 15)

        await slack.pin_as(*at_slack, native_id, pinned=False)
        six = await local.say("discord", "general", "message six")
        for message in (three, five, six):
            await discord.pin_as(*at_discord, message)
        await slack.rename_as(*at_slack, "on-slack")
        await slack.set_topic_as(*at_slack, "Slack's topic")
        await discord.rename_as(*at_discord, "on-discord")
        await discord.set_topic_as(*at_discord, "Discord's topic")
        await discord.end_poll_as(*at_discord, poll.id)

        def notices(platform: str) -> set[str]:
            ours = [message for message in standing(platform) if message.bot]
            texts = "\n".join(our.text for our in ours)
            notices = ("on-slack", "Slack's topic", "on-discord", "Discord's topic", "Yes: 1")
            return {words for words in notices if words in texts}

        after = {"two", "three", "four", "five", "six"}
        of_slack, of_discord = {"on-slack", "Slack's topic"}, {"on-discord", "Discord's topic"}
        for _ in range(2):  # once: what was found once is known
            async with running(local, settings) as (bridge, _):
                await local.until(lambda: not bridge.router.operations.reconciling, 15)
                for platform in READ_BACK:
                    await local.until(lambda platform=platform: pinned(platform) == after, 15)
                await local.until(lambda: notices("slack") == of_discord | {"Yes: 1"}, 15)
                await local.until(lambda: notices("discord") == of_slack, 15)
                await local.until(
                    lambda: notices("teams") == of_slack | of_discord | {"Yes: 1"}, 15
                )
                await bridge.router.settled()
                assert await bridge.store.dead_letters() == []
        for words in of_slack | of_discord:
            lines = [message.text for message in standing("teams")]
            assert sum(words in text for text in lines) == 1


@pytest.mark.parametrize("origin", READ_BACK)
async def test_a_topic_received_live_is_still_compared_after_a_restart(
    tmp_path: Path, origin: str
) -> None:
    """What the bridge tells of a topic is archived at that place, and stands nowhere there."""
    async with local_sandbox() as local:
        settings: dict[str, Any] = configuration(
            local, tmp_path / "bridge.sqlite3", channels=("general",)
        ) | {"catch_up": {"requests_per_minute": 6000}}
        settings["rooms"]["general"]["announce"] = ["topics"]
        there, person = local.platforms[origin], _person_of(local, origin)
        assert isinstance(there, LocalSlack | LocalDiscord)
        (other,) = set(READ_BACK) - {origin}

        def all_texts() -> str:
            return "\n".join(message.text for message in local.standing(other, "general"))

        async with running(local, settings):
            await local.say(origin, "general", "this stays")
            goes = await local.say(origin, "general", "this goes")
            await there.set_topic_as(*person, "Friday")
            await local.say(origin, "general", "the last one")
            await local.until(lambda: "the last one" in all_texts() and "Friday" in all_texts())
        await there.delete_as(*person, goes)
        async with running(local, settings) as (bridge, _):
            await local.until(lambda: "this goes" not in all_texts())
            await local.until(lambda: not bridge.router.operations.reconciling)

        for text in ("this stays", "Friday", "the last one"):
            assert text in all_texts()


def _person_of(local: Sandbox, platform: str) -> tuple[str, str, str]:
    workspace, channel = local.place(platform, "general")
    return workspace, channel, local.person(platform, workspace)
