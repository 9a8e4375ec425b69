"""The type of the Slack app that many workspaces install. Cheap to import."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from bridge.ports.installs import InstallableApp, InstallTools
from connectors.slack.app_settings import SlackAppSettings


class SlackInstalls:
    """Builds the app; each of its workspaces is an account of its own."""

    settings: type[BaseModel] = SlackAppSettings
    shares_account = False

    def build(self, settings: Any, tools: InstallTools) -> InstallableApp:
        from connectors.slack.installed_app import SlackApp  # imports the SDK

        return SlackApp(settings, tools)
