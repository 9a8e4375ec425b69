"""The settings of one Teams account."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from urllib.parse import SplitResult, urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

from bridge.errors import ConfigError
from bridge.model.secret_refs import SecretRef

_HOST = re.compile(r"[a-z0-9.-]+|::1")
_ODD = re.compile(r"[\s\\\x00-\x1f]")
_HTTPS = 443
GUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE)
LOOPBACK = ("127.0.0.1", "localhost", "::1")
# Not `*.trafficmanager.net`: every Azure customer can register names there.
SERVICE_HOSTS = (
    "smba.trafficmanager.net",
    "*.botframework.com",
    "*.teams.microsoft.com",
    "*.teams.microsoft.us",
)
# Hosts of people's drives; uploads go to no other host, whatever address an activity has.
DRIVE_HOSTS = ("*.sharepoint.com", "*.sharepoint.us", "*.sharepoint-mil.us")


class TeamsSettings(BaseModel):
    """One bot registration in one tenant (or, without `tenant_id`, in any tenant)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    app_id: str = Field(description="The bot's Microsoft App ID, a GUID.")
    app_password: SecretRef = Field(description="Where the bot's client secret is to be found.")
    tenant_id: str | None = Field(
        default=None,
        description="The tenant of a single-tenant bot, a GUID; activities of other tenants are "
        "refused. Leave it out only for a multi-tenant registration.",
    )
    validate_tokens: bool = Field(
        default=True,
        description="Check that activities are signed by the Bot Framework. Off only for the "
        "sandbox: refused unless every one of `service_hosts` is this machine.",
    )
    login_url: str = Field(
        default="https://login.microsoftonline.com",
        description="Where the bot's own token is fetched.",
    )
    scope: str = Field(
        default="https://api.botframework.com/.default",
        description="What the bot's token is for; other clouds have other values.",
    )
    openid_url: str = Field(
        default="https://login.botframework.com/v1/.well-known/openidconfiguration",
        description="Where the Bot Framework publishes its signing keys.",
    )
    issuer: str = Field(
        default="https://api.botframework.com",
        description="Who signs activities.",
    )
    service_hosts: tuple[str, ...] = Field(
        default=SERVICE_HOSTS,
        description="Hosts that may be given the bot's token (`*.` for any name below; "
        "`host:port` for another port than 443): a forged service address never gets it.",
    )
    drive_hosts: tuple[str, ...] = Field(
        default=DRIVE_HOSTS,
        description="Hosts that files are uploaded to when a person takes one in a personal chat.",
    )
    default_service_url: str | None = Field(
        default=None,
        description="The service address for conversations that the bot has not heard from yet, "
        "such as https://smba.trafficmanager.net/emea/.",
    )

    @field_validator("app_id", "tenant_id")
    @classmethod
    def _guid(cls, value: str | None) -> str | None:
        if value is not None and not GUID.match(value):
            raise ValueError("must be a GUID; copy it from the Azure portal")
        return value

    @field_validator("login_url", "openid_url")
    @classmethod
    def _safe_address(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
            raise ValueError("must be an https address (plain http only on this machine)")
        return url.rstrip("/")

    @property
    def authority(self) -> str:
        """The tenant that issues the bot's tokens."""
        return self.tenant_id or "botframework.com"

    def check_safe(self, account: str) -> None:
        """Raise ConfigError if `validate_tokens` is off and another machine can call the bot."""
        outside = [host for host in self.service_hosts if host not in LOOPBACK]
        if not self.validate_tokens and outside:
            raise ConfigError(
                f"Account {account!r}: validate_tokens is off while service_hosts has {outside!r}; "
                "anybody could post as anybody. Remove the line, or for the sandbox set "
                "service_hosts: [127.0.0.1]"
            )

    def may_be_called(self, service_url: str) -> bool:
        """Return whether the bot's token may go to this address: known host, https or loopback."""
        parts = _allowed_address(service_url, self.service_hosts)
        return parts is not None and not parts.query

    def may_take_files(self, upload_url: str) -> bool:
        """Return whether a file may be uploaded to this address."""
        return _allowed_address(upload_url, self.drive_hosts) is not None


def _allowed_address(url: str, hosts: Sequence[str]) -> SplitResult | None:
    """Return the parts of an address on one of the hosts, https or loopback; else None."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        return None
    if parts.username is not None or parts.fragment:
        return None
    # Programs interpret `\`, `%2f` and white space in different ways, so they are refused.
    if not _HOST.fullmatch(host) or _ODD.search(url):
        return None
    secure = parts.scheme == "https" or (parts.scheme == "http" and host in LOOPBACK)
    # Another port of a known host may belong to another program, on a shared host to anybody.
    at = host if port in (None, _HTTPS) or host in LOOPBACK else f"{host}:{port}"
    allowed = any(fnmatchcase(at, pattern.lower()) for pattern in hosts)
    return parts if secure and allowed else None
