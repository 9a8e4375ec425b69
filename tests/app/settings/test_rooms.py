"""Languages and translators of rooms and channels."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.app.settings.file import settings_of
from bridge.app.settings.rooms import member_options
from bridge.errors import ConfigError
from bridge.router.rooms.options import Translation


def settings(room: dict[str, Any], *members: dict[str, Any]) -> Any:
    given = [{"account": "slack", "channel": "C0ACME001", **one} for one in members]
    return settings_of(
        {
            "accounts": {
                "slack": {
                    "platform": "slack", "bot_token": {"env": "A"}, "app_token": {"env": "B"},
                }
            },
            "agents": {"translator": {"kind": "echo"}},
            "rooms": {"lobby": {"members": given, **room}},
        }
    )  # fmt: skip


def test_a_channel_has_its_own_language_or_the_rooms() -> None:
    read = settings(
        {"translator": "translator", "language": "en"}, {"language": "de"}, {"channel": "C0ACME002"}
    )
    room = read.rooms["lobby"]

    assert [member_options(room, member).translation for member in room.members] == [
        Translation("de", "translator"), Translation("en", "translator"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("room", "member", "problem"),
    [
        ({}, {"language": "de"}, "members\\[0\\].language: nobody translates"),
        ({"language": "de"}, {}, "rooms.lobby.language: nobody translates"),
        ({"translator": "trans"}, {}, "no agent 'trans'; did you mean 'translator'"),
        ({"translator": "translator", "language": "german!"}, {}, "language"),
    ],
)
def test_a_language_without_a_translator_is_an_error(
    room: dict[str, Any], member: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem):
        settings(room, member)


@pytest.mark.parametrize(
    ("memberships", "problem"),
    [
        ([{"agent": "echo", "convener": True}], "'echo' is of the kind echo, not openfloor"),
        (
            [{"agent": "chair", "convener": True}, {"agent": "second", "convener": True}],
            r"agents\[1\].convener: 'chair' convenes this room already",
        ),
    ],
)
def test_a_room_has_one_convener_that_speaks_open_floor(
    memberships: list[dict[str, Any]], problem: str
) -> None:
    floor = {"kind": "openfloor", "url": "https://chair.test/of"}
    tin = {"platform": "irc", "host": "h", "nick": "n"}
    room = {"members": [{"account": "tin", "channel": "#x"}], "agents": memberships}
    agents = {"echo": {"kind": "echo"}, "chair": floor, "second": floor}
    with pytest.raises(ConfigError, match=problem):
        settings_of({"accounts": {"tin": tin}, "agents": agents, "rooms": {"lobby": room}})
