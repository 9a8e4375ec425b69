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

    kept: ClassVar[frozenset[str]] = ModelSettings.kept - {"max_tokens"}  # it has two names

    preset: PresetName | None = Field(
        None,
        description="a known server: its address, the variable of its key, what it does not take; "
        "other keys given here count more",
    )
    base_url: str = Field("https://api.openai.com/v1", description="the API's address")
    max_tokens_name: MaxTokensName = Field(
        "max_completion_tokens",
        description="what the server calls max_tokens; servers of others want max_tokens",
    )
    alternating: bool = Field(
        default=False,
        description="whether neighbouring messages of one role are joined, for chat templates "
        "whose roles must alternate; it is learned from a server's refusal, too",
    )
    thinks_first: bool = Field(
        default=False,
        description="whether answers begin with thoughts that end with </think> and have no "
        "<think> before them; it is learned from the first such answer, too",
    )

    @model_validator(mode="before")
    @classmethod
    def _with_preset(cls, given: Any) -> Any:
        """What a preset says, where the settings say nothing."""
        name = given.get("preset") if isinstance(given, dict) else None
        if not isinstance(name, str) or name not in PRESETS:
            return given
        preset = PRESETS[name]
        known: dict[str, Any] = {
            "base_url": preset.base_url,
            "max_tokens_name": preset.max_tokens_name,
        }
        if preset.key_variable and "base_url" not in given:
            known["api_key"] = {"env": preset.key_variable}
        return {**known, **given}
