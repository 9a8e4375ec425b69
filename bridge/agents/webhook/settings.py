"""Settings of an agent of kind `webhook`."""

from __future__ import annotations

from pydantic import Field, field_validator

from bridge.agents.settings import TurnSettings, address_of
from bridge.model.secret_refs import SecretRef


class WebhookSettings(TurnSettings):
    """A program that receives each turn and answers with UACS."""

    url: str = Field(description="the address that turns are posted to")
    secret: SecretRef | None = Field(None, description="the secret that signs requests and answers")
    private_addresses: bool = Field(
        False, description="whether the address may be on this machine or in a private network"
    )
    feedback: bool = Field(
        False, description="whether the program receives feedback on its answers"
    )
    actors: tuple[str, ...] = Field(
        (), description="who may speak below the agent, under names of their own (globs)"
    )
    max_answer_mb: float = Field(20.0, gt=0, le=64, description="the largest answer, in MB")

    @field_validator("url")
    @classmethod
    def _check_address(cls, value: str) -> str:
        return address_of(value, query=True)
