"""Defects that users of other bridges reported: each by its name."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bridge.app.build import Bridge
from bridge.sandbox.faults import Fault
from bridge.sandbox.user_actions import LocalUser, TakesUserActions
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running

# Without IRC: an edit on IRC is another line: see test_irc.py.
PLATFORMS = ("slack", "discord", "teams")
# As many words as a person may write there, and more than one message holds elsewhere.
LONG = {"slack": 1200, "discord": 220, "teams": 1200}


@asynccontextmanager
async def at_home(folder: Path) -> AsyncGenerator[tuple[Sandbox, Bridge], None]:
    async with local_sandbox() as local:
        settings = configuration(local, folder / "bridge.sqlite3", channels=("general",))
        settings["files"] = {"allow_loopback": True}
        async with running(local, settings) as (bridge, _):
            yield local, bridge


def texts(local: Sandbox, platform: str, channel: str = "general") -> list[str]:
    return [message.text for message in local.standing(platform, channel)]


def user_on(local: Sandbox, platform: str, channel: str = "general") -> LocalUser:
    workspace, native = local.place(platform, channel)
    platform_ = local.platforms[platform]
    assert isinstance(platform_, TakesUserActions)
    return LocalUser(platform_, workspace, native, local.person(platform, workspace))


def long_text(platform: str) -> tuple[str, str]:
    """A text of several messages, and its last word."""
    words = [f"word{number}" for number in range(LONG[platform])]
    return " ".join(words), words[-1]


@pytest.mark.parametrize("origin", ["slack", "teams"])
async def test_deleting_a_split_message_deletes_all_its_parts(tmp_path: Path, origin: str) -> None:
    others = [name for name in PLATFORMS if name != origin]
    async with at_home(tmp_path) as (local, _):
        text, last = long_text(origin)
        local_user = user_on(local, origin)
        message = await local_user.say(text)
        await local.until(lambda: all(last in " ".join(texts(local, other)) for other in others))
        assert len(texts(local, "discord")) > 3

        await local_user.delete(message.id)
        await local.until(lambda: all(texts(local, other) == [] for other in others))


@pytest.mark.parametrize("origin", ["slack", "teams"])
async def test_an_edit_that_shortens_a_split_message_leaves_one(
    tmp_path: Path, origin: str
) -> None:
    others = [name for name in PLATFORMS if name != origin]
    async with at_home(tmp_path) as (local, _):
        text, _ = long_text(origin)
        local_user = user_on(local, origin)
        message = await local_user.say(text)
        await local_user.say("what follows")
        await local.until(
            lambda: all("follows" in " ".join(texts(local, other)) for other in others)
        )

        await local_user.edit(message.id, "short now")
        await local.until(lambda: all(len(texts(local, other)) == 2 for other in others))

        for other in others:
            first, second = texts(local, other)
            assert "short now" in first
            assert "what follows" in second


async def test_two_files_of_one_name_within_seconds_stay_two(tmp_path: Path) -> None:
    async with at_home(tmp_path) as (local, _):
        local_user = user_on(local, "slack")
        for length in (11, 22):
            await local_user.post_file(
                "image.txt", b"x" * length, "text/plain", text=f"of {length}"
            )

        def sizes() -> list[int]:
            standing = local.standing("discord", "general")
            return [file["size"] for message in standing for file in message.raw["attachments"]]

        await local.until(lambda: len(sizes()) == 2)
        assert sizes() == [11, 22]


@pytest.mark.parametrize(
    ("origin", "target", "refused"),
    [
        ("slack", "discord", "discord:webhook.execute:*"),
        ("discord", "slack", "slack:files.getUploadURLExternal:*"),
    ],
)
async def test_a_message_arrives_without_a_failed_attachment(
    tmp_path: Path, origin: str, target: str, refused: str
) -> None:
    async with at_home(tmp_path) as (local, bridge):
        local_user = user_on(local, origin)
        await local_user.say("before")
        await local.until(lambda: any("before" in text for text in texts(local, target)))
        local.context.faults.add(Fault(kind="status", where=refused, status=400))
        await local_user.post_file("a.txt", b"bytes", "text/plain", text="the words that matter")
        standing = local.standing
        await local.until(
            lambda: any("a.txt" in str(message.raw) for message in standing(target, "general"))
        )
        await local_user.say("after")
        await local.until(lambda: any("after" in text for text in texts(local, target)))

        assert "the words that matter" in " ".join(texts(local, target))
        assert await bridge.store.dead_letters() == []


async def test_an_own_echo_after_a_restart_is_not_relayed(tmp_path: Path) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        async with running(local, settings) as (bridge, _):
            await local.say("teams", "general", "before")
            await local.until(
                lambda: all(len(texts(local, platform)) == 1 for platform in PLATFORMS)
            )
            for platform in ("slack", "discord"):  # the echo is not heard before the stop
                where = f"{platform}:event:{local.place(platform, 'general')[1]}"
                local.context.faults.add(Fault(kind="drop", where=where))
            await local.say("teams", "general", "carried")
            await local.until(
                lambda: all(len(texts(local, platform)) == 2 for platform in PLATFORMS)
            )

        async with running(local, settings) as (bridge, _):
            await local.until(lambda: not bridge.router.operations.catching_up)
            await local.say("slack", "general", "after")
            await local.until(lambda: all("after" in " ".join(texts(local, o)) for o in PLATFORMS))
            await local.until(lambda: not bridge.router.operations.catching_up)

        for platform in PLATFORMS:
            assert [t.split()[-1] for t in texts(local, platform)] == ["before", "carried", "after"]


async def test_a_misconfigured_channel_does_not_stop_the_others(tmp_path: Path) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3")
        settings["rooms"]["general"]["members"][0]["channel"] = "#nowhere"
        async with running(local, settings) as (bridge, _):
            assert any("'#nowhere'" in problem for problem in bridge.problems)
            for channel, where in (("general", ("discord",)), ("random", ("slack", "discord"))):
                await local.say("teams", channel, "all the same")
                await local.until(
                    lambda channel=channel, where=where: all(
                        "all the same" in " ".join(texts(local, platform, channel))
                        for platform in where
                    )
                )
