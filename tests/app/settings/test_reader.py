"""A configuration file that is read again and again."""

from __future__ import annotations

from pathlib import Path

import pytest

from bridge.app.settings.reader import SettingsReader
from bridge.errors import ConfigError

FILE = """
accounts: {discord: {platform: discord, bot_token: {env: T}}}
agents: {parrot: {kind: echo}}
rooms:
  one: {members: [{account: discord, channel: general}]}
  two: {members: [{account: discord, channel: other}], agents: [{agent: parrot}]}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "bridge.yaml"
    path.write_text(FILE)
    return path


def test_rooms_that_did_not_change_are_the_same_objects(path: Path) -> None:
    reader = SettingsReader(path)
    first = reader.read()
    path.write_text(FILE.replace("general", "lobby"))

    second = reader.read()

    assert second.rooms["one"].members[0].channel == "lobby"
    assert second.rooms["two"] is first.rooms["two"]


def test_a_file_that_did_not_change_gives_the_same_settings(path: Path) -> None:
    reader = SettingsReader(path)

    assert reader.read() is reader.read()


def test_a_room_that_did_not_change_is_checked_against_what_did(path: Path) -> None:
    reader = SettingsReader(path)
    first = reader.read()
    path.write_text(FILE.replace("parrot: {kind", "raven: {kind"))

    with pytest.raises(ConfigError, match=r"rooms\.two\.agents\[0\]\.agent: there is no agent"):
        reader.read()

    path.write_text(FILE + "admins: [discord:*:*]")
    assert reader.read().rooms["two"] is first.rooms["two"]


CONVENED = """
accounts: {discord: {platform: discord, bot_token: {env: T}}}
agents: {chair: {kind: openfloor, url: "https://agents.example/chair"}, parrot: {kind: echo}}
tools: {search: {url: "https://tools.example/mcp"}}
rooms:
  one: {members: [{account: discord, channel: a}], agents: [{agent: chair, convener: true}]}
  two: {members: [{account: discord, channel: b}], agents: [{agent: parrot, tools: [search]}]}
"""


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("{discord: {", "{discord-2: {", r"rooms\.one\.members\[0\]\.account: there is no account"),
        ("{search: {", "{find: {", r"rooms\.two\.agents\[0\]\.tools: there is no tool server"),
        (
            'chair: {kind: openfloor, url: "https://agents.example/chair"}', "chair: {kind: echo}",
            r"rooms\.one\.agents\[0\]\.convener: 'chair' is of the kind echo",
        ),
        ("tools: [search]", "tools: [serch]", r"rooms\.two\.agents\[0\]\.tools"),
        ("channel: b}", "channel: b}, {account: disco, channel: c}", r"no account 'disco'"),
    ],
    ids=["an account", "a tool server", "a kind of agent", "a tool of a room", "a member"],
)  # fmt: skip
def test_a_room_is_checked_where_it_or_what_it_names_changed(
    path: Path, old: str, new: str, problem: str
) -> None:
    path.write_text(CONVENED)
    reader = SettingsReader(path)
    reader.read()
    path.write_text(CONVENED.replace(old, new))

    with pytest.raises(ConfigError, match=problem):
        reader.read()


def test_an_old_key_of_a_room_is_told_at_each_reading(path: Path) -> None:
    old = FILE.replace("agents: [{agent: parrot}]", "budget: {day: {messages: 5}}")
    path.write_text(old)
    reader = SettingsReader(path)
    reader.read()
    path.write_text(old + "admins: [discord:*:*]")

    assert [key.path for key in reader.read().renamed_keys] == ["rooms.two.budget"]


@pytest.mark.parametrize("rooms", ["rooms: []", "rooms: {one: 5}", "rooms:", "- a"])
def test_rooms_of_another_form_are_told_as_ever(path: Path, rooms: str) -> None:
    reader = SettingsReader(path)
    reader.read()
    path.write_text(rooms)

    with pytest.raises(ConfigError):
        reader.read()
