"""Settings of an agent of kind `anthropic`."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from bridge.agents.settings import ModelSettings


class AnthropicSettings(ModelSettings):
    """Messages of Anthropic."""

    reserved: ClassVar[frozenset[str]] = frozenset(
        ("messages", "stream", "system", "model", "max_tokens", "temperature")
    )

    base_url: str = Field("https://api.anthropic.com", description="the API's address")
    max_tokens: int | None = Field(
        8192, ge=1, description="the largest number of tokens of one answer; this API requires one"
    )
