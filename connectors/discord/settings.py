"""What a person writes in the configuration for one Discord bot."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from bridge.ports.tokens import SecretRef

API_URL = "https://discord.com/api/v10"
CDN_URL = "https://cdn.discordapp.com"


class DiscordSettings(BaseModel):
    """One bot. Accounts of one process share `api_url` and `gateway_url`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    bot_token: SecretRef = Field(
        description="Where the bot's token is found (developer portal, page Bot, Reset Token)."
    )
    api_url: str = Field(
        default=API_URL,
        description="Base address of the REST API; change it only for the local sandbox.",
    )
    cdn_url: str = Field(
        default=CDN_URL,
        description="Base address of pictures; change it only for the local sandbox.",
    )
    gateway_url: str | None = Field(
        default=None,
        description="Address of the gateway socket; left out, Discord's own is used.",
    )
