"""`uacs-bridge tokens`, while the bridge runs and while it does not; and the errors without the
extra `mcp`."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest

from bridge.app.logs.setup import configure_logs
from bridge.app.redaction import hide_secrets
from bridge.app.settings.sections import LogSettings
from tests.app.api.served import client, reading
from tests.app.api.test_gate import served
from tests.app.running import cli, write
from tests.e2e.local_sandbox import configuration, local_sandbox, running


async def test_tokens_are_made_and_revoked_beside_a_running_bridge(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with AsyncExitStack() as stack, local_sandbox(names=("slack",)) as local:
        settings = configuration(local, tmp_path / "b.sqlite3", channels=["general"])
        config = ("-c", str(write(tmp_path / "bridge.yaml", json.dumps(settings))))

        async def run(*args: str) -> tuple[int, str]:
            result = await asyncio.to_thread(cli, "tokens", *args, *config)
            return result.exit_code, result.stdout.strip() or result.stderr

        _, early = await run("add", "early", "--room", "general", "--expires", "never")
        async with running(local, settings) as (_, url):
            _, token = await run("add", "helper", "--room", "gen*", "--scope", "read,post")
            async with client(url, token) as http, client(url, early) as other:
                posted = await http.post("/v1/rooms/general/messages", json={"text": "to explain"})
                both = [(await client.get("/v1/rooms")).status_code for client in (http, other)]
                _, listed = await run("list")
                own_id = posted.json()["message_id"]
                explained = await asyncio.to_thread(cli, "explain", own_id, *config)
                revoked = await run("revoke", "helper")
                after = (await http.get("/v1/rooms")).status_code
                again = await run("revoke", "helper")
            http = await stack.enter_async_context(client(url, early))
            reader = await stack.enter_async_context(reading(http))  # while the bridge stops
        await reader.until("end")
        nowhere = await run("add", "lost", "--room", "nowhere")
        agent = await run("add", "echo", "--room", "general")
        wrong = await run("add", "x", "--room", "general", "--scope", "all")

    assert (both, after) == ([200, 200], 401)
    assert reader.of("end")[0]["reason"] == "stopping"
    rows = [line.split() for line in listed.splitlines()]
    assert ["early", "assistant", "read", "general", "for", "ever"] in rows
    assert ["helper", "assistant", "read,post", "gen*", "until"] in [row[:5] for row in rows]
    assert token not in listed
    assert "message_posted" in explained.stdout
    assert "no longer configured" not in explained.stdout
    assert (revoked, again[0]) == ((0, "Revoked."), 1)
    assert [client[0] for client in (nowhere, agent, wrong)] == [2, 1, 1]
    assert "there are: general" in nowhere[1]
    secret = token.rpartition(".")[2]
    assert secret.encode() not in _everything_in(tmp_path)
    assert secret not in "".join(capsys.readouterr())


def _everything_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir() if path.is_file())


def test_a_token_is_hidden_wherever_it_is_logged() -> None:
    token = "uacs.helper." + "aB3_-" * 8
    configure_logs(LogSettings())

    assert hide_secrets(f"refused {token}, sorry") == "refused [hidden], sorry"


async def test_without_the_extra_the_error_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [module for module in sys.modules if module.partition(".")[0] == "mcp"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "bridge.app.api.mcp_tools", raising=False)
    monkeypatch.setitem(sys.modules, "mcp", None)

    command = cli("mcp")
    async with served() as api:
        answer: httpx.Response = await api.http.post("/mcp", json={})

    assert command.exit_code == 2
    assert "pip install '.[mcp]'" in command.stderr
    assert answer.status_code == 503
    assert "pip install '.[mcp]'" in answer.json()["todo"]
