"""What an agent gives as bytes is shared on every platform as its own kind of file."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from tests.agents.model_server import Answer, model_server
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
PARTS = [
    {"type": "text", "text": "Here is what you asked for."},
    {"type": "part_given", "name": "chart.png", "part": {
        "type": "image", "media_type": "image/png",
        "source": {"base64": base64.b64encode(PNG).decode()}}},
    {"type": "part_given", "name": "numbers.csv", "part": {
        "type": "file", "media_type": "text/csv",
        "source": {"base64": base64.b64encode(b"a,b\n1,2\n").decode()}}},
]  # fmt: skip


def with_agent(settings: dict[str, Any], url: str) -> dict[str, Any]:
    settings["agents"] = {"painter": {"kind": "webhook", "url": url, "private_addresses": True}}
    settings["rooms"]["general"]["agents"] = [{"agent": "painter", "listen": "always"}]
    return settings


def all_texts(sandbox: Sandbox, platform: str) -> str:
    return json.dumps(raw(sandbox, platform))


def raw(sandbox: Sandbox, platform: str) -> list[Any]:
    return [message.raw for message in sandbox.standing(platform, "general")]


async def test_files_of_an_agent_are_native_uploads(tmp_path: Path) -> None:
    """Where a bot cannot upload (Teams' channels), they are a picture and a link of the bridge."""
    answer = Answer([json.dumps(PARTS).encode()], 200, "application/json")
    async with model_server(answer) as api, local_sandbox(channels=1) as sandbox:
        settings = configuration(sandbox, tmp_path / "b.sqlite3", channels=["general"])
        settings["web"]["public_url"] = "https://bridge.example"
        async with running(sandbox, with_agent(settings, api.url)):
            platforms = list(sandbox.platforms)
            await sandbox.say(platforms[0], "general", "Draw me a chart")
            await sandbox.until(
                lambda: all("chart.png" in all_texts(sandbox, p) for p in platforms)
            )
            await sandbox.until(
                lambda: all("numbers.csv" in all_texts(sandbox, p) for p in platforms)
            )
            text = all_texts(sandbox, "slack")
            slack, discord, teams = (
                # Without IRC: its lines have links to files.
                raw(sandbox, platform)[-1]
                for platform in ("slack", "discord", "teams")
            )

    (file,) = slack["files"]
    assert (file["name"], file["mimetype"], file["size"]) == ("numbers.csv", "text/csv", 8)
    assert "https://bridge.example/files/" in text
    attached = [
        (attachment["filename"], attachment["content_type"])
        for attachment in discord["attachments"]
    ]
    assert attached == [("chart.png", "image/png"), ("numbers.csv", "text/csv")]
    card = json.dumps(teams["attachments"][0]["content"])
    assert card.count("https://bridge.example/files/") == 2
    for message in (slack, discord, teams):
        assert "base64" not in json.dumps(message)
