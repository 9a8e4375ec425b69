"""`uacs-bridge pair` and `uacs-bridge quota`: while the bridge runs, and while it does not."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio

from bridge.model import ActorId
from bridge.router.rooms.codes import digest_of
from tests.app.cli.test_commands import CliRig
from tests.app.running import cli, write
from tests.e2e.local_sandbox import configuration, local_sandbox, running

CODE = re.compile(r"[0-9A-Z]{4}-[0-9A-Z]{4}")
ANN = ActorId("slack:T0ACME:U0ACME01")


@pytest_asyncio.fixture
async def rig(tmp_path: Path) -> AsyncGenerator[CliRig]:
    """A running bridge with an agent that may begin one turn per hour."""
    async with local_sandbox(names=("slack",)) as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=["general"])
        room = settings["rooms"]["general"]
        room["agents"] = [{"agent": "echo", "listen": "always"}]
        room["quota"] = {"hour": {"messages": 1}}
        config = write(tmp_path / "bridge.yaml", json.dumps(settings))
        async with running(local, settings) as (bridge, url):
            message_ts = await local.say("slack", "general", "hello there")
            await local.until(lambda: len(local.standing("slack", "general")) == 2)
            await bridge.router.settled()
            yield CliRig(local, bridge, url, config, message_ts)


async def test_a_new_pairing_code_works_at_once_in_a_running_bridge(rig: CliRig) -> None:
    made = await rig.cli("pair", "new", "echo")
    assert made.exit_code == 0, made.output
    assert CODE.fullmatch(code := made.stdout.strip())
    assert (await rig.json("pair", "list", "--json")) == {"paired": [], "codes": 1}

    assert await rig.bridge.store.use_pairing_code(digest_of(code), ANN) == "paired"
    await rig.bridge.router.parts.turns.access.load()

    (paired,) = (await rig.json("pair", "list", "--json"))["paired"]
    assert (paired["actor"], paired["agent"]) == (ANN, "echo")
    assert ANN in (await rig.cli("pair", "list")).stdout
    first = await rig.cli("pair", "revoke", ANN, "--agent", "echo")
    again = await rig.cli("pair", "revoke", ANN)
    assert (first.stdout, again.stdout) == (
        f"{ANN} is not paired\n", f"{ANN} is not paired; it was not before\n"
    )  # fmt: skip
    assert await rig.bridge.router.parts.turns.access.pairings() == []


async def test_quotas_are_shown_and_reset_while_the_bridge_runs(rig: CliRig) -> None:
    quotas = await rig.json("quota", "show", "--json")
    assert {entry["quota"]: entry["messages"] for entry in quotas}["room:general"] == 1
    assert "room:general" in (await rig.cli("quota", "show", "--hours", "1")).stdout

    await rig.local.say("slack", "general", "and again")
    await rig.local.until(lambda: any(
        "⏳" in entry.text for entry in rig.local.standing("slack", "general")
    ))  # fmt: skip
    reset = await rig.cli("quota", "reset", "room:general")
    assert (reset.exit_code, reset.stdout) == (0, "room:general is reset\n")
    await rig.local.say("slack", "general", "and now?")
    await rig.local.until(lambda: any(
        "and now?" in entry.text and entry.author == "echo"
        for entry in rig.local.standing("slack", "general")
    ))  # fmt: skip


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    """The configuration of a bridge that does not run."""
    store = tmp_path / "bridge.sqlite3"
    settings = {
        "store": {"path": str(store)}, "agents": {"echo": {"kind": "echo"}},
        "rooms": {"x": {"members": [{"account": "slack", "channel": "#x"}]}},
        "accounts": {"slack": {
            "platform": "slack", "bot_token": {"env": "X"}, "app_token": {"env": "Y"}}},
    }  # fmt: skip
    return write(tmp_path / "bridge.yaml", json.dumps(settings))


def test_codes_and_quotas_can_be_changed_while_no_bridge_runs(stopped: Path) -> None:
    made = cli("pair", "new", "--minutes", "60", "-c", str(stopped))
    assert made.exit_code == 0, made.output
    assert CODE.fullmatch(made.stdout.strip())
    listed = cli("pair", "list", "-c", str(stopped))
    assert "open codes: 1" in listed.stdout
    assert cli("quota", "reset", "room:x", "-c", str(stopped)).exit_code == 0
    result = cli("quota", "show", "--json", "-c", str(stopped))
    assert json.loads(result.stdout) == []


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (("pair", "new", "nobody"), "There is no agent 'nobody'; there are: echo"),
        (("pair", "new", "--minutes", "0"), "A code is good for 1 to 1440 minutes, not 0"),
        (("pair", "revoke", "somebody"), "somebody"),
        (("quota", "reset", "room:y"), "There is no room 'y'"),
        (("quota", "reset", "agent:ecko"), "There is no agent 'ecko'; did you mean 'echo'?"),
        (("quota", "reset", "person:slack:T01:U01"), "Nothing was spent for 'slack:T01:U01'"),
        (("quota", "reset", "echo"), "'echo' is no quota; its name has the form room:NAME"),
    ],
)
def test_impossible_requests_are_errors(
    stopped: Path, args: tuple[str, ...], expected: str
) -> None:
    cli("pair", "new", "-c", str(stopped))  # makes the store

    result = cli(*args, "-c", str(stopped))

    assert result.exit_code != 0
    assert expected in result.output
