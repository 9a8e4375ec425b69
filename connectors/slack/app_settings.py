"""The configuration of a Slack app that many workspaces install."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, field_validator

from bridge.model.secret_refs import SecretRef
from connectors.slack.settings import API_URL, safe_address

AUTHORIZE_URL = "https://slack.com/oauth/v2/authorize"


class SlackAppSettings(BaseModel):
    """One distributed Slack app. Its redirect URL is <public_url>/oauth/slack/callback, its request
    URL for events, interactivity and commands <public_url>/oauth/slack/events."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    client_id: str = Field(
        min_length=1, description="From the app page: Basic Information, App Credentials."
    )
    client_secret: SecretRef = Field(
        description="Source of the client secret, from the same place."
    )
    signing_secret: SecretRef = Field(
        description="Source of the signing secret, from the same place."
    )
    rotate_tokens: bool = Field(
        default=False,
        description="Whether workspaces whose token never ends get one of 12 hours that is "
        "renewed; needs token rotation switched on in the app (OAuth & Permissions).",
    )
    api_url: str = Field(
        default=API_URL,
        description="Base address of the Web API; change it only for the local sandbox.",
    )
    authorize_url: str = Field(
        default=AUTHORIZE_URL,
        description="Where people allow the installation; change it only for the local sandbox.",
    )

    @field_validator("api_url")
    @classmethod
    def _api_address(cls, url: str) -> str:
        url = safe_address(url)
        return url if url.endswith("/") else f"{url}/"

    @field_validator("authorize_url")
    @classmethod
    def _page_address(cls, url: str) -> str:
        return safe_address(url)
