"""Commands in channels of every platform, through the real SDKs."""

from __future__ import annotations

from pathlib import Path

import pytest

from bridge.sandbox.slack.local import LocalSlack
from tests.e2e.house import Street, configuration, running, street

PLATFORMS = ("slack", "discord", "teams")


def mention(local: Street, platform: str) -> str:
    """Our bot as a person there writes it."""
    app = local.platforms[platform].world().apps[0]
    if platform == "teams":
        return "@Bridge"
    return f"<@{app['bot_user'] if platform == 'slack' else app['bot_id']}>"


@pytest.mark.parametrize("platform", PLATFORMS)
async def test_status_is_answered_where_it_is_asked_and_channels_come_and_go(
    tmp_path: Path, platform: str
) -> None:
    others = [name for name in PLATFORMS if name != platform]

    def texts(one: str, channel: str = "general") -> list[str]:
        return [shown.text for shown in local.standing(one, channel)]

    async with street() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        workspace, _ = local.place(platform, "general")
        settings["admins"] = ["*"]
        async with running(local, settings) as (bridge, _):
            bot = mention(local, platform)
            await local.say(platform, "general", f"{bot} status")
            await local.until(lambda: any("bridged to" in text for text in texts(platform)))

            _, random = local.place("slack", "random")
            await local.say(platform, "general", f"{bot} link slack {random}")
            await local.until(lambda: any("is in this room now" in t for t in texts(platform)))
            await local.say(platform, "general", "to the new one")
            await local.until(lambda: any("to the new one" in t for t in texts("slack", "random")))
            (link,) = await bridge.store.room_links()
            assert link.linked
            assert link.by.startswith(f"{platform}:{workspace}:")

            await local.say(platform, "general", f"{bot} pause")
            await local.until(lambda: any("is paused" in text for text in texts(platform)))
            await local.say(platform, "general", "unheard")
            await local.say(platform, "general", f"{bot} resume")
            await local.until(lambda: any("goes on" in text for text in texts(platform)))
            await local.say(platform, "general", "heard")
            for one in others:
                await local.until(lambda one=one: any("heard" in text for text in texts(one)))
                assert not any("unheard" in t or "status" in t for t in texts(one))
        async with running(local, settings) as (again, _):
            assert random in [m.channel.channel for m in again.rooms.all[0].members]


@pytest.mark.parametrize("other", ["discord", "teams"])
async def test_people_link_their_accounts_by_a_code_that_slack_whispers(
    tmp_path: Path, other: str
) -> None:
    async with street() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        slack = local.platforms["slack"]
        assert isinstance(slack, LocalSlack)
        workspace, _ = local.place("slack", "general")
        person = local.person("slack", workspace)
        async with running(local, settings) as (bridge, _):
            await local.say("slack", "general", f"{mention(local, 'slack')} me")
            await local.until(lambda: bool(slack.whispers(workspace, person)))
            (told,) = slack.whispers(workspace, person)
            code = told.text.rpartition(" ")[2]
            await local.say(other, "general", f"{mention(local, other)} me {code}")
            await local.until(
                lambda: any("one person" in one.text for one in local.standing(other, "general"))
            )

            linked = {one.actor.split(":")[0] for one in await bridge.store.linked_accounts()}
            assert linked == {"slack", other}
            assert len(local.standing("slack", "general")) == 1  # the question alone
