"""What a person edits or deletes on one platform changes on the others, through the real SDKs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.house import Street, configuration, running, street

PLATFORMS = ("slack", "discord", "teams")
WORDS = {"slack": 1200, "discord": 220, "teams": 1200}  # as many as a person may write there


def texts(local: Street, platform: str) -> list[str]:
    return [shown.text for shown in local.standing(platform, "general")]


@pytest.mark.parametrize("origin", PLATFORMS)
async def test_edits_and_deletions_reach_every_copy_in_order(tmp_path: Path, origin: str) -> None:
    others = [name for name in PLATFORMS if name != origin]

    def everywhere(*words: str) -> bool:
        """Each message has these words, in this order, and there is no other."""
        return all(
            len(texts(local, one)) == len(words)
            and all(word in text for word, text in zip(words, texts(local, one), strict=True))
            for one in others
        )

    async with street() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        async with running(local, settings) as (bridge, _):
            workspace, channel = local.place(origin, "general")
            person, platform = local.person(origin, workspace), local.platforms[origin]
            first = await local.say(origin, "general", "the first, with a typo")
            second = await local.say(origin, "general", "the second")
            await local.until(lambda: everywhere("with a typo", "the second"))

            await platform.edit_as(workspace, channel, person, first, "the first, *mended*")
            await local.until(lambda: everywhere("mended", "the second"))
            assert not any("typo" in text for one in others for text in texts(local, one))

            await platform.delete_as(workspace, channel, person, second)
            await local.until(lambda: everywhere("mended"))

            words = [f"word{n}" for n in range(WORDS[origin])]
            await platform.edit_as(workspace, channel, person, first, " ".join(words))
            await local.until(
                lambda: all(words[-1] in " ".join(texts(local, one)) for one in others)
            )
            await platform.edit_as(workspace, channel, person, first, "short again")
            await local.until(lambda: everywhere("short again"))

            await platform.delete_as(workspace, channel, person, first)
            await local.until(lambda: everywhere())
            assert await bridge.store.dead_letters() == []
            (room,) = [one for one, _ in await bridge.store.conversations() if one.kind == "room"]
            assert (await bridge.store.conversation(room.id)).messages == ()
