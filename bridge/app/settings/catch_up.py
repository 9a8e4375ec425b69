"""Settings of `catch_up`: what the bridge reads back after time in which it received nothing."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bridge.app.settings.strict import StrictSettings
from bridge.runtime.renamed_keys import RenamedFrom


class CatchUpSettings(StrictSettings):
    """How the bridge catches up with time in which it received nothing."""

    max_posts: Annotated[int, RenamedFrom("most_posts")] = Field(
        default=5000,
        ge=1,
        description="Posts of one channel that the bridge reads back; it counts older ones and "
        "reports them as missing.",
    )
    reconcile_hours: Annotated[float, RenamedFrom("look_back_hours")] = Field(
        default=24.0,
        ge=0,
        description="The maximum age of messages whose edits and deletions the bridge looks for; "
        "0: it looks for none.",
    )
    reconcile_messages: Annotated[int, RenamedFrom("look_back_messages")] = Field(
        default=2000, ge=1, description="The most messages of one channel that are compared."
    )
    reconcile_requests: Annotated[int, RenamedFrom("look_back_requests")] = Field(
        default=500, ge=1, description="Requests that one comparison of an account may make."
    )
    requests_per_minute: float = Field(
        default=30.0, gt=0, description="How many of these requests an account makes in a minute."
    )
    announce_after: float = Field(
        default=60.0,
        ge=0,
        description="The shortest gap, in seconds, that the bridge announces in its rooms where "
        "nothing can be read back.",
    )
    stalled_after: Annotated[float, RenamedFrom("deaf_after")] = Field(
        default=300.0,
        gt=0,
        description="Seconds without events after which the bridge probes an account's connection.",
    )
    orphan_timeout: Annotated[float, RenamedFrom("orphan_wait")] = Field(
        default=30.0,
        ge=0,
        description="Seconds that an edit or a reaction waits for an unknown message.",
    )
