"""Settings of an agent of kind `gemini`."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from bridge.agents.settings import ModelSettings


class GeminiSettings(ModelSettings):
    """Gemini of Google."""

    reserved: ClassVar[frozenset[str]] = frozenset(("contents", "systemInstruction"))

    base_url: str = Field(
        "https://generativelanguage.googleapis.com", description="the API's address"
    )
