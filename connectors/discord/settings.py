"""The settings of one Discord bot in the configuration."""

from __future__ import annotations

from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

from bridge.model.secret_refs import SecretRef

API_URL = "https://discord.com/api/v10"
CDN_URL = "https://cdn.discordapp.com"
LOOPBACK = ("127.0.0.1", "localhost", "::1")


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

    @field_validator("api_url", "gateway_url")
    @classmethod
    def _safe_address(cls, url: str | None) -> str | None:
        """Refuse unencrypted addresses: the bridge sends the bot token to both."""
        cls.check_address(url)
        return url

    @staticmethod
    def check_address(url: str | None) -> None:
        """Raise ValueError for an address to which secrets would go unencrypted."""
        parts = urlsplit(API_URL if url is None else url)
        if parts.scheme not in ("https", "wss") and not (
            parts.scheme in ("http", "ws") and parts.hostname in LOOPBACK
        ):
            raise ValueError(
                "would send the token unencrypted; use https:// or wss:// (http:// and ws:// only "
                "on this machine), or remove the line for Discord itself"
            )
