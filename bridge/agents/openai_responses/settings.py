"""Settings of an agent of kind `openai-responses`."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from bridge.agents.settings import ModelSettings


class OpenAIResponsesSettings(ModelSettings):
    """Responses of OpenAI, or of a server that speaks it."""

    reserved: ClassVar[frozenset[str]] = frozenset(
        ("input", "instructions", "stream", "store", "model", "temperature", "conversation",
         "max_output_tokens", "previous_response_id", "background")
    )  # fmt: skip

    base_url: str = Field("https://api.openai.com/v1", description="the API's address")
