"""A message crosses Slack, Discord, Teams and an agent through the real SDKs."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.local_sandbox import configuration, local_sandbox, running

PLATFORMS = ("slack", "discord", "teams")


async def test_what_is_said_anywhere_appears_everywhere(tmp_path: Path) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3")
        async with running(local, settings):
            for platform in PLATFORMS:
                await local.say(platform, "general", f"hello from {platform}")
            await local.until(
                lambda: all(len(local.standing(p, "general")) >= 3 for p in PLATFORMS)
            )

            for platform in PLATFORMS:
                texts = [message.text for message in local.standing(platform, "general")]
                assert len(texts) == 3
                for origin in PLATFORMS:
                    assert sum(f"hello from {origin}" in text for text in texts) == 1
