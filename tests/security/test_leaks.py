"""A whole scenario with everything logged: no secret and no word of anybody is found anywhere."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from pydantic import TypeAdapter, ValidationError

from bridge.app.local_accounts import app_settings
from bridge.app.redaction import hide_inputs
from tests.app.running import child, cli, events, write
from tests.e2e.local_sandbox import Sandbox, configuration, connect, local_sandbox

pytestmark = pytest.mark.process

PLATFORMS = ("slack", "discord", "teams")
WORDS = ("ZANZIBAR", "QUOKKA", "XYLOPHONE")  # what is said; in no log
KEY = "c2VjcmV0LWtleS1vZi10aGUtc3RvcmUtMzItYnl0ZXM="


def secrets_of(local: Sandbox) -> dict[str, str]:
    """Everything that must stay hidden, by what it is."""
    secrets: dict[str, str] = {"the store's key": KEY}
    for platform in local.platforms:
        for number, app in enumerate(local.platforms[platform].world().apps):
            made = app_settings(platform, app, local.context.base_url)
            for name, value in made.get("environment", {}).items():
                secrets[f"{name} {number}"] = str(value)
            for name in ("signing_secret", "verification_token", "app_token", "bot_token"):
                if value := app.get(name):
                    secrets[f"{platform} {name} {number}"] = str(value)
    state: Any = local.platforms["discord"]
    for webhook in state.state.webhooks.values():
        secrets[f"webhook {webhook.id}"] = str(webhook.token)
    return secrets


def found_in(text: str, hidden: Mapping[str, str]) -> list[str]:
    return [name for name, value in hidden.items() if value and value in text]


async def test_no_secret_and_no_word_leaves_the_store(tmp_path: Path) -> None:
    async with local_sandbox(limits=False) as local:
        settings = configuration(local, tmp_path / "data" / "b.sqlite3", channels=["general"])
        settings |= {"log": {"level": "debug", "format": "json"}}
        config = write(tmp_path / "bridge.yaml", json.dumps(settings))
        os.environ["UACS_BRIDGE_KEY"] = KEY
        try:
            async with child("run", "-c", str(config)) as bridge:
                url = str((await bridge.line(r'"web":"(http[^"]+)"'))[1])
                await connect(local, settings, url)
                for platform, word in zip(PLATFORMS, WORDS, strict=True):
                    await local.say(platform, "general", f"@echo {word} \u202e\x07 <at>x</at>")
                await local.until(
                    lambda: all(len(local.standing(p, "general")) >= 6 for p in PLATFORMS), 20
                )
                await forged_requests(url)
                page_texts = await pages(url)
                standing = local.standing("slack", "general")[0].id
                for command in (["status"], ["status", "--json"], ["rooms"], ["check"],
                                ["dead-letters", "list"], ["explain", standing],
                                ["archive", "show", "general"]):  # fmt: skip
                    result = await asyncio.to_thread(cli, *command, "-c", str(config))
                    page_texts[" ".join(command)] = result.output
                backup = tmp_path / "copy" / "backup.sqlite3"
                made = await asyncio.to_thread(cli, "db", "backup", str(backup), "-c", str(config))
                assert made.exit_code == 0
                assert await bridge.stop() == 0
        finally:
            del os.environ["UACS_BRIDGE_KEY"]
        hidden = secrets_of(local)

    logged = "\n".join(bridge.errors)
    files = contents(tmp_path)
    assert len(events(bridge)) > 5
    assert len(hidden) > 8
    assert any(name.startswith("webhook") for name in hidden)
    assert found_in(logged, hidden) == []
    assert [word for word in WORDS if word in logged] == []
    assert {
        name: names for name, text in page_texts.items() if (names := found_in(text, hidden))
    } == {}
    assert {name: names for name, text in files.items() if (names := found_in(text, hidden))} == {}
    for name in ("/healthz", "/metrics", "status", "rooms", "check"):
        assert [word for word in WORDS if word in page_texts[name]] == []
    assert all(word in page_texts["archive show general"] for word in WORDS)
    assert loose_files(tmp_path) == []


async def forged_requests(url: str) -> None:
    """Strangers knock."""
    async with aiohttp.ClientSession() as http:
        for headers in ({}, {"Authorization": "Bearer eyJhbGciOiJub25lIn0.e30."}):
            body = {
                "type": "message",
                "text": " ".join(WORDS),
                "serviceUrl": "https://evil.example",
            }
            async with http.post(f"{url}/teams/messages", json=body, headers=headers) as answer:
                assert answer.status == 401
        for path in ("/admin/", "/admin/secrets", "/teams/nothing", "/.env", "/slack/events"):
            async with http.get(f"{url}{path}") as answer:
                assert answer.status in (404, 405), path


async def pages(url: str) -> dict[str, str]:
    async with aiohttp.ClientSession() as http:
        texts: dict[str, str] = {}
        for path in ("/healthz", "/metrics"):
            async with http.get(f"{url}{path}") as answer:
                texts[path] = await answer.text()
    return texts


def contents(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.name: path.read_bytes().decode("latin-1") for path in files}


def loose_files(folder: Path) -> list[str]:
    """Files of the store, or of a backup, that others may read."""
    return [
        path.name
        for path in folder.rglob("*")
        if path.is_file() and path.name != "bridge.yaml"
        and stat.S_IMODE(path.stat().st_mode) & 0o077
    ]  # fmt: skip


# --- errors -------------------------------------------------------------------------------------


def refusals() -> Iterator[ValidationError]:
    for kind in (int, list[int], dict[str, int]):
        for value in ("QUOKKA, input_type=str", ["QUOKKA\n"], {"QUOKKA": "QUOKKA"}):
            try:
                TypeAdapter(kind).validate_python(value)
            except ValidationError as error:
                yield error


def test_the_values_that_a_model_refused_are_hidden() -> None:
    for error in refusals():
        lines = str(error).splitlines()
        assert "QUOKKA" not in " ".join(
            hide_inputs(line) for line in lines if "input_value" in line
        )


TRACEBACK = """
import structlog
from bridge.app.logs.setup import configure_logs
from bridge.app.settings.sections import LogSettings
configure_logs(LogSettings(level="debug", format={form!r}))
def deep(text):
    secret = text
    raise RuntimeError("nothing about it")
try:
    deep("QUOK" + "KA")
except RuntimeError:
    structlog.get_logger().exception("failed")
    import logging
    logging.getLogger("sdk").exception("failed, too")
"""


@pytest.mark.parametrize("form", ["json", "text"])
def test_a_traceback_shows_no_values(form: str) -> None:
    program = TRACEBACK.format(form=form)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert done.returncode == 0
    assert "RuntimeError: nothing about it" in done.stderr
    assert "QUOKKA" not in done.stderr
