"""The configuration of a Discord app that many guilds install."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, field_validator

from bridge.model.secret_refs import SecretRef
from connectors.discord.settings import API_URL, CDN_URL, DiscordSettings

AUTHORIZE_URL = "https://discord.com/oauth2/authorize"


class DiscordAppSettings(BaseModel):
    """One Discord app. Its redirect is <public_url>/oauth/discord/callback; one bot, one account,
    serves all guilds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    client_id: str = Field(
        pattern=r"^[0-9]{1,20}$", description="Developer portal, page OAuth2: Client ID."
    )
    client_secret: SecretRef = Field(description="Source of the client secret, from the same page.")
    bot_token: SecretRef = Field(
        description="Where the bot's token is found (developer portal, page Bot, Reset Token)."
    )
    api_url: str = Field(
        default=API_URL,
        description="Base address of the REST API; change it only for the local sandbox.",
    )
    authorize_url: str = Field(
        default=AUTHORIZE_URL,
        description="Where people allow the installation; change it only for the local sandbox.",
    )
    cdn_url: str = Field(
        default=CDN_URL,
        description="Base address of pictures; change it only for the local sandbox.",
    )
    gateway_url: str | None = Field(
        default=None,
        description="Address of the gateway socket; left out, Discord's own is used.",
    )

    @field_validator("client_id", mode="before")
    @classmethod
    def _as_text(cls, value: object) -> object:
        return str(value) if isinstance(value, int) else value

    @field_validator("api_url", "gateway_url", "authorize_url")
    @classmethod
    def _safe_address(cls, url: str | None) -> str | None:
        DiscordSettings.check_address(url)
        return url

    def account(self) -> DiscordSettings:
        """Return the settings of the account that serves all guilds."""
        return DiscordSettings(
            bot_token=self.bot_token, api_url=self.api_url, cdn_url=self.cdn_url,
            gateway_url=self.gateway_url,
        )  # fmt: skip
