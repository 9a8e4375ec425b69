"""Settings of an agent of kind `parrot`."""

from __future__ import annotations

from pydantic import Field

from bridge.agents.settings import ModelSettings


class ParrotSettings(ModelSettings):
    """A server that speaks the Parrot API."""

    base_url: str = Field(description="the API's address")
