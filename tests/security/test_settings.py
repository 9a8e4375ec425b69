"""Traps of the configuration: a secret in a wrong place is refused and never repeated."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.app.settings.file import settings_of
from bridge.errors import ConfigError

DISCORD = "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs-ab"
SIGNING = "a8f742231b10e8888abcd99a000aa5a1"
SLACK = "xoxb-123456789012-abcdefghijkl"


@pytest.mark.parametrize("secret", [DISCORD, SIGNING, SLACK])
@pytest.mark.parametrize("form", ["{}", "env", "file", "sealed", "key", "list"])
def test_a_secret_where_its_name_belongs_is_refused_and_not_repeated(
    secret: str, form: str
) -> None:
    written: Any = {"{}": secret, "key": {secret: "x"}, "list": [secret]}.get(form, {form: secret})
    account = {"platform": "discord", "bot_token": written}

    with pytest.raises(ConfigError) as refused:
        settings_of({"accounts": {"one": account}})

    shown = str(refused.value)
    assert "accounts.one.bot_token" in shown
    assert form == "key" or "this file never contains secrets" in shown
    assert (form, secret) == ("key", SIGNING) or secret not in shown


@pytest.mark.parametrize("name", ["admin", "healthz", "livez", "metrics", "readyz"])
def test_an_account_cannot_take_an_address_of_the_bridge(name: str) -> None:
    account = {"platform": "discord", "bot_token": {"env": "X"}}

    with pytest.raises(ConfigError, match="address of the bridge's own"):
        settings_of({"accounts": {name: account}})
