"""The configuration: the example has every key, and errors name their place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from bridge.app.rooms.find import membership_with
from bridge.app.settings.agent_memberships import MembershipSettings
from bridge.app.settings.file import read_settings, settings_of
from bridge.app.settings.sections import Settings
from bridge.app.settings.yaml_file import store_named_in
from bridge.errors import ConfigError
from bridge.model.secret_refs import SecretRef
from bridge.ports.installs import HasInstalls
from bridge.runtime.discovery import (
    AGENTS,
    CONNECTORS,
    POLICIES,
    agent_type,
    connector_type,
    names_of,
    policy_type,
)

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "config" / "bridge.example.yaml"


def models() -> Iterator[tuple[str, type[BaseModel]]]:
    """Every model of the configuration, by its path."""
    yield from _below("", Settings)
    for name in names_of(CONNECTORS):
        yield f"accounts.{name}", connector_type(name).settings
        kind = connector_type(name)
        if isinstance(kind, HasInstalls):
            yield f"installs.apps.{name}", kind.installs().settings
    for name in names_of(AGENTS):
        yield f"agents.{name}", agent_type(name).settings
    for name in names_of(POLICIES):
        yield f"policies.{name}", policy_type(name).settings


def _below(path: str, model: type[BaseModel]) -> Iterator[tuple[str, type[BaseModel]]]:
    yield path, model
    for key, field in model.model_fields.items():
        for inner in (field.annotation, *getattr(field.annotation, "__args__", ())):
            if isinstance(inner, type) and issubclass(inner, BaseModel):
                yield from _below(f"{path}.{key}".strip("."), inner)


def problems(data: Any) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        settings_of(data)
    return [line.removeprefix("- ") for line in str(caught.value).splitlines()[1:]]


def test_the_example_is_valid() -> None:
    settings = read_settings(EXAMPLE)

    assert list(settings.accounts) == ["acme-slack", "acme-discord", "acme-teams", "libera"]
    assert settings.store.path == EXAMPLE.parent / "data" / "bridge.sqlite3"


def test_the_example_has_every_key_of_every_model() -> None:
    example_keys = set(re.findall(r"[{\s-]([a-z_]+):", EXAMPLE.read_text()))
    keys = {key for _, model in models() for key in model.model_fields}

    # `options` holds an account's own keys after validation; the file does not have it.
    assert keys - example_keys - {"options"} == set()


def test_the_example_shows_the_defaults() -> None:
    example = read_settings(EXAMPLE)

    for part in ("store", "files", "log", "delivery"):
        section, default = getattr(example, part), Settings.model_fields[part].default
        assert section.model_dump(exclude={"path"}) == default.model_dump(exclude={"path"})


def test_every_setting_has_a_description() -> None:
    silent = [f"{path}.{key}" for path, model in models()
              for key, field in model.model_fields.items()
              if not field.description and model is not SecretRef]  # fmt: skip

    assert silent == []


@pytest.mark.parametrize("path", ["docs/configuration.md"])
def test_the_documentation_describes_every_setting(path: str) -> None:
    text = (ROOT / path).read_text()
    missing = [f"{where}.{key}" for where, model in models() for key in model.model_fields
               if f"`{key}`" not in text and key != "options"]  # fmt: skip

    assert missing == []


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ({"acounts": {}}, ["acounts: unknown key; did you mean 'accounts'?"]),
        ({"log": {"levle": "info"}}, ["log.levle: unknown key; did you mean 'level'?"]),
        (
            {"store": {"qqq": 1}},
            ["store.qqq: unknown key; known are blobs, password, path, synchronous, url"],
        ),
        (
            {"accounts": {"a": {"platform": "slak"}}},
            ["accounts.a.platform: there is no platform 'slak'; did you mean 'slack'?"],
        ),
        (
            {"accounts": {"d": {"platform": "discord", "bot_tokn": {"env": "X"}}}},
            [
                "accounts.d.bot_token: this key is needed",
                "accounts.d.bot_tokn: unknown key; did you mean 'bot_token'?",
            ],
        ),
        (
            {"agents": {"e": {"kind": "echo", "pase": 1}}},
            ["agents.e.pase: unknown key; did you mean 'pace'?"],
        ),
        (
            {"rooms": {"r": {"members": [{"account": "slak", "channel": "#a"}]}}},
            ["rooms.r.members[0].account: there is no account 'slak'"],
        ),
        (
            {"rooms": {"r": {"members": [{"account": "a", "chanel": "#a"}]}}},
            [
                "rooms.r.members[0].channel: this key is needed",
                "rooms.r.members[0].chanel: unknown key; did you mean 'channel'?",
            ],
        ),
        (
            {"rooms": {"R!": {"members": []}}},
            ["rooms.R!.members: it needs at least one (is [])"],
        ),
        (
            {
                "agents": {"a": {"kind": "echo"}, "b": {"kind": "echo"}},
                "accounts": {},
                "rooms": {
                    "r": {
                        "members": [{"account": "x", "channel": "#a"}],
                        "agents": [
                            {"agent": "a", "routes": [{"channels": ["#help-*"]}]},
                            {"agent": "b", "routes": [{"channels": ["#help-de"]}]},
                        ],
                    }
                },
            },
            [
                "rooms.r.members[0].account: there is no account 'x'",
                "rooms.r.agents[0] (a) and [1] (b) are ambiguous: route 0 of the one and route 0 "
                "of the other may fit the same; make one more specific, give it a priority, or set "
                "`always_answer` for one",
            ],
        ),
        ({"web": {"port": 99999}},
         ["web.port: Input should be less than or equal to 65535 (is 99999)"]),
    ],
)  # fmt: skip
def test_errors_name_the_path_of_the_key(data: Any, found: list[str]) -> None:
    assert problems(data) == found


@pytest.mark.parametrize(
    ("key", "written", "expected"),
    [
        ("deny", "guests:*", "'guests:*' is nobody; did you mean 'guest:*'?"),
        (
            "deny",
            "guest:slack",
            "'guest:slack' is nobody: it has the form guest:PLATFORM:WORKSPACE",
        ),
        ("deny", "guest:slak:*", "there is no platform 'slak'; did you mean 'slack'?"),
        ("allow", "group:slack:S01", "it has the form group:PLATFORM:WORKSPACE:ID"),
        ("allow", "slak:T01:U01", "did you mean 'slack:T01:U01'?"),
        ("allow", "slack:U01", "it has the form slack:WORKSPACE:ID"),
        ("allow", "@ann", "'@ann' is no id; names are not enough"),
        ("operators", "guest:*", "'guest:*' is nobody; it begins with one of discord:"),
    ],
)
def test_a_list_of_people_that_matches_nobody_is_an_error(
    key: str, written: str, expected: str
) -> None:
    membership = {"agent": "echo", key: ["slack:T01:*", written]}
    members = [{"account": "*", "channel": "a"}]
    data = {
        "accounts": {"s": {"platform": "discord", "bot_token": {"env": "B"}}},
        "agents": {"echo": {"kind": "echo"}},
        "rooms": {"r": {"members": members, "agents": [membership]}},
    }

    (found,) = problems(data)

    assert found.startswith(f"rooms.r.agents[0].{key}[1]: ")
    assert expected in found


def test_admins_and_approvers_are_ids_or_reserved_words() -> None:
    tool = {"url": "https://t.example/mcp", "approvers": ["asker", "admin", "0" * 32, "discord:**"]}

    found = problems({"admins": ["*", "api:*", "bob"], "tools": {"t": tool}})

    assert [problem.partition(": ")[0] for problem in found] == [
        "admins[2]",
        "tools.t.approvers[1]",
    ]
    assert "did you mean 'admins'?" in found[1]


@pytest.mark.parametrize(
    ("room", "expected"),
    [
        ({"announce": "topics"}, "announce: this is a list: put it in brackets"),
        ({"agents": ["echo"]}, "agents[0]: this is a mapping: write its keys"),
        ({"moderation": True}, "moderation: Input should be 'off', 'mirror' or 'room' (is 'on')"),
        ({"exclude": [{"kinds": ["post"]}]}, "'system'; did you mean 'posts'? (is 'post')"),
        ({"exclude": [{}]}, "exclude[0]: it would match every message; give authors"),
        ({"exclude": [{"authors": ["{a,b}" * 11]}]}, "has more than 1000 alternatives"),
        ({"exclude": [{"authors": ["{a,b}" * 300]}]}, "at most 1000 characters, not 1500"),
        ({"exclude": [{"matching": "\bfoo"}]}, "double quotes as a backspace; use single quotes"),
        ({"members": [{"account": "s", "channel": None}]}, "text that begins with # is a comment"),
    ],
)
def test_errors_are_in_terms_of_yaml(room: dict[str, Any], expected: str) -> None:
    accounts = {"s": {"platform": "discord", "bot_token": {"env": "B"}}}
    members = [{"account": "s", "channel": "a"}]

    (found,) = problems({"accounts": accounts, "rooms": {"r": {"members": members, **room}}})

    assert expected in found


def test_ids_and_names_that_yaml_reads_as_numbers_are_read_as_text() -> None:
    accounts = {"d": {"platform": "discord", "bot_token": {"env": "B"}}}
    member = {"account": "d", "channel": 1323802873036800011, "workspace": 1323802873036800007}
    room = {"members": [member], "feedback": True}

    settings = settings_of({"accounts": accounts, "rooms": {2024: room}})

    (read,) = settings.rooms["2024"].members
    assert (read.channel, read.workspace) == ("1323802873036800011", "1323802873036800007")
    assert settings.rooms["2024"].feedback == "on"


@pytest.mark.parametrize(
    "written",
    ["xoxb-1234-secret", {"env": "xoxb-1234-secret"}, ["xoxb-1234-secret"], {"env": "a.b-secret"}],
)
def test_a_plain_text_secret_is_refused_and_not_printed(written: object) -> None:
    data = {"accounts": {"d": {"platform": "discord", "bot_token": written}}}

    (found,) = problems(data)

    assert "this file never contains secrets" in found
    assert "bot_token: {env: BOT_TOKEN}" in found
    assert "secret" not in found.replace("secrets", "")


def test_a_token_under_a_wrong_key_is_not_printed() -> None:
    found = problems({"log": {"level": "xoxb-123456-abcdef"}})

    assert found == ["log.level: Input should be 'debug', 'info', 'warning' or 'error' "
                     "(is '[hidden]')"]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("accounts: {}\nrooms: {}\naccounts: {}\n", "line 3 is not valid YAML: the key"),
        ("log: {level: info, level: error}\n", "the key 'level' appears twice"),
        ("accounts: [}\n", "line 1 is not valid YAML"),
        ("rooms:\n\tgeneral: 1\n", "indent with spaces, never with tabs"),
        ("admins: [@ann]\n", "what begins with '@' must stand in quotes"),
        ("rooms: {a: {channel: *}}\n", "what begins with '*' must stand in quotes"),
        ("rooms: " + "[" * 3000, "nested more than 100 levels deep"),
        ("a: &x [*x]\n", "unknown key"),
        ("- a\n", "the top must be a mapping, not list"),
        ("!!python/object/apply:os.system [true]\n", "is not valid YAML"),
        ("\x00", "is not valid YAML"),
    ],
)
def test_invalid_yaml_is_reported_with_its_line(text: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "bridge.yaml"
    path.write_text(text)

    with pytest.raises(ConfigError, match=re.escape(expected)):
        read_settings(path)


def test_a_file_in_another_encoding_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "bridge.yaml"
    path.write_bytes("rooms: {ä: 1}".encode("latin-1"))

    with pytest.raises(ConfigError, match="UTF-8"):
        read_settings(path)


def test_an_empty_file_is_an_empty_configuration(tmp_path: Path) -> None:
    path = tmp_path / "bridge.yaml"
    path.write_text("")

    assert read_settings(path).accounts == {}


def test_an_absolute_store_path_is_kept_and_a_tilde_is_expanded(tmp_path: Path) -> None:
    for written, meant in (("/var/lib/b.sqlite3", Path("/var/lib/b.sqlite3")),
                           ("~/b.sqlite3", Path("~/b.sqlite3").expanduser()),
                           ("b.sqlite3", tmp_path / "b.sqlite3")):  # fmt: skip
        path = tmp_path / "bridge.yaml"
        path.write_text(yaml.safe_dump({"store": {"path": written}}))

        assert read_settings(path).store.path == meant


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("store:\n  synchronous: FULL\n  path: here/a.sqlite3\nrooms: [\n", "here/a.sqlite3"),
        ("rooms: {a: }}\nstore: {synchronous: FULL, path: 'b.sqlite3'}\n", "b.sqlite3"),
        ("store:  # all of it\n\n  path: /var/c.sqlite3  # on the large disk\n", "/var/c.sqlite3"),
        ("rooms: [\n  path: no.sqlite3\n", "data/bridge.sqlite3"),
    ],
)
def test_the_store_path_is_read_from_an_invalid_file(tmp_path: Path, text: str, found: str) -> None:
    path = tmp_path / "bridge.yaml"
    path.write_text(text)

    assert store_named_in(path) == tmp_path / found


def test_a_membership_inherits_the_history_limit_of_its_agent() -> None:
    agent = {"kind": "webhook", "url": "https://a.test/", "history_tokens": 7000}
    settings = settings_of({"agents": {"a": agent, "plain": {"kind": "echo"}}})
    own = MembershipSettings(agent="a", history_tokens=900, history_seconds=3600)

    memberships = [
        membership_with(membership_settings, settings)
        for membership_settings in (MembershipSettings(agent="a"), own)
    ]
    plain = membership_with(MembershipSettings(agent="plain"), settings)

    assert [(membership.history_tokens, membership.before) for membership in memberships] == [
        (7000, None),
        (900, 3600),
    ]
    assert plain.history_tokens == 20_000
