"""Settings of an agent of kind `webhook`."""

from __future__ import annotations

from pydantic import Field, field_validator

from bridge.agents.settings import TurnSettings, address_of
from bridge.model.secret_refs import SecretRef


class WebhookSettings(TurnSettings):
    """A program that is sent each turn, and answers with UACS."""

    url: str = Field(description="the address that turns are posted to")
    secret: SecretRef | None = Field(
        None, description="where the secret is found that signs what is sent and what is answered"
    )
    private_addresses: bool = Field(
        False, description="whether the address may be one of this machine or a private network"
    )
    feedback: bool = Field(
        False, description="whether it is sent what people think of its answers, too"
    )
    max_answer_mb: float = Field(20.0, gt=0, le=64, description="the largest answer, in MB")

    @field_validator("url")
    @classmethod
    def _an_address(cls, value: str) -> str:
        return address_of(value, query=True)
