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
        description="stream: as it is said; sync: when it is whole; async: asked for it again",
    )
    sessions: bool = Field(
        True,
        description="whether a session on its server is told only what is new; false: all, always",
    )
    accepts: tuple[Accepted, ...] = Field(
        (),
        description="which parts it is sent, by content type and name; others are told in words, "
        "and where a required one is missing it is not asked; none: all parts",
    )
    returns: Annotated[tuple[Accepted, ...], RenamedFrom("gives")] = Field(
        (),
        description="which parts its answers have; what does not fit is shown all the same, and "
        "noted in the log and in the record of the answer; none: not checked",
    )
    poll_seconds: float = Field(
        1.0, gt=0, le=60, description="seconds between two looks at a run, with mode async"
    )
