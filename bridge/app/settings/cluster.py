"""Settings of many processes that share one store."""

from __future__ import annotations

from urllib.parse import urlsplit

from pydantic import Field, field_validator

from bridge.app.settings.strict import StrictSettings
from bridge.model.secret_refs import SecretRef


class ClusterSettings(StrictSettings):
    """Settings of a process that is one of many."""

    nats: str | None = Field(
        default=None,
        description="The NATS server over which the processes call one another: nats://HOST:4222; "
        "null: each looks into the store every half second.",
    )
    nats_token: SecretRef | None = Field(
        default=None,
        description="Where the token for the NATS server is: {env: NAME} or {file: PATH}.",
    )

    @field_validator("nats")
    @classmethod
    def _address(cls, nats: str | None) -> str | None:
        if nats is None:
            return None
        parts = urlsplit(nats)
        if parts.scheme not in ("nats", "tls") or not parts.hostname:
            raise ValueError("this is no address of a NATS server: nats://HOST:4222")
        if parts.username or parts.password:
            raise ValueError(
                "this file never contains secrets; take the token out of the address and say where "
                "it is found: nats_token: {env: NATS_TOKEN}"
            )
        return nats
