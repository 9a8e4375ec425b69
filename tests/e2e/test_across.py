"""A message of each platform is shown on all others, through the real SDKs."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.local_sandbox import PLATFORMS, configuration, local_sandbox, running


async def test_a_message_of_each_platform_is_shown_once_on_every_platform(tmp_path: Path) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3")
        async with running(local, settings):
            for platform in PLATFORMS:
                await local.say(platform, "general", f"hello from {platform}")
            await local.until(
                lambda: all(len(local.standing(p, "general")) >= len(PLATFORMS) for p in PLATFORMS)
            )

            for platform in PLATFORMS:
                texts = [message.text for message in local.standing(platform, "general")]
                assert len(texts) == len(PLATFORMS)
                for origin in PLATFORMS:
                    assert sum(f"hello from {origin}" in text for text in texts) == 1
