"""Two bridges with the same tokens and different stores notice one another and stop; one bridge
that is started again does not take itself for another."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from bridge.app import build
from bridge.app.build import Bridge
from bridge.app.settings.sections import Settings
from bridge.app.web.server import account_facts
from bridge.model import AccountId
from bridge.router import Timeouts
from tests.app.running import cli, write
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running
from tests.waiting import LONGEST_WAIT

SLACK, DISCORD = AccountId("slack"), AccountId("discord")
MOST_POSTS = 40  # Slack gives an event to either bridge
NAMES = ("slack", "discord")


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Posts without an operation are looked for after a moment."""
    original = build.timeouts_of

    def timeouts_of(settings: Settings) -> Timeouts:
        return replace(
            original(settings), other_bridge_wait=0.3, other_bridge_look=0.1, other_bridge_away=2.0
        )

    monkeypatch.setattr(build, "timeouts_of", timeouts_of)


def _stopped(bridge: Bridge) -> bool:
    return all(
        bridge.router.parts.recovery.other_bridges.is_stopped(account)
        for account in (SLACK, DISCORD)
    )


async def _waits(bridge: Bridge) -> bool:
    return any(lane.account == DISCORD for lane in await bridge.store.lanes_waiting())


def _texts(local: Sandbox) -> list[str]:
    return [message.text for message in local.standing("discord", "general")]


async def test_two_bridges_with_the_same_tokens_detect_each_other_and_stop(tmp_path: Path) -> None:
    async with local_sandbox(limits=False, names=NAMES) as local:
        first_settings = configuration(local, tmp_path / "one.sqlite3", channels=("general",))
        other = configuration(local, tmp_path / "other.sqlite3", channels=("general",))
        async with (
            running(local, first_settings) as (first, _),
            running(local, other) as (second, _),
        ):
            for number in range(MOST_POSTS):
                for platform in NAMES:
                    await local.say(platform, "general", f"text {number} on {platform}")
                try:
                    await local.until(lambda: _stopped(first) and _stopped(second), 1.0)
                    break
                except TimeoutError:
                    continue
            assert _stopped(first)
            assert _stopped(second)
            for name in (SLACK, DISCORD):
                assert "account resume" in first.router.parts.recovery.other_bridges.note(name)
            await local.say("slack", "general", "nobody carries this")
            async with asyncio.timeout(LONGEST_WAIT):
                while True:
                    if await _waits(first) or await _waits(second):
                        break
                    await asyncio.sleep(0.01)
            assert "nobody carries this" not in " ".join(_texts(local))
            assert "Another bridge posts to" in " ".join(_texts(local))

            config = write(tmp_path / "one.yaml", json.dumps(first_settings))
            status = await asyncio.to_thread(cli, "status", "-c", str(config))
            assert "problem: account discord sends nothing since" in status.stdout
            for line in ("discord sends again", "discord was not stopped"):
                resumed = await asyncio.to_thread(
                    cli, "account", "resume", "discord", "-c", str(config)
                )
                assert line in resumed.stdout
            assert not first.router.parts.recovery.other_bridges.is_stopped(DISCORD)
            assert second.router.parts.recovery.other_bridges.is_stopped(DISCORD)
            wrong = await asyncio.to_thread(cli, "account", "resume", "slick", "-c", str(config))
            assert wrong.exit_code == 1
            assert "slack, discord" in wrong.stderr


async def test_a_second_bridge_on_slack_is_detected_before_the_first_post(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("connectors.slack.receive._OTHERS_AFTER", 0.1)
    async with local_sandbox(limits=False, names=NAMES) as local:
        first = configuration(local, tmp_path / "one.sqlite3", channels=("general",))
        other = configuration(local, tmp_path / "other.sqlite3", channels=("general",))
        with capture_logs() as logs:
            async with running(local, first), running(local, other) as (second, _):
                await local.until(lambda: bool(account_facts(second, SLACK, ours=True)["note"]))
                facts = account_facts(second, SLACK, ours=True)
                config = write(tmp_path / "other.yaml", json.dumps(other))
                status = await asyncio.to_thread(cli, "status", "--json", "-c", str(config))

    assert facts["state"] == "connected"
    assert "another program is connected with this app token" in facts["note"]
    assert "another program is connected with this app token" in status.stdout
    assert [log["account"] for log in logs if log["event"] == "slack_app_token_shared"] == ["slack"]
    assert not _stopped(second)


async def test_a_restarted_bridge_with_the_same_store_continues(tmp_path: Path) -> None:
    async with local_sandbox(limits=False, names=NAMES) as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        for number in range(3):
            async with running(local, settings) as (bridge, _):
                for platform in NAMES:
                    await local.say(platform, "general", f"text {number} on {platform}")
                expected = 2 * (number + 1)
                await local.until(
                    lambda expected=expected: all(
                        len(local.standing(platform, "general")) == expected for platform in NAMES
                    )
                )
                await local.until(
                    lambda bridge=bridge: bridge.router.parts.recovery.other_bridges.examined >= 2
                )
                assert not any(
                    map(bridge.router.parts.recovery.other_bridges.is_stopped, (SLACK, DISCORD))
                )
