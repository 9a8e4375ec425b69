"""Settings that all agents on a model's API have. Each API adds its own defaults."""

from __future__ import annotations

from typing import ClassVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator

from bridge.agents.schemas import check_schema
from bridge.errors import AgentError
from bridge.ports.tokens import SecretRef


class ModelSettings(BaseModel):
    """Which model answers, and how."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    reserved: ClassVar[frozenset[str]] = frozenset()
    """Members of the request that the bridge writes itself."""

    model: str = Field(min_length=1, description="the model's name, as the vendor writes it")
    api_key: SecretRef | None = Field(
        None, description="where the API's key is found; servers of your own may need none"
    )
    base_url: str = Field(description="the API's address")
    system: str = Field("", description="the instructions of the agent: who it is, what it does")
    max_tokens: int | None = Field(None, ge=1, description="the most tokens of one answer")
    temperature: float | None = Field(None, ge=0, le=2, description="how freely it chooses words")
    response_format: dict[str, JsonValue] | None = Field(
        None, description="a JSON Schema that every answer must keep; {}: any JSON object"
    )
    history_tokens: int = Field(
        60_000, ge=500, description="how much of the room it reads, in tokens (an estimate)"
    )
    inline_mb: float = Field(
        10.0, ge=0, le=100, description="the files of a turn that are sent to it, in MB; 0: none"
    )
    connect_seconds: float = Field(10.0, gt=0, description="seconds until a connection stands")
    idle_seconds: float = Field(
        60.0, gt=0, description="seconds that the API may be silent within an answer"
    )
    total_seconds: float = Field(600.0, gt=0, description="seconds that one answer may take")
    retries: int = Field(
        2, ge=0, le=10, description="how often a refused request is sent again, if nothing is said"
    )
    extra_body: dict[str, JsonValue] = Field(
        default={}, description="more members of the request, as the vendor documents them"
    )

    @field_validator("base_url")
    @classmethod
    def _an_address(cls, value: str) -> str:
        try:
            found = urlsplit(value)
        except ValueError:
            found = urlsplit("")
        if found.scheme not in ("http", "https") or not found.hostname:
            raise ValueError("must be an address such as https://api.example.org/v1")
        if found.username or found.password or found.query or found.fragment:
            raise ValueError("must hold no user, password, query or fragment; use api_key")
        return value.rstrip("/")

    @field_validator("response_format")
    @classmethod
    def _a_schema(cls, value: dict[str, JsonValue] | None) -> dict[str, JsonValue] | None:
        if value is not None:
            try:
                check_schema(value)
            except AgentError as error:
                raise ValueError(str(error)) from None
        return value

    @field_validator("extra_body")
    @classmethod
    def _nothing_of_ours(cls, value: dict[str, JsonValue]) -> dict[str, JsonValue]:
        for key in value:
            if key in cls.reserved:
                raise ValueError(f"{key!r} is written by the bridge; it cannot stand here")
        return value
