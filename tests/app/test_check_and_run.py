"""`check` and `run` agree: what the one calls an error, the other refuses or reports."""

from __future__ import annotations

import asyncio
import importlib
import json
import socket
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from bridge.agents.a2a import agent as a2a
from bridge.app.build import build
from bridge.app.needs import check_purpose
from bridge.app.readiness import not_ready, watch_readiness
from bridge.app.reload import Reloader
from bridge.app.settings import settings_of
from bridge.errors import BridgeError, ConfigError
from bridge.tools import mcp_server
from tests.app.running import STARTED, child, cli, write
from tests.e2e.house import Street, configuration, street

Change = Callable[[dict[str, Any]], None]
NOWHERE = {"env": "NOWHERE_TO_BE_FOUND"}


@pytest_asyncio.fixture
async def local() -> AsyncGenerator[Street]:
    async with street(names=("slack", "discord")) as found:
        yield found


@pytest.fixture
def settings(local: Street, tmp_path: Path) -> dict[str, Any]:
    return configuration(local, tmp_path / "bridge.sqlite3", channels=["general"])


@pytest.fixture
def no_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in an installation without the extras."""
    real = importlib.import_module

    def without_sdks(name: str, package: str | None = None) -> Any:
        if name.endswith("a2a.client"):
            raise ImportError(name)
        return real(name, package)

    monkeypatch.setattr(a2a, "import_module", without_sdks)
    monkeypatch.setattr(mcp_server, "has_module", lambda name: False)


def _agent(**options: Any) -> Change:
    def change(settings: dict[str, Any]) -> None:
        settings["agents"]["helper"] = options
        settings["rooms"]["general"]["agents"].append({"agent": "helper"})

    return change


def _tool(**options: Any) -> Change:
    def change(settings: dict[str, Any]) -> None:
        settings["tools"] = {"calendar": options}

    return change


def _account(**options: Any) -> Change:
    def change(settings: dict[str, Any]) -> None:
        settings["accounts"]["slack"] |= options

    return change


def _nothing(settings: dict[str, Any]) -> None:
    for key in ("accounts", "rooms", "agents"):
        del settings[key]


def _no_rooms(settings: dict[str, Any]) -> None:
    del settings["rooms"]


def _unknown_channel(settings: dict[str, Any]) -> None:
    settings["rooms"]["general"]["members"][0]["channel"] = "#genral"


def _twice(settings: dict[str, Any]) -> None:
    members = settings["rooms"]["general"]["members"]
    members.append(members[0])


def _public_url(settings: dict[str, Any]) -> None:
    settings["web"]["public_url"] = "http://bridge.example.org"


def _unknown_agent(settings: dict[str, Any]) -> None:
    settings["rooms"]["general"]["agents"] = [{"agent": "nobody"}]


def _store_in_nowhere(settings: dict[str, Any]) -> None:
    settings["store"]["path"] = "/dev/null/nowhere/bridge.sqlite3"


def _key_of_another_program(settings: dict[str, Any]) -> None:
    Path(settings["store"]["path"]).with_suffix(".key").write_text("-----BEGIN PRIVATE KEY-----\n")


def _closed_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def _dead(kind: str, **options: Any) -> Change:
    def change(settings: dict[str, Any]) -> None:
        url = f"http://127.0.0.1:{_closed_port()}/v1"
        key = "url" if kind == "webhook" else "base_url"
        _agent(kind=kind, **options, **{key: url})(settings)

    return change


BROKEN = {
    "nothing": _nothing,
    "no rooms": _no_rooms,
    "an account's secret": _account(bot_token=NOWHERE),
    "a secret's file": _account(bot_token={"file": "/nowhere/to/be/found"}),
    "a sealed secret": _account(bot_token={"sealed": "nowhere"}),
    "an agent's secret": _agent(kind="anthropic", model="m", api_key=NOWHERE),
    "no key at the vendor's": _agent(kind="openai-chat", model="m"),
    "a webhook's secret": _agent(kind="webhook", url="https://a.test/", secret=NOWHERE),
    "a tool's secret": _tool(command="true", env={"TOKEN": NOWHERE}),
    "a tool's program": _tool(command="no-such-program-anywhere"),
    "a tool's program by its path": _tool(command="./no-such-program"),
    "an unknown channel": _unknown_channel,
    "a channel twice": _twice,
    "an unknown agent": _unknown_agent,
    "an address without TLS": _public_url,
    "nobody can call us": _account(receive="http"),
    "no place for the store": _store_in_nowhere,
    "a key of another program": _key_of_another_program,
    "a dead model's API": _dead("openai-chat", model="m"),
    "a dead ACP server": _dead("acp", agent_name="a"),
    "a dead A2A server": _dead("a2a"),
    "a dead webhook": _dead("webhook", private_addresses=True),
}
# What is found in the file, the environment and the packages alone.
OFFLINE = set(BROKEN) - {
    "an unknown channel", "a dead model's API", "a dead ACP server", "a dead A2A server",
    "a dead webhook", "nobody can call us",
}  # fmt: skip


async def errors_of_check(settings: Any, tmp_path: Path, *options: str) -> list[str]:
    config = write(tmp_path / "bridge.yaml", json.dumps(settings))
    result = await asyncio.to_thread(cli, "check", "--json", "-c", str(config), *options)
    found = json.loads(result.stdout)
    errors = [one["what"] for one in found["findings"] if one["level"] == "error"]
    assert (result.exit_code == 1) == bool(errors)
    return errors


async def troubles_of_run(settings: Any) -> list[str]:
    """Why it does not start; or what it reports when it has."""
    try:
        check_purpose(settings_of(settings))
        bridge = await build(settings_of(settings))
    except (BridgeError, OSError) as error:
        return [str(error)]
    try:
        return [*bridge.problems, *(await not_ready(bridge)).values()]
    finally:
        await bridge.close()


async def test_a_good_configuration_is_good_for_both(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    _tool(command="true")(settings)

    assert await errors_of_check(settings, tmp_path) == []
    assert await errors_of_check(settings, tmp_path, "--offline") == []
    assert await troubles_of_run(settings) == []


@pytest.mark.parametrize("name", BROKEN)
async def test_what_check_calls_an_error_run_refuses_or_reports(
    settings: dict[str, Any], tmp_path: Path, name: str
) -> None:
    BROKEN[name](settings)

    assert await errors_of_check(settings, tmp_path)
    assert await troubles_of_run(settings)
    assert bool(await errors_of_check(settings, tmp_path, "--offline")) == (name in OFFLINE)


@pytest.mark.parametrize(
    ("change", "extra"),
    [(_agent(kind="a2a", base_url="https://a.test"), "a2a"), (_tool(command="true"), "mcp")],
)
@pytest.mark.usefixtures("no_extras")
async def test_an_extra_that_is_missing_is_told_by_both_with_what_to_do(
    settings: dict[str, Any], tmp_path: Path, change: Change, extra: str
) -> None:
    change(settings)
    config = write(tmp_path / "bridge.yaml", json.dumps(settings))

    result = await asyncio.to_thread(cli, "check", "--offline", "-c", str(config))

    (refusal,) = await troubles_of_run(settings)
    assert result.exit_code == 1
    assert f"pip install '.[{extra}]'" in result.stdout
    assert f"pip install '.[{extra}]'" in refusal


@pytest.mark.parametrize("change", [_nothing, _account(bot_token=NOWHERE)])
async def test_run_refuses_with_exit_code_2_and_names_the_key(
    settings: dict[str, Any], tmp_path: Path, change: Change
) -> None:
    change(settings)
    config = write(tmp_path / "bridge.yaml", json.dumps(settings))

    async with child("run", "-c", str(config)) as started:
        code = await asyncio.wait_for(started.process.wait(), STARTED)
    told = "\n".join(started.errors)

    assert code == 2
    assert "accounts.slack.bot_token: " in told or "no account" in told
    assert "Traceback" not in told


async def test_a_reload_that_misses_a_secret_changes_nothing_and_says_so(
    settings: dict[str, Any],
) -> None:
    bridge = await build(settings_of(settings))
    try:
        _agent(kind="anthropic", model="m", api_key=NOWHERE)(settings)
        reloader = Reloader(bridge, lambda: settings_of(settings))

        with pytest.raises(ConfigError, match=r"agents\.helper\.api_key: The environment variable"):
            await reloader.reload()

        assert list(bridge.agents) == ["echo"]
        assert any("NOWHERE_TO_BE_FOUND" in one for one in bridge.problems)
    finally:
        await bridge.close()


async def test_what_is_not_ready_is_reported_while_the_bridge_runs(
    settings: dict[str, Any],
) -> None:
    _dead("openai-chat", model="m")(settings)
    bridge = await build(settings_of(settings))
    watching = asyncio.create_task(watch_readiness(bridge))
    try:
        async with asyncio.timeout(10):
            while not bridge.unready:  # noqa: ASYNC110 - nobody is told of it
                await asyncio.sleep(0.01)

        assert "cannot be reached" in bridge.unready["agents.helper"]
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        await bridge.close()


async def test_without_a_network_nothing_is_said_of_tokens(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    dead = f"http://127.0.0.1:{_closed_port()}"
    settings["accounts"]["slack"]["api_url"] = f"{dead}/slack/api/"
    settings["accounts"]["discord"]["api_url"] = f"{dead}/discord/api/v10"

    told = " ".join(await errors_of_check(settings, tmp_path))

    assert "Slack cannot be asked" in told
    assert "token does not work" not in told
    assert "refuses the bot token" not in told
