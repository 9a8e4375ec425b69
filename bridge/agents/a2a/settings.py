"""Settings of an agent of kind `a2a`."""

from __future__ import annotations

from pydantic import Field

from bridge.agents.settings import RemoteSettings


class A2aSettings(RemoteSettings):
    """An agent that speaks A2A, found by its agent card."""

    hosts: tuple[str, ...] = Field(
        (), description="hosts that the agent card may name besides the host of base_url"
    )
    actors: tuple[str, ...] = Field(
        (), description="who may speak below the agent, under names of their own (globs)"
    )
    streaming: bool = Field(True, description="whether answers are streamed, if the agent can")
    contexts: bool = Field(
        True,
        description="whether a known context on its server receives only new messages; false: the "
        "whole room each time",
    )
    poll_seconds: float = Field(
        1.0, gt=0, le=60, description="seconds between two polls of a working task"
    )
