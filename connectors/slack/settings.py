"""The configuration of one Slack app in one workspace."""

from __future__ import annotations

from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from bridge.model.secret_refs import SecretRef

API_URL = "https://slack.com/api/"
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def safe_address(url: str) -> str:
    """Return the address; raises ValueError for one to which secrets would go unencrypted."""
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
        raise ValueError(
            f"{url!r} would send the token unencrypted; use https:// (http:// only on this "
            "machine), or remove the line for Slack itself"
        )
    return url


class SlackSettings(BaseModel):
    """One installation of a Slack app; several apps in one workspace are several accounts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    bot_token: SecretRef = Field(
        description="Source of the bot token (xoxb-...), from the app page: OAuth & Permissions."
    )
    receive: Literal["socket", "http"] = Field(
        default="socket",
        description="How events arrive: over a socket that the bridge opens (socket), or as signed "
        "requests of Slack to <public_url>/<account>/events (http).",
    )
    app_token: SecretRef | None = Field(
        default=None,
        description="For receive: socket. Source of the app-level token (xapp-...) with the scope "
        "connections:write, from the app page: Basic Information, App-Level Tokens.",
    )
    signing_secret: SecretRef | None = Field(
        default=None,
        description="For receive: http. Source of the signing secret, from the app page: Basic "
        "Information, App Credentials.",
    )
    api_url: str = Field(
        default=API_URL,
        description="Base address of the Web API; change it only for the local sandbox.",
    )

    @field_validator("api_url")
    @classmethod
    def _safe_address(cls, url: str) -> str:
        url = safe_address(url)
        return url if url.endswith("/") else f"{url}/"

    @model_validator(mode="after")
    def _can_receive(self) -> Self:
        if self.receive == "socket" and self.app_token is None:
            raise ValueError(
                "receive: socket needs app_token; create one under Basic Information > App-Level "
                "Tokens with the scope connections:write and add app_token: {env: SLACK_APP_TOKEN}"
            )
        if self.receive == "http" and self.signing_secret is None:
            raise ValueError(
                "receive: http needs signing_secret; copy it from Basic Information > App "
                "Credentials and add signing_secret: {env: SLACK_SIGNING_SECRET}"
            )
        return self
