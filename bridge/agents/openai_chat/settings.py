"""Settings of an agent of kind `openai-chat`."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field, model_validator

from bridge.agents.openai_chat.presets import PRESETS, MaxTokensName, PresetName
from bridge.agents.settings import ModelSettings


class OpenAIChatSettings(ModelSettings):
    """Chat Completions of OpenAI, or of a server that speaks it."""

    reserved: ClassVar[frozenset[str]] = frozenset(
        ("messages", "stream", "stream_options", "model", "temperature", "response_format", "n")
    )

    essential: ClassVar[frozenset[str]] = ModelSettings.essential - {"max_tokens"}  # two names

    preset: PresetName | None = Field(
        None,
        description="a known server: its address, the variable of its key, the members it refuses; "
        "your own settings take precedence",
    )
    base_url: str = Field("https://api.openai.com/v1", description="the API's address")
    max_tokens_name: MaxTokensName = Field(
        "max_completion_tokens",
        description="the server's name for max_tokens; other vendors' servers expect max_tokens",
    )
    alternating: bool = Field(
        default=False,
        description="whether neighbouring messages of one role are joined, for chat templates "
        "whose roles must alternate; the bridge also learns it from a server's refusal",
    )
    thinks_first: bool = Field(
        default=False,
        description="whether answers begin with reasoning that ends with </think> and has no "
        "<think> before it; the bridge also learns it from the first such answer",
    )

    @model_validator(mode="before")
    @classmethod
    def _with_preset(cls, values: Any) -> Any:
        """Fill in a preset's values where the settings have none."""
        name = values.get("preset") if isinstance(values, dict) else None
        if not isinstance(name, str) or name not in PRESETS:
            return values
        preset = PRESETS[name]
        defaults: dict[str, Any] = {
            "base_url": preset.base_url,
            "max_tokens_name": preset.max_tokens_name,
        }
        if preset.key_variable and "base_url" not in values:
            defaults["api_key"] = {"env": preset.key_variable}
        return {**defaults, **values}
