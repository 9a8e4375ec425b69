"""Settings of an agent of kind `openai-chat`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from bridge.agents.settings import ModelSettings


class OpenAIChatSettings(ModelSettings):
    """Chat Completions of OpenAI, or of a server that speaks it."""

    reserved: ClassVar[frozenset[str]] = frozenset(
        ("messages", "stream", "stream_options", "model", "temperature", "response_format", "n")
    )

    base_url: str = Field("https://api.openai.com/v1", description="the API's address")
    max_tokens_name: Literal["max_completion_tokens", "max_tokens"] = Field(
        "max_completion_tokens",
        description="what the server calls max_tokens; servers of others want max_tokens",
    )
