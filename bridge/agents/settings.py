"""Settings that all agents over the network have, and all on a model's API. Each API adds its own
defaults."""

from __future__ import annotations

from typing import ClassVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator

from bridge.agents.codec.schemas import check_schema
from bridge.errors import AgentError
from bridge.model.secret_refs import SecretRef


class PriceSettings(BaseModel):
    """What a million tokens cost, in a currency of your choice: the same for all agents."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: float = Field(default=0.0, ge=0, description="a million tokens that it reads")
    output: float = Field(default=0.0, ge=0, description="a million tokens that it writes")
    cached: float | None = Field(
        default=None, ge=0, description="a million tokens that it had read before; null: as `input`"
    )


class TurnSettings(BaseModel):
    """What of a room an agent is given, and how long it is waited for."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    history_tokens: int = Field(
        20_000, ge=500, description="how much of the room it reads, in tokens (an estimate)"
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
    prices: PriceSettings = Field(
        PriceSettings(), description="what its tokens cost; quotas of money need them"
    )

    @property
    def inline_bytes(self) -> int:
        """The limit of `inline_mb` in bytes."""
        return int(self.inline_mb * 1_000_000)


class RemoteSettings(TurnSettings):
    """... and where it is reached, with which key."""

    api_key: SecretRef | None = Field(
        None, description="where the API's key is found; servers of your own may need none"
    )
    base_url: str = Field(description="the API's address")

    @field_validator("base_url")
    @classmethod
    def _an_address(cls, value: str) -> str:
        return address_of(value, query=False).rstrip("/")


def address_of(value: str, *, query: bool) -> str:
    """An http or https address without secrets in it. Raises ValueError."""
    try:
        found = urlsplit(value)
    except ValueError:
        found = urlsplit("")
    if found.scheme not in ("http", "https") or not found.hostname:
        raise ValueError("must be an address such as https://api.example.org/v1")
    if found.username or found.password or found.fragment or (found.query and not query):
        raise ValueError("must hold no user, password, query or fragment; use api_key")
    return value


class ModelSettings(RemoteSettings):
    """Which model answers, and how."""

    reserved: ClassVar[frozenset[str]] = frozenset()
    """Members of the request that the bridge writes itself; null in `extra_body` leaves one out."""
    needed: ClassVar[frozenset[str]] = frozenset(("model", "messages", "input", "contents"))
    """Members that no request can do without."""
    kept: ClassVar[frozenset[str]] = frozenset(
        ("system", "instructions", "systemInstruction", "tools", "store", "max_tokens", "text",
         "max_output_tokens", "response_format", "output_config", "generationConfig", "documents")
    )  # fmt: skip
    """Members that are never left out because a server refuses them: the answer would be another,
    cost more, or be stored."""

    model: str = Field(min_length=1, description="the model's name, as the vendor writes it")
    system: str = Field("", description="the instructions of the agent: who it is, what it does")
    max_tokens: int | None = Field(None, ge=1, description="the most tokens of one answer")
    temperature: float | None = Field(None, ge=0, le=2, description="how freely it chooses words")
    cards: bool = Field(
        default=False,
        description="whether it may show cards with buttons and forms (the tool `show_card`)",
    )
    response_format: dict[str, JsonValue] | None = Field(
        None, description="a JSON Schema that every answer must keep; {}: any JSON object"
    )
    upload_over_mb: float | None = Field(
        None,
        gt=0,
        le=500,
        description="files above this are uploaded to the API's file store once; null: never",
    )
    transcriber: str = Field(
        "", description="the model that writes sounds down for models that cannot hear; empty: none"
    )
    transcriber_url: str = Field(
        "https://api.openai.com/v1", description="the address of its API (/audio/transcriptions)"
    )
    transcriber_key: SecretRef | None = Field(None, description="where its key is found")
    extra_body: dict[str, JsonValue] = Field(
        default={},
        description="more members of the request, as the vendor documents them; null leaves out "
        "one that the bridge writes",
    )

    @field_validator("transcriber_url")
    @classmethod
    def _an_address_too(cls, value: str) -> str:
        return address_of(value, query=False).rstrip("/")

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
            if key in cls.needed and value[key] is None:
                raise ValueError(f"{key!r} cannot be left out of a request")
            if key in cls.reserved and value[key] is not None:
                raise ValueError(
                    f"{key!r} is written by the bridge; it cannot stand here (null leaves it out)"
                )
        return value
