"""Each renamed key works for one version, and a warning names the key that replaces it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from structlog.testing import capture_logs

from bridge.app.run import warn_of_renamed_keys
from bridge.app.settings.file import read_settings, settings_of
from bridge.app.settings.sections import Settings
from bridge.errors import ConfigError
from bridge.runtime.renamed_keys import RenamedFrom
from tests.app.running import cli, write
from tests.app.settings.test_file import models

SEAT = "rooms.general.agents[0]"
# Path of the old key -> the new key, and a value that is not the default.
RENAMED: dict[str, tuple[str, Any]] = {
    "catch_up.most_posts": ("max_posts", 7),
    "catch_up.look_back_hours": ("reconcile_hours", 7.0),
    "catch_up.look_back_messages": ("reconcile_messages", 7),
    "catch_up.look_back_requests": ("reconcile_requests", 7),
    "catch_up.deaf_after": ("stalled_after", 7.0),
    "catch_up.orphan_wait": ("orphan_timeout", 7.0),
    "delivery.retry_marks_for": ("retry_reactions_for", 7.0),
    "delivery.retry_alone_for": ("retry_single_for", 7.0),
    "delivery.longest_backoff": ("max_backoff", 7.0),
    "files.largest_mb": ("max_file_mb", 7.0),
    "people.budget": ("quota", {"day": {"messages": 7}}),
    "rooms.general.budget": ("quota", {"day": {"messages": 7}}),
    "rooms.general.tells": ("announce", ["joins"]),
    "rooms.general.greets": ("greet", False),
    f"{SEAT}.beside": ("always_answer", True),
    f"{SEAT}.before": ("history_seconds", 7.0),
    "direct[0].agents[0].beside": ("always_answer", True),
    "direct[0].agents[0].before": ("history_seconds", 7.0),
    "agents.helper.budget": ("quota", {"day": {"messages": 7}}),
    "agents.helper.gives": ("returns", [{"content_type": "text/plain"}]),
}  # fmt: skip


def configuration() -> dict[str, Any]:
    """The smallest configuration with every section."""
    helper = {"kind": "acp", "base_url": "https://agents.test", "agent_name": "helper"}
    slack = {"platform": "slack", "bot_token": {"env": "BOT"}, "app_token": {"env": "APP"}}
    room = {"members": [{"account": "acme", "channel": "C1"}], "agents": [{"agent": "helper"}]}
    return {
        "accounts": {"acme": slack}, "agents": {"helper": helper}, "rooms": {"general": room},
        "direct": [{"account": "acme", "agents": [{"agent": "helper"}]}],
        "catch_up": {}, "delivery": {}, "files": {}, "people": {}, "web": {"port": 0},
    }  # fmt: skip


def section(data: dict[str, Any], path: str) -> tuple[dict[str, Any], str]:
    """The mapping that a path ends in, and its last key."""
    *steps, key = path.replace("[0]", ".0").split(".")
    here: Any = data
    for step in steps:
        here = here[int(step)] if step.isdigit() else here[step]
    return here, key


def given(path: str, value: object, **more: object) -> dict[str, Any]:
    data = configuration()
    here, key = section(data, path)
    here |= {key: value} | more
    return data


def renamings() -> Iterator[tuple[str, str]]:
    """Every old key that a settings model declares, with the key that replaces it."""
    for _, model in models():
        for name, field in model.model_fields.items():
            for declared in field.metadata:
                if isinstance(declared, RenamedFrom):
                    yield declared.key, name


def test_the_table_has_every_renamed_key() -> None:
    table = {(path.rpartition(".")[2], new_key) for path, (new_key, _) in RENAMED.items()}

    assert table == set(renamings())


@pytest.mark.parametrize("path", RENAMED)
def test_an_old_key_works_and_warns(path: str) -> None:
    new_key, value = RENAMED[path]

    settings = settings_of(given(path, value))

    here, _ = section(configuration(), path)
    assert new_key not in here
    new_path = f"{path.rpartition('.')[0]}.{new_key}"
    same = settings_of(given(new_path, value))
    assert as_json(settings) == as_json(same) != as_json(settings_of(configuration()))
    assert [(key.path, key.new_key) for key in settings.renamed_keys] == [(path, new_key)]
    assert same.renamed_keys == ()


def as_json(settings: Settings) -> str:
    options = [agent.options for agent in settings.agents.values()]
    own = [option.model_dump_json() for option in options if isinstance(option, BaseModel)]
    return settings.model_dump_json(serialize_as_any=True) + "".join(own)


@pytest.mark.parametrize("path", RENAMED)
def test_an_old_and_a_new_key_at_once_are_an_error(path: str) -> None:
    new_key, value = RENAMED[path]

    with pytest.raises(ConfigError) as caught:
        settings_of(given(path, value, **{new_key: value}))

    text = f"this key is now called {new_key!r}, and both are given; remove "
    assert f"- {path}: {text}{path.rpartition('.')[2]!r}" in str(caught.value)


def test_an_invalid_value_under_an_old_key_is_reported_with_both_names() -> None:
    with pytest.raises(ConfigError) as caught:
        settings_of(given("catch_up.deaf_after", -1))

    assert "- catch_up.stalled_after: " in str(caught.value)
    assert "- catch_up.deaf_after is now called stalled_after" in str(caught.value)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return write(tmp_path / "bridge.yaml", json.dumps(given("catch_up.deaf_after", 7)))


def test_run_logs_the_file_and_both_keys(config: Path) -> None:
    with capture_logs() as events:
        warn_of_renamed_keys(config, read_settings(config))

    (event,) = events
    assert (event["event"], event["log_level"]) == ("settings_renamed", "warning")
    assert (event["path"], event["keys"]) == (str(config), ["catch_up.deaf_after -> stalled_after"])


def test_check_warns_of_an_old_key(config: Path) -> None:
    ran = cli("check", "--offline", "--json", "-c", str(config))
    found = json.loads(ran.stdout)["findings"]

    problem = f"{config}: catch_up.deaf_after is now called stalled_after"
    todo = "write stalled_after; the old key works until the next version"
    (warning,) = [finding for finding in found if finding["what"] == problem]
    assert (warning["level"], warning["todo"]) == ("warning", todo)


def test_other_commands_warn_on_standard_error(config: Path) -> None:
    ran = cli("db", "migrate", "-c", str(config))

    assert f"warning: {config}: catch_up.deaf_after is now called stalled_after; " in ran.stderr
