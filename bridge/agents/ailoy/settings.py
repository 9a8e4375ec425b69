"""Settings of an agent of kind `ailoy`."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from bridge.agents.settings import ModelSettings


class AiloySettings(ModelSettings):
    """A server of your own that accepts and returns Ailoy's messages."""

    reserved: ClassVar[frozenset[str]] = frozenset(("messages", "stream", "tools", "model"))

    model: str = Field("", description="the model's name, if the server has several")
    base_url: str = Field(description="the address that requests go to")
