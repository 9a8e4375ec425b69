"""People invite agents to a room by name or address, and send them away; a restart keeps them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bridge.app.build import Bridge
from bridge.app.room_changes.linker import AppLinker
from bridge.app.rooms.guests import Guest, check_address, free_name, guests_of, with_guests
from bridge.app.settings.file import settings_of
from bridge.app.settings.sections import Settings
from bridge.errors import ConfigError
from bridge.model import RoomId
from bridge.router.commands.channels import Invited
from tests.agents.test_openfloor import library_agent
from tests.app.api.served import ROOM
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running

BASE: dict[str, Any] = {
    "accounts": {"tin": {"platform": "irc", "host": "h", "nick": "n"}},
    "agents": {"echo": {"kind": "echo"}, "other": {"kind": "echo"}},
    "rooms": {"r": {"members": [{"account": "tin", "channel": "#x"}], "agents": [
        {"agent": "echo", "listen": "always"}]}},
    "openfloor": {"invite": ["*.test"]},
}  # fmt: skip


def seats(settings: Settings) -> list[str]:
    return [membership.agent for membership in settings.rooms["r"].agents]


def test_guests_have_seats_in_their_rooms_and_what_is_gone_is_left_out() -> None:
    settings = settings_of(BASE)
    guests = [
        Guest("r", "pat", "https://pat.test/of"), Guest("r", "other"), Guest("r", "echo"),
        Guest("gone", "other"), Guest("r", "unknown"),
    ]  # fmt: skip

    found = with_guests(settings, guests)

    assert seats(found) == ["echo", "pat", "other"]
    assert found.agents["pat"].kind == "openfloor"
    assert found.agents["pat"].options.url == "https://pat.test/of"
    assert seats(settings) == ["echo"]
    assert with_guests(found, guests) == found


@pytest.mark.parametrize(
    ("wanted", "url", "name"),
    [
        ("Pat", "https://pat.test", "pat"),
        ("Blooming Town Florist!", "https://b.test", "blooming-town-florist"),
        ("", "https://florist.example.org/of", "florist"),
        ("../../x", "https://a.test", "x"),
        ("echo", "https://a.test", "echo-2"),
        ("花", "https://a.test", "a"),
        ("n" * 99, "https://a.test", "n" * 30),
    ],
)
def test_a_guest_gets_a_name_of_its_own(wanted: str, url: str, name: str) -> None:
    assert free_name(wanted, url, {"echo": 1}) == name


def test_only_agents_of_allowed_hosts_may_be_invited() -> None:
    check_address("https://pat.test/of", settings_of(BASE))
    with pytest.raises(ConfigError, match=r"Agents of 'evil.example' may not be invited"):
        check_address("https://evil.example/of", settings_of(BASE))
    with pytest.raises(ConfigError, match="is no address of an agent: it must be an address"):
        check_address("https://[", settings_of(BASE))
    with pytest.raises(ConfigError, match="allows no host"):
        check_address("https://pat.test", settings_of({**BASE, "openfloor": {}}))


def settings_for(local: Sandbox, folder: Path) -> dict[str, Any]:
    found = configuration(local, folder / "b.sqlite3", channels=(ROOM,))
    found["openfloor"] = {"invite": ["127.0.0.1"], "private_addresses": True}
    found["agents"]["parrot"] = {"kind": "echo", "pace": 0}
    return found


def agents_of(bridge: Bridge) -> list[str]:
    return [membership.agent for membership in bridge.rooms.by_id[RoomId(ROOM)].agents]


async def test_an_agent_is_invited_by_address_answers_and_is_sent_away(tmp_path: Path) -> None:
    pytest.importorskip("openfloor", reason="the package openfloor is not installed")
    async with library_agent() as url, local_sandbox(names=("slack", "discord")) as local:
        settings = settings_for(local, tmp_path)
        async with running(local, settings) as (bridge, _):
            linker = AppLinker(bridge)
            said = await linker.invite(RoomId(ROOM), f"{url}/of")
            again = await linker.invite(RoomId(ROOM), f"{url}/of")
            await linker.invite(RoomId(ROOM), "parrot")
            with pytest.raises(ConfigError, match="There is no agent 'nobody'; there are: "):
                await linker.invite(RoomId(ROOM), "nobody")
            present = agents_of(bridge)

        async with running(local, settings) as (bridge, _):
            kept = agents_of(bridge)
            await local.say("slack", ROOM, "@repeater is anybody there?")
            await local.until(
                lambda: any(
                    "is anybody there?" in m.text and "repeater" in m.author and m.bot
                    for m in local.standing("discord", ROOM)
                )
            )
            linker = AppLinker(bridge)
            left = await linker.uninvite(RoomId(ROOM), "repeater")
            with pytest.raises(ConfigError, match="Nobody invited 'echo'"):
                await linker.uninvite(RoomId(ROOM), "echo")
            rest = agents_of(bridge)
            stored = await guests_of(bridge.store)

    assert said == Invited("repeater")
    assert again == Invited("repeater", new=False)
    assert present == kept == ["echo", "repeater", "parrot"]
    assert left == "repeater has left this room."
    assert rest == ["echo", "parrot"]
    assert stored == (Guest(ROOM, "parrot"),)
