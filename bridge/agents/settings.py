"""Settings that all agents over a network share, and those that all model APIs share. Each API adds
its own defaults."""

from __future__ import annotations

from typing import ClassVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator

from bridge.agents.codec.schemas import check_schema
from bridge.errors import AgentError
from bridge.model.secret_refs import SecretRef


class PriceSettings(BaseModel):
    """The price of a million tokens, in one currency for all agents."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: float = Field(default=0.0, ge=0, description="price of a million input tokens")
    output: float = Field(default=0.0, ge=0, description="price of a million output tokens")
    cached: float | None = Field(
        default=None, ge=0, description="price of a million cached input tokens; null: as `input`"
    )


class TurnSettings(BaseModel):
    """How much of a room an agent receives, and how long the bridge waits for it."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    history_tokens: int = Field(
        20_000, ge=500, description="how much of the room the agent reads, in estimated tokens"
    )
    inline_mb: float = Field(
        10.0,
        ge=0,
        le=100,
        description="the files of a turn that the agent receives, in MB; 0: none",
    )
    connect_seconds: float = Field(
        10.0, gt=0, description="seconds until the connection must be open"
    )
    idle_seconds: float = Field(
        60.0, gt=0, description="seconds that the API may send nothing within an answer"
    )
    total_seconds: float = Field(600.0, gt=0, description="seconds that one answer may take")
    retries: int = Field(
        2,
        ge=0,
        le=10,
        description="how often a failed request is repeated, if none of the answer arrived",
    )
    prices: PriceSettings = Field(
        PriceSettings(), description="what its tokens cost; quotas of money need them"
    )

    @property
    def inline_bytes(self) -> int:
        """The limit of `inline_mb` in bytes."""
        return int(self.inline_mb * 1_000_000)


class RemoteSettings(TurnSettings):
    """Settings of an agent behind an address, with a key."""

    api_key: SecretRef | None = Field(
        None, description="the secret with the API's key; servers of your own may need none"
    )
    base_url: str = Field(description="the API's address")

    @field_validator("base_url")
    @classmethod
    def _check_address(cls, value: str) -> str:
        return address_of(value, query=False).rstrip("/")


def address_of(value: str, *, query: bool) -> str:
    """Return an http or https address without credentials. Raises ValueError for anything else."""
    try:
        parts = urlsplit(value)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be an address such as https://api.example.org/v1")
    if parts.username or parts.password or parts.fragment or (parts.query and not query):
        raise ValueError("must contain no user, password, query or fragment; use api_key")
    return value


class ModelSettings(RemoteSettings):
    """Which model answers, and how."""

    reserved: ClassVar[frozenset[str]] = frozenset()
    """Members of the request that the bridge writes; null in `extra_body` omits one."""
    required: ClassVar[frozenset[str]] = frozenset(("model", "messages", "input", "contents"))
    """Members that every request needs."""
    essential: ClassVar[frozenset[str]] = frozenset(
        ("system", "instructions", "systemInstruction", "tools", "store", "max_tokens", "text",
         "max_output_tokens", "response_format", "output_config", "generationConfig", "documents")
    )  # fmt: skip
    """Members that the bridge sends even if a server refuses them: without them the answer would be
    another, cost more, or be stored."""

    model: str = Field(min_length=1, description="the model's name, as the vendor writes it")
    system: str = Field("", description="the agent's instructions: who it is, what it does")
    max_tokens: int | None = Field(
        None, ge=1, description="the largest number of tokens of one answer"
    )
    temperature: float | None = Field(None, ge=0, le=2, description="the randomness of the answers")
    cards: bool = Field(
        default=False,
        description="whether the agent may show cards with buttons and forms (the tool "
        "`show_card`)",
    )
    response_format: dict[str, JsonValue] | None = Field(
        None, description="a JSON Schema that every answer must match; {}: any JSON object"
    )
    upload_over_mb: float | None = Field(
        None,
        gt=0,
        le=500,
        description="files above this size (MB) are uploaded once to the API's file store; null: "
        "never",
    )
    transcriber: str = Field(
        "",
        description="the model that transcribes sounds for models without audio input; empty: none",
    )
    transcriber_url: str = Field(
        "https://api.openai.com/v1", description="the address of its API (/audio/transcriptions)"
    )
    transcriber_key: SecretRef | None = Field(None, description="the secret with its key")
    extra_body: dict[str, JsonValue] = Field(
        default={},
        description="further members of the request, as the vendor documents them; null omits "
        "one that the bridge writes",
    )

    @field_validator("transcriber_url")
    @classmethod
    def _check_transcriber_url(cls, value: str) -> str:
        return address_of(value, query=False).rstrip("/")

    @field_validator("response_format")
    @classmethod
    def _check_schema(cls, value: dict[str, JsonValue] | None) -> dict[str, JsonValue] | None:
        if value is not None:
            try:
                check_schema(value)
            except AgentError as error:
                raise ValueError(str(error)) from None
        return value

    @field_validator("extra_body")
    @classmethod
    def _check_members(cls, value: dict[str, JsonValue]) -> dict[str, JsonValue]:
        for key in value:
            if key in cls.required and value[key] is None:
                raise ValueError(f"{key!r} cannot be omitted from a request")
            if key in cls.reserved and value[key] is not None:
                raise ValueError(
                    f"{key!r} is written by the bridge and cannot be set here (null omits it)"
                )
        return value
