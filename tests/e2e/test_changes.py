"""What a person edits or deletes on one platform changes on the others, through the real SDKs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bridge.sandbox.user_actions import FileUpload
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running

# Without IRC: people of IRC cannot edit; its copies are in test_irc.py.
PLATFORMS = ("slack", "discord", "teams")
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
)
WORDS = {"slack": 1200, "discord": 220, "teams": 1200}  # as many as a person may write there


def texts(local: Sandbox, platform: str) -> list[str]:
    return [message.text for message in local.standing(platform, "general")]


@pytest.mark.parametrize("origin", PLATFORMS)
async def test_edits_and_deletions_reach_every_copy_in_order(tmp_path: Path, origin: str) -> None:
    others = [name for name in PLATFORMS if name != origin]

    def everywhere(*words: str) -> bool:
        """Each message has these words, in this order, and there is no other."""
        return all(
            len(texts(local, other)) == len(words)
            and all(word in text for word, text in zip(words, texts(local, other), strict=True))
            for other in others
        )

    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        async with running(local, settings) as (bridge, _):
            workspace, channel = local.place(origin, "general")
            person, platform = local.person(origin, workspace), local.platforms[origin]
            first = await local.say(origin, "general", "the first, with a typo")
            second = await local.say(origin, "general", "the second")
            await local.until(lambda: everywhere("with a typo", "the second"))

            await platform.edit_as(workspace, channel, person, first, "the first, *mended*")
            await local.until(lambda: everywhere("mended", "the second"))
            assert not any("typo" in text for other in others for text in texts(local, other))

            await platform.delete_as(workspace, channel, person, second)
            await local.until(lambda: everywhere("mended"))

            words = [f"word{n}" for n in range(WORDS[origin])]
            await platform.edit_as(workspace, channel, person, first, " ".join(words))
            await local.until(
                lambda: all(words[-1] in " ".join(texts(local, other)) for other in others)
            )
            await platform.edit_as(workspace, channel, person, first, "short again")
            await local.until(lambda: everywhere("short again"))

            await platform.delete_as(workspace, channel, person, first)
            await local.until(lambda: everywhere())
            assert await bridge.store.dead_letters() == []
            (room,) = [
                timeline
                for timeline, _ in await bridge.store.conversations()
                if timeline.kind == "room"
            ]
            assert (await bridge.store.conversation(room.id)).messages == ()


def files(local: Sandbox, platform: str) -> list[tuple[str, ...]]:
    """The names of the files of each message there that has any."""
    key, name = {"slack": ("files", "name"), "discord": ("attachments", "filename")}[platform]
    names_of_all = [
        [file[name] for file in message.raw.get(key) or ()] for message in standing(local, platform)
    ]
    return [tuple(names) for names in names_of_all if names]


def standing(local: Sandbox, platform: str) -> list[Any]:
    return list(local.standing(platform, "general"))


async def test_edits_of_the_text_keep_the_files(tmp_path: Path) -> None:
    long = " ".join(f"word{number}" for number in range(2000))  # more than Slack has in a message
    async with local_sandbox(limits=False) as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        settings["files"] = {"allow_loopback": True}
        members = settings["rooms"]["general"]["members"]
        members[:] = [member for member in members if member["account"] != "discord"]
        async with running(local, settings) as (bridge, _):
            where, teams = local.place("teams", "general"), local.platforms["teams"]
            at = (*where, local.person("teams", where[0]))

            def is_complete(*words: str) -> bool:
                """Slack has these words, each in a message, and below them the picture once."""
                there = standing(local, "slack")
                shared = [len(message.raw.get("files") or ()) for message in there]
                pairs = zip(words, there, strict=False)
                return shared == [0] * len(words) + [1] and all(
                    w in str(message.raw) for w, message in pairs
                )

            uploads = [FileUpload(name="a.png", data=PNG)]
            message = (await teams.post_files(*at, uploads, "see below")).id  # type: ignore[attr-defined]
            await local.until(lambda: is_complete("see below"))
            shared = standing(local, "slack")[-1].id
            for text, words in (("", ()), (long, ("word0 ", "word1999"))):
                await teams.edit_as(*at, message, text)
                await local.until(lambda words=words: is_complete(*words))
                assert text or standing(local, "slack")[-1].id == shared
            await teams.edit_as(*at, message, "short")
            await local.until(lambda: is_complete("short"))
            await teams.delete_as(*at, message)
            await local.until(lambda: texts(local, "slack") == [])
            assert await bridge.store.dead_letters() == []


async def test_files_that_teams_withholds_from_apps_are_announced(tmp_path: Path) -> None:
    async with local_sandbox(limits=False) as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        async with running(local, settings):
            where, teams = local.place("teams", "general"), local.platforms["teams"]
            at = (*where, local.person("teams", where[0]))
            uploads = [FileUpload(name=name, data=b"x") for name in ("a.txt", "b.txt")]

            await teams.post_files(*at, uploads, "see below")  # type: ignore[attr-defined]
            await teams.post_files(*at, uploads[:1])  # type: ignore[attr-defined]
            await local.until(lambda: len(texts(local, "slack")) == 2)

            assert texts(local, "slack") == [
                "see below\n\n[2 files in Teams]",
                "[a file in Teams]",
            ]


@pytest.mark.parametrize("origin", PLATFORMS)
async def test_a_file_removed_from_a_message_is_removed_from_its_copies(
    tmp_path: Path, origin: str
) -> None:
    others = [name for name in ("slack", "discord") if name != origin]
    async with local_sandbox(limits=False) as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        settings["files"] = {"allow_loopback": True}
        async with running(local, settings):
            where, platform = local.place(origin, "general"), local.platforms[origin]
            at = (*where, local.person(origin, where[0]))
            uploads = [
                FileUpload(name=f"{n}.png", data=PNG + bytes([n]), alt=f"picture {n}")
                for n in range(3)
            ]
            message_id = (await platform.post_files(*at, uploads, "three of them")).id  # type: ignore[attr-defined]

            def each_has(number: int) -> bool:
                return all([len(names) for names in files(local, o)] == [number] for o in others)

            await local.until(lambda: each_has(3))
            await platform.remove_file_as(*at, message_id, "1.png")  # type: ignore[attr-defined]
            await local.until(lambda: each_has(2))

            assert all("three of them" in str(standing(local, other)) for other in others)


@pytest.mark.parametrize("origin", ["slack", "discord"])
async def test_a_file_removed_during_a_downtime_is_removed_from_the_copies(
    tmp_path: Path, origin: str
) -> None:
    other = "discord" if origin == "slack" else "slack"
    async with local_sandbox(limits=False) as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        settings["files"] = {"allow_loopback": True}
        where, platform = local.place(origin, "general"), local.platforms[origin]
        at = (*where, local.person(origin, where[0]))
        uploads = [FileUpload(name=f"{n}.png", data=PNG + bytes([n])) for n in range(2)]
        async with running(local, settings):
            message_id = (await platform.post_files(*at, uploads, "two of them")).id  # type: ignore[attr-defined]
            await local.until(lambda: [len(names) for names in files(local, other)] == [2])
        await platform.remove_file_as(*at, message_id, "1.png")  # type: ignore[attr-defined]
        states: list[Any] = []
        for _ in range(2):  # found once, it is no news any more
            async with running(local, settings) as (bridge, _):
                await local.until(lambda: files(local, other) == [("0.png",)])
                await local.until(lambda now=bridge: not now.router.operations.reconciling)
            edited = ("edited", "edited_timestamp")
            there = standing(local, other)
            states.append([(message.id, *map(message.raw.get, edited)) for message in there])
        assert states[0] == states[1]
