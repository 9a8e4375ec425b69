"""The steps in which a person creates the Slack app, with its manifest. Pure.

Source: docs.slack.dev "App manifest reference" (2026-08).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from bridge.errors import ConfigError
from bridge.ports.connector import SetupOption, SetupStep
from bridge.runtime.setup import refuse_unknown
from connectors.slack.capabilities import EVENTS, SCOPES

_NAME = "Bridge"
_LONGEST_NAME = 35  # display_information.name
_FILE = "slack-app-manifest.json"

OPTIONS = (SetupOption("receive", ("--receive",), "Slack: socket (the default) or http"),)


def steps(settings: Mapping[str, str]) -> Sequence[SetupStep]:
    """The steps; `settings` may have name, account, public_url and receive ("socket" or "http").

    Raises ConfigError for an unknown value.
    """
    refuse_unknown(settings, {"name", "account", "public_url", "receive"}, "Slack")
    socket = _over_socket(settings)
    name = (settings.get("name") or _NAME)[:_LONGEST_NAME]
    account = settings.get("account") or "slack"
    manifest = _manifest(name, None if socket else _events_url(settings, account))
    text = json.dumps(manifest, indent=2)
    link = "https://api.slack.com/apps?" + urlencode({"new_app": 1, "manifest_json": text})
    return [
        SetupStep(
            "Create the app from this manifest",
            "Open https://api.slack.com/apps, choose Create New App > From a manifest, pick the "
            f"workspace and paste the JSON. Or open this address, which does the same:\n{link}",
            artifact=text + "\n",
            filename=_FILE,
        ),
        SetupStep(
            "Install the app",
            "Install App > Install to Workspace. Copy the Bot User OAuth Token (xoxb-...) into "
            "the environment variable SLACK_BOT_TOKEN.",
        ),
        _socket_step() if socket else _http_step(),
        SetupStep(
            "Add the account to the configuration",
            "Put this under accounts in bridge.yaml.",
            artifact=_yaml(account, socket=socket),
        ),
        SetupStep(
            "Invite the bot",
            f"Say /invite @{name.lower()} in every channel that a room names, then run "
            "`uacs-bridge check`.",
        ),
    ]


def _over_socket(settings: Mapping[str, str]) -> bool:
    receive = settings.get("receive") or "socket"
    if receive not in ("socket", "http"):
        raise ConfigError(f"--receive is {receive!r}; use socket or http")
    return receive == "socket"


def _events_url(settings: Mapping[str, str], account: str) -> str:
    public_url = settings.get("public_url") or ""
    if not public_url.startswith("https://"):
        raise ConfigError(
            f"--receive http needs the bridge's https:// address: --public-url, not {public_url!r}"
        )
    return f"{public_url.rstrip('/')}/{account}/events"


def _manifest(name: str, url: str | None) -> dict[str, Any]:
    events: dict[str, Any] = {"bot_events": list(EVENTS)}
    interactivity: dict[str, Any] = {"is_enabled": True}
    if url is not None:
        events["request_url"] = url
        interactivity["request_url"] = url
    command: dict[str, Any] = {
        "command": "/bridge",
        "description": "Ask what this channel is bridged to, or change it.",
        "usage_hint": "help",
        "should_escape": True,
    }
    if url is not None:
        command["url"] = url
    return {
        "display_information": {
            "name": name,
            "description": "Joins this workspace's channels with other places and agents.",
        },
        "features": {
            "bot_user": {"display_name": name, "always_online": True},
            "app_home": {
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": False,
            },
            "slash_commands": [command],
        },
        "oauth_config": {"scopes": {"bot": list(SCOPES)}},
        "settings": {
            "event_subscriptions": events,
            "interactivity": interactivity,
            "org_deploy_enabled": False,
            "socket_mode_enabled": url is None,
            "token_rotation_enabled": False,
        },
    }


def _socket_step() -> SetupStep:
    return SetupStep(
        "Create the app-level token",
        "Basic Information > App-Level Tokens > Generate Token and Scopes, with the scope "
        "connections:write. Copy it (xapp-...) into the environment variable SLACK_APP_TOKEN.",
    )


def _http_step() -> SetupStep:
    return SetupStep(
        "Copy the signing secret",
        "Basic Information > App Credentials > Signing Secret. Put it into the environment "
        "variable SLACK_SIGNING_SECRET, start the bridge, and press Verify beside the request "
        "URL under Event Subscriptions.",
    )


def _yaml(account: str, *, socket: bool) -> str:
    lines = [f"{account}:", "  platform: slack", "  bot_token: {env: SLACK_BOT_TOKEN}"]
    if socket:
        lines.append("  app_token: {env: SLACK_APP_TOKEN}")
    else:
        lines += ["  receive: http", "  signing_secret: {env: SLACK_SIGNING_SECRET}"]
    return "\n".join(lines) + "\n"
