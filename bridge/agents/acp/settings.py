"""Settings of an agent of kind `acp`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bridge.agents.settings import RemoteSettings
from bridge.content.messages.negotiation import Accepted
from bridge.runtime.renamed_keys import RenamedFrom


class AcpSettings(RemoteSettings):
    """An agent on a server that speaks ACP."""

    agent_name: str = Field(
        min_length=1, pattern="^[A-Za-z0-9_.-]+$", description="the agent's name on its server"
    )
    mode: Literal["stream", "sync", "async"] = Field(
        "stream",
        description="stream: events as they come; sync: one response at the end; async: polling",
    )
    sessions: bool = Field(
        True,
        description="whether a known session on its server receives only new messages; false: the "
        "whole room each time",
    )
    accepts: tuple[Accepted, ...] = Field(
        (),
        description="the parts that the agent accepts, by content type and name; others are "
        "described "
        "in text, and without a required one the turn fails; none: all parts",
    )
    returns: Annotated[tuple[Accepted, ...], RenamedFrom("gives")] = Field(
        (),
        description="the parts that its answers have; other parts are shown, and "
        "reported in the log and in the record of the answer; none: not checked",
    )
    poll_seconds: float = Field(
        1.0, gt=0, le=60, description="seconds between two polls of a run with mode async"
    )
