"""`check` finds problems before the start, and says how to solve each."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from bridge.app.origin import check_one_place, place_of_code
from bridge.errors import ConfigError
from connectors.slack.sandbox.local import LocalSlack
from tests.app.running import cli, write
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running

Change = Callable[[dict[str, Any]], None]


@pytest_asyncio.fixture
async def local() -> AsyncGenerator[Sandbox]:
    async with local_sandbox(names=("slack", "discord")) as found:
        yield found


@pytest.fixture
def settings(local: Sandbox, tmp_path: Path) -> dict[str, Any]:
    return configuration(local, tmp_path / "bridge.sqlite3", channels=["general"])


def _names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def check(settings: Any, tmp_path: Path) -> tuple[int, list[dict[str, str]]]:
    config = write(tmp_path / "bridge.yaml", json.dumps(settings))
    result = await asyncio.to_thread(cli, "check", "--json", "-c", str(config))
    assert result.exit_code in (0, 1), result.output
    found = json.loads(result.stdout)
    assert found["ok"] == (result.exit_code == 0)
    return result.exit_code, found["findings"]


async def test_a_good_configuration_has_no_errors_and_leaves_nothing_behind(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    code, findings = await check(settings, tmp_path)

    assert [f for f in findings if f["level"] == "error"] == []
    assert code == 0
    assert {f["about"] for f in findings} == {
        "Configuration", "Store", "Web server", "Account slack (slack)",
        "Account discord (discord)", "Room general",
    }  # fmt: skip
    assert _names(tmp_path) == ["bridge.yaml"]


def _no_secret(settings: dict[str, Any]) -> None:
    settings["accounts"]["slack"]["bot_token"] = {"env": "NOWHERE_TO_BE_FOUND"}


def _no_key(settings: dict[str, Any]) -> None:
    key = {"env": "NOWHERE_TO_BE_FOUND"}
    settings["agents"]["helper"] = {"kind": "anthropic", "model": "m", "api_key": key}


def _unknown_channel(settings: dict[str, Any]) -> None:
    settings["rooms"]["general"]["members"][0]["channel"] = "#genral"


def _twice(settings: dict[str, Any]) -> None:
    members = settings["rooms"]["general"]["members"]
    members.append(members[0])


def _two_accounts(settings: dict[str, Any]) -> None:
    settings["accounts"]["again"] = settings["accounts"]["slack"]
    member = settings["rooms"]["general"]["members"][0]
    settings["rooms"]["other"] = {"members": [{**member, "account": "again"}]}


def _unknown_workspace(settings: dict[str, Any]) -> None:
    settings["rooms"]["general"]["members"][0] |= {"workspace": "Acmee", "channel": "general"}


def _public_url(settings: dict[str, Any]) -> None:
    settings["web"]["public_url"] = "http://bridge.example.org"


def _slack_over_http(settings: dict[str, Any]) -> None:
    settings["accounts"]["slack"]["receive"] = "http"


def _store_in_nowhere(settings: dict[str, Any]) -> None:
    settings["store"]["path"] = "/dev/null/nowhere/bridge.sqlite3"


def _unknown_key(settings: dict[str, Any]) -> None:
    settings["wep"] = {}


@pytest.mark.parametrize(
    ("change", "about", "problem", "todo"),
    [
        (_no_secret, "Account slack", "NOWHERE_TO_BE_FOUND is empty or not set", "export"),
        (_no_key, "Agent helper", "NOWHERE_TO_BE_FOUND is empty or not set", "export"),
        (_unknown_channel, "Room general", "no channel '#genral'", ""),
        (_twice, "Room general", "is in this room already", "remove one"),
        (_two_accounts, "Room other", "that account 'slack' speaks in already", "one account"),
        (_unknown_workspace, "Room general", "sees no workspace 'Acmee'", "correct"),
        (_public_url, "Web server", "is no https address", "TLS"),
        (_slack_over_http, "Account slack", "public_url", "https://"),
        (_store_in_nowhere, "Store", "nowhere", ""),
        (_unknown_key, "Configuration", "did you mean 'web'", "correct it"),
    ],
)
async def test_check_reports_each_error_and_its_solution(
    settings: dict[str, Any], tmp_path: Path, change: Change, about: str, problem: str, todo: str
) -> None:
    change(settings)

    code, findings = await check(settings, tmp_path)

    assert code == 1
    assert any(
        f["level"] == "error"
        and f["about"].startswith(about)
        and problem in f["what"]
        and todo in f["todo"]
        for f in findings
    ), findings


async def test_check_warns_of_a_pattern_without_channels_and_accepts_one_for_all_accounts(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    settings["rooms"]["general"]["members"] = [
        {"account": "*", "channel": "genral"},
        {"account": "{slack,discord}", "channel": "rand*"},
        {"account": "slack", "channel": "random"},
    ]
    settings["direct"] = [{"account": "slack", "agents": [{"agent": "echo"}]}]

    code, findings = await check(settings, tmp_path)

    assert code == 0
    warnings = [f["what"] for f in findings if f["level"] == "warning"]
    assert "slack: genral means no channel yet" in warnings
    assert not [warning for warning in warnings if "is in no room" in warning]
    assert any("discord: rand* means #random" in f["what"] for f in findings)


async def test_check_reports_missing_groups_and_the_scopes_to_list_them(
    local: Sandbox, settings: dict[str, Any], tmp_path: Path
) -> None:
    guild, _ = local.place("discord", "general")
    settings["people"] = {
        "groups": {"helpers": {"slack": "S0NOPE", "discord": "123"}}, "link_by_email": True
    }  # fmt: skip
    settings["agents"] = {"echo": {"kind": "echo"}}
    membership = {
        "agent": "echo",
        "allow": [f"group:discord:{guild}:45", f"group:discord:{guild}:*"],
    }
    settings["rooms"]["general"]["agents"] = [membership]

    code, findings = await check(settings, tmp_path)

    assert code == 1
    texts = [f["what"] for f in findings if f["level"] == "error"]
    assert texts == [
        "people.groups.helpers: there is no group 'S0NOPE'",
        "people.groups.helpers: there is no group '123'",
        f"group:discord:{guild}:45: there is no group '45'",
    ]

    slack = local.platforms["slack"]
    assert isinstance(slack, LocalSlack)
    for app in slack.slack.apps.values():
        app.scopes -= {"usergroups:read", "users:read.email"}
    _, findings = await check(settings, tmp_path)

    texts = [f["what"] for f in findings if f["about"].startswith("Account slack")]
    assert (
        "scope usergroups:read is missing: needed to know user groups and who is in them" in texts
    )
    assert any("scope users:read.email is missing" in text for text in texts)


async def test_check_reports_a_refused_token_without_showing_it(
    settings: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WRONG_TOKEN", "xoxb-wrong-token-0123")
    settings["accounts"]["slack"]["bot_token"] = {"env": "WRONG_TOKEN"}

    code, findings = await check(settings, tmp_path)

    assert code == 1
    assert [f for f in findings if f["about"].startswith("Account slack") and f["level"] == "error"]
    assert "wrong-token-0123" not in json.dumps(findings)


async def test_check_reports_a_taken_port(settings: dict[str, Any], tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        settings["web"]["port"] = taken.getsockname()[1]

        code, findings = await check(settings, tmp_path)

    assert code == 1
    assert any("Cannot listen" in f["what"] and "web.port" in f["todo"] for f in findings)


@pytest.mark.parametrize(
    ("used", "expected"), [(False, "a file of another program"), (True, " is damaged (")]
)
async def test_check_finds_a_file_that_is_no_store(
    settings: dict[str, Any], tmp_path: Path, used: bool, expected: str
) -> None:
    (tmp_path / "bridge.sqlite3").write_bytes(b"not a store" * 1000)
    if used:
        (tmp_path / "bridge.sqlite3.lock").write_text("clean\n")

    code, findings = await check(settings, tmp_path)

    assert code == 1
    assert any(f["about"] == "Store" and expected in f["what"] for f in findings)


async def test_the_port_of_the_running_bridge_is_no_error(
    local: Sandbox, settings: dict[str, Any], tmp_path: Path
) -> None:
    async with running(local, settings):
        code, findings = await check(settings, tmp_path)

    assert code == 0
    assert any("a bridge runs with this store" in f["what"] for f in findings)


async def test_the_printed_findings_say_what_to_do(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    _no_secret(settings)
    config = write(tmp_path / "bridge.yaml", json.dumps(settings))

    result = await asyncio.to_thread(cli, "check", "-c", str(config))

    lines = result.stdout.splitlines()
    row = next(n for n, line in enumerate(lines) if "NOWHERE_TO_BE_FOUND" in line)
    assert lines[row + 1].startswith("           -> set it before the start")
    assert lines[-1].startswith("1 error")


def test_code_from_two_places_is_refused(tmp_path: Path) -> None:
    check_one_place()
    check_one_place(place_of_code())

    with pytest.raises(ConfigError, match="do not come from the same place"):
        check_one_place(tmp_path)
