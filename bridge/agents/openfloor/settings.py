"""Settings of an agent of kind `openfloor`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from bridge.agents.settings import TurnSettings, address_of
from bridge.model.secret_refs import SecretRef

Version = Literal["1.1.0", "1.0.1", "1.0.0", "0.9.4", "0.9.3", "0.9.2", "0.9.1", "0.9.0"]


class OpenFloorSettings(TurnSettings):
    """An agent behind the address that its manifest names as its service."""

    url: str = Field(description="the address that envelopes are posted to")
    speaker_uri: str = Field(
        "", description="the agent's speakerUri; empty: it is addressed by its url"
    )
    version: Version = Field("1.1.0", description="the version of the envelopes that it reads")
    api_key: SecretRef | None = Field(None, description="the secret with its bearer token")
    secret: SecretRef | None = Field(
        None, description="the secret that signs envelopes (Standard Webhooks)"
    )
    private_addresses: bool = Field(
        False, description="whether the address may be on this machine or in a private network"
    )
    invited_minutes: float | None = Field(
        60.0,
        gt=0,
        description="minutes without a question after which the agent is sent away, and invited "
        "again by the next question; null: it stays until it leaves",
    )
    history_events: int = Field(
        20, ge=0, le=500, description="earlier messages of the room that an invitation has"
    )

    @field_validator("url")
    @classmethod
    def _check_address(cls, value: str) -> str:
        return address_of(value, query=True)
