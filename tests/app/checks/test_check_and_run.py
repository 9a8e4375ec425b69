"""`check` and `run` agree: `run` refuses or reports every error of `check`."""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio

from bridge.agents.a2a import agent as a2a
from bridge.app.build import build
from bridge.app.checks import readiness
from bridge.app.checks.readiness import not_ready, watch_readiness, wrong_with_account
from bridge.app.reload import Reloader
from bridge.app.settings.file import settings_of
from bridge.app.settings.needs import check_purpose
from bridge.errors import BridgeError, ConfigError
from bridge.ports.findings import Finding
from bridge.runtime.clock import SystemClock
from bridge.tools import mcp_server
from connectors.discord.capabilities import INTENTS
from connectors.discord.sandbox.permissions import Permission
from tests.app.running import STARTED, child, cli, write
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox
from tests.free_ports import free_port
from tests.waiting import LONGEST_WAIT

Change = Callable[[dict[str, Any]], None]
NOWHERE = {"env": "NOWHERE_TO_BE_FOUND"}


@pytest_asyncio.fixture
async def local() -> AsyncGenerator[Sandbox]:
    async with local_sandbox(names=("slack", "discord")) as found:
        yield found


@pytest.fixture
def settings(local: Sandbox, tmp_path: Path) -> dict[str, Any]:
    return configuration(local, tmp_path / "bridge.sqlite3", channels=["general"])


@pytest.fixture
def no_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    """Import errors as in an installation without the extras."""
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


def _dead(kind: str, **options: Any) -> Change:
    def change(settings: dict[str, Any]) -> None:
        url = f"http://127.0.0.1:{free_port()}/v1"
        key = "url" if kind == "webhook" else "base_url"
        _agent(kind=kind, **options, **{key: url})(settings)

    return change


# Programs of tool servers that work, and that do not.
ADDS = {"command": sys.executable, "args": ["-m", "tests.tools.plain_server", "none"]}
TOOLS = {"folder": str(Path(__file__).parents[3])}


def _unknown_group(settings: dict[str, Any]) -> None:
    room = settings["rooms"]["general"]
    (guild,) = [member["workspace"] for member in room["members"] if member["account"] == "discord"]
    room["agents"] = [{"agent": "echo", "allow": [f"group:discord:{guild}:45"]}]


def _dead_tool(settings: dict[str, Any]) -> None:
    _tool(url=f"http://127.0.0.1:{free_port()}/mcp")(settings)


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
    "a dead server of tools": _dead_tool,
    "a tool's program that ends at once": _tool(command="true"),
    "an unknown group": _unknown_group,
}
# Errors in the file, the environment and the packages.
OFFLINE = set(BROKEN) - {
    "an unknown channel", "a dead model's API", "a dead ACP server", "a dead A2A server",
    "a dead webhook", "nobody can call us", "a dead server of tools",
    "a tool's program that ends at once", "an unknown group",
}  # fmt: skip


async def errors_of_check(settings: Any, tmp_path: Path, *options: str) -> list[str]:
    config = write(tmp_path / "bridge.yaml", json.dumps(settings))
    result = await asyncio.to_thread(cli, "check", "--json", "-c", str(config), *options)
    found = json.loads(result.stdout)
    errors = [finding["what"] for finding in found["findings"] if finding["level"] == "error"]
    assert (result.exit_code == 1) == bool(errors)
    return errors


async def troubles_of_run(settings: Any) -> list[str]:
    """The errors with which it does not start, or the problems that it reports afterwards."""
    try:
        check_purpose(settings_of(settings))
        bridge = await build(settings_of(settings))
    except (BridgeError, OSError) as error:
        return [str(error)]
    try:
        found = await not_ready(bridge)
        for name in bridge.connectors:
            found |= await wrong_with_account(bridge, name)
        return [*bridge.problems, *found.values()]
    finally:
        await bridge.close()


async def test_check_and_run_accept_a_good_configuration(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    _tool(**ADDS, **TOOLS)(settings)

    assert await errors_of_check(settings, tmp_path) == []
    assert await errors_of_check(settings, tmp_path, "--offline") == []
    assert await troubles_of_run(settings) == []


@pytest.mark.parametrize("name", BROKEN)
async def test_run_refuses_or_reports_every_error_of_check(
    settings: dict[str, Any], tmp_path: Path, name: str
) -> None:
    BROKEN[name](settings)

    assert await errors_of_check(settings, tmp_path)
    assert await troubles_of_run(settings)
    assert bool(await errors_of_check(settings, tmp_path, "--offline")) == (name in OFFLINE)


def _slack_app(local: Sandbox) -> Any:
    slack: Any = local.platforms["slack"]
    return next(app for app in slack.slack.apps.values() if app.name == "Bridge")


def _not_in_the_channel(local: Sandbox, settings: dict[str, Any]) -> None:
    slack: Any = local.platforms["slack"]
    workspace, channel = local.place("slack", "general")
    slack.slack.workspaces[workspace].channels[channel].members.pop(_slack_app(local).bot_user)


def _missing_scope(local: Sandbox, settings: dict[str, Any]) -> None:
    _slack_app(local).scopes -= {"chat:write.customize"}


def _missing_intent(local: Sandbox, settings: dict[str, Any]) -> None:
    discord: Any = local.platforms["discord"]
    for app in discord.state.apps.values():
        app.granted &= ~INTENTS["MESSAGE_CONTENT"]


def _missing_permission(local: Sandbox, settings: dict[str, Any]) -> None:
    discord: Any = local.platforms["discord"]
    for guild in discord.state.guilds.values():
        for role in guild.roles.values():
            role.permissions &= ~int(Permission.MANAGE_WEBHOOKS | Permission.ADMINISTRATOR)


def _another_tenant(local: Sandbox, settings: dict[str, Any]) -> None:
    members = settings["rooms"]["general"]["members"]
    teams = next(member for member in members if member["account"] == "teams")
    teams["workspace"] = str(UUID(int=7))


# Errors that only the platforms know: how to cause each, and its text.
BROKEN_THERE: dict[str, tuple[Callable[[Sandbox, dict[str, Any]], None], str]] = {
    "slack: not in the channel": (_not_in_the_channel, "the bot is not in channel"),
    "slack: a scope": (_missing_scope, "scope chat:write.customize is missing"),
    "discord: an intent": (_missing_intent, "The intent MESSAGE CONTENT is missing"),
    "discord: a permission": (_missing_permission, "the bot lacks Manage Webhooks"),
    "teams: another tenant": (_another_tenant, "not in tenant_id"),
}


@pytest_asyncio.fixture
async def all_three() -> AsyncGenerator[Sandbox]:
    async with local_sandbox() as found:
        yield found


def _with_teams(local: Sandbox, tmp_path: Path) -> dict[str, Any]:
    found = configuration(local, tmp_path / "bridge.sqlite3", channels=["general"])
    found["web"]["public_url"] = "https://bridge.example.org"
    return found


@pytest.mark.parametrize("name", BROKEN_THERE)
async def test_check_and_a_running_bridge_report_what_a_platform_refuses(
    all_three: Sandbox, tmp_path: Path, name: str
) -> None:
    change, expected = BROKEN_THERE[name]
    settings = _with_teams(all_three, tmp_path)
    before = [*await errors_of_check(settings, tmp_path), *await troubles_of_run(settings)]

    change(all_three, settings)

    assert [error for error in before if expected in error] == []
    assert any(expected in error for error in await errors_of_check(settings, tmp_path))
    assert any(expected in trouble for trouble in await troubles_of_run(settings))
    assert await errors_of_check(settings, tmp_path, "--offline") == []


@pytest.mark.parametrize(
    ("change", "extra"),
    [(_agent(kind="a2a", base_url="https://a.test"), "a2a"), (_tool(command="true"), "mcp")],
)
@pytest.mark.usefixtures("no_extras")
async def test_check_and_run_report_a_missing_extra_and_how_to_install_it(
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
    output = "\n".join(started.errors)

    assert code == 2
    assert "accounts.slack.bot_token: " in output or "no account" in output
    assert "Traceback" not in output


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
        assert any("NOWHERE_TO_BE_FOUND" in problem for problem in bridge.problems)
    finally:
        await bridge.close()


async def test_parts_that_are_not_ready_are_reported_while_the_bridge_runs(
    settings: dict[str, Any],
) -> None:
    _dead("openai-chat", model="m")(settings)
    bridge = await build(settings_of(settings))
    watching = asyncio.create_task(watch_readiness(bridge))
    try:
        async with asyncio.timeout(LONGEST_WAIT):
            while not bridge.unready:  # noqa: ASYNC110 - nobody is told of it
                await asyncio.sleep(0.01)

        assert "cannot be reached" in bridge.unready["agents.helper"]
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        await bridge.close()


class TurnedClock(SystemClock):
    """A clock on which sleepers wait until the test turns it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.sleeping: list[tuple[float, asyncio.Future[None]]] = []

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.sleeping.append((self.now + seconds, woken))
        await woken

    async def turn(self, seconds: float) -> None:
        """Let these seconds pass, until all tasks sleep again."""
        self.now += seconds
        due = [sleeper for sleeper in self.sleeping if sleeper[0] <= self.now]
        self.sleeping = [sleeper for sleeper in self.sleeping if sleeper[0] > self.now]
        for _, woken in due:
            woken.set_result(None)
        expected = len(self.sleeping) + len(due)
        async with asyncio.timeout(10):
            while len(self.sleeping) < expected:  # noqa: ASYNC110 - nobody is told of it
                await asyncio.sleep(0.01)


async def test_an_account_is_checked_again_only_while_it_has_an_error(
    local: Sandbox, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Platforms limit the requests; an account that is not connected is not checked."""
    looked: list[str] = []
    wrong = {"slack": "scope x is missing"}
    up = {"slack"}

    async def check(name: str, *_: object) -> list[Finding]:
        looked.append(name)
        return [Finding("error", wrong[name], "add it")] if name in wrong else []

    monkeypatch.setattr(readiness, "check_account", check)
    monkeypatch.setattr(readiness, "_is_up", lambda _, name: name in up)
    bridge = await build(settings_of(settings))
    bridge.clock = clock = TurnedClock()
    watching = asyncio.create_task(watch_readiness(bridge))
    found: list[tuple[list[str], list[str]]] = []

    async def after(*turns: float) -> None:
        for seconds in turns:
            await clock.turn(seconds)
        found.append((looked[:], list(bridge.unready)))
        looked.clear()

    try:
        async with asyncio.timeout(10):
            while len(clock.sleeping) < 2:  # noqa: ASYNC110 - nobody is told of it
                await asyncio.sleep(0.01)
        await after()  # accounts connect first
        await after(readiness.AFTER_START)
        up.add("discord")
        await after(60.0, 60.0)
        await after(*[60.0] * 5)
        wrong.clear()
        await after(*[60.0] * 5)
        await after(*[60.0] * 30)
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        await bridge.close()

    assert found == [
        ([], []), (["slack"], ["accounts.slack"]), (["discord"], ["accounts.slack"]),
        ([], ["accounts.slack"]), (["slack"], []), ([], []),
    ]  # fmt: skip


async def test_without_a_network_check_reports_no_invalid_tokens(
    all_three: Sandbox, tmp_path: Path
) -> None:
    settings = _with_teams(all_three, tmp_path)
    dead = f"http://127.0.0.1:{free_port()}"
    settings["accounts"]["slack"]["api_url"] = f"{dead}/slack/api/"
    settings["accounts"]["discord"]["api_url"] = f"{dead}/discord/api/v10"
    settings["accounts"]["teams"]["login_url"] = f"{dead}/login"

    errors = " ".join(await errors_of_check(settings, tmp_path))

    assert "The identity provider cannot be asked" in errors
    assert "No token for the bot" not in errors
    assert "Slack cannot be asked" in errors
    assert "token does not work" not in errors
    assert "refuses the bot token" not in errors
