"""Settings of an agent of kind `a2a`."""

from __future__ import annotations

from pydantic import Field

from bridge.agents.settings import RemoteSettings


class A2aSettings(RemoteSettings):
    """An agent that speaks A2A, found by its card."""

    hosts: tuple[str, ...] = Field(
        (), description="hosts that its card may name besides that of base_url"
    )
    streaming: bool = Field(True, description="whether it is shown while it answers, if it can")
    contexts: bool = Field(
        True,
        description="whether a context on its server is told only what is new; false: all, always",
    )
    poll_seconds: float = Field(
        1.0, gt=0, le=60, description="seconds between two looks at a task that goes on"
    )
