"""Settings of an agent of kind `ailoy`."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from bridge.agents.settings import ModelSettings


class AiloySettings(ModelSettings):
    """A server of one's own that takes and gives messages as Ailoy has them."""

    reserved: ClassVar[frozenset[str]] = frozenset(("messages", "stream", "tools", "model"))

    model: str = Field("", description="the model's name, where the server has several")
    base_url: str = Field(description="the address that the messages are posted to")
